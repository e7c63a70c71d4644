/* A guide, against a trace by hand; it resumes from its bytes at every iteration. */
#include "learner.h"

#include <stdlib.h>

static struct retain_guide *guide_of(const char *const *settings)
{
	struct retain_config *config = retain_config_new();
	struct retain_guide *guide;
	struct retain_err err;

	for (const char *const *s = settings; *s; s += 2)
		assert_ok(retain_config_set(config, s[0], s[1], &err), err);
	assert_ok(retain_guide_new(&guide, config, 0, &err), err);
	retain_config_free(config);
	return guide;
}

/* Windows of 4 and 1 updates at first, so gamma is 0.75 and 0. */
static const char *const *const small = SETTINGS("run.method", "ama+malr", "schedule.rate", "0.2",
	"schedule.window", "4", "schedule.validate_every", "2", "schedule.patience", "8",
	"schedule.epsilon", "0.05", "schedule.factor", "0.5", "average.every", "2", "average.gamma",
	"0.75", "average.delta", "4", "average.window_max", "64");

/* What a window is told, twice, and what it decides. */
static const struct row {
	struct retain_score scores[RETAIN_MODELS];
	int best;
	double windows[RETAIN_AVERAGES]; /* from then on */
	double score, sigma;
	int64_t score_age, sigma_age;
	int c1, c2, c3;
	double rate; /* from then on */
	int serving;
} rows[] = {
	/* A tie goes to MA2, whose window is 1; it cannot get shorter. */
	{{{1.0, 0.5}, {0.9, 0.625}, {0.75, 0.625}}, 2, {4, 1}, -0.75, 0.125, 0, 0, 0, 0, 0, 0.2, 2},
	{{{1.0, 0.5}, {0.875, 0.75}, {0.8, 0.625}}, 1, {16, 4}, -0.875, 0.25, 4, 0, 0, 0, 1, 0.2,
		2},
	{{{1.0, 0.5}, {0.875, 0.625}, {0.8, 0.5}}, 1, {64, 16}, -0.875, 0.125, 8, 4, 1, 0, 1, 0.2,
		2},
	/* All three hold: a cut. Windows are as long as they may be, so MA1 stays MA1. */
	{{{1.0, 0.625}, {0.875, 0.75}, {0.8, 0.5}}, 1, {64, 16}, -0.875, 0.125, 12, 8, 1, 1, 1, 0.1,
		1},
	/* After a cut everything is new. */
	{{{0.5, 0.75}, {0.25, 0.875}, {0.8, 0.5}}, 1, {64, 16}, -0.25, 0.125, 0, 0, 0, 0, 0, 0.1,
		1},
};

/* A second guide goes on from the bytes of the first. */
static struct retain_guide *again(struct retain_guide *guide)
{
	struct retain_guide *other = guide_of(small);
	struct retain_err err;
	size_t size = 0, room;
	char *bytes;

	assert_ok(retain_guide_pack(guide, NULL, &size, &err), err);
	bytes = malloc(size);
	room = size - 1;
	assert_int_equal(retain_guide_pack(guide, bytes, &room, &err), RETAIN_ERR_INPUT);
	assert_ok(retain_guide_pack(guide, bytes, &size, &err), err);
	assert_ok(retain_guide_unpack(other, bytes, size, &err), err);
	bytes[size / 2] ^= 1;
	assert_int_equal(retain_guide_unpack(guide, bytes, size, &err), RETAIN_ERR_FORMAT);
	retain_guide_free(guide);
	free(bytes);
	return other;
}

static void assert_decided(const struct retain_verdict *v, const struct row *row, double before)
{
	assert_int_equal(v->window, 1);
	assert_int_equal(v->rounds, 2);
	assert_int_equal(v->best, row->best);
	assert_true(v->score == row->score && v->sigma == row->sigma);
	assert_int_equal(v->score_age, row->score_age);
	assert_int_equal(v->sigma_age, row->sigma_age);
	assert_true(v->c1 == row->c1 && v->c2 == row->c2 && v->c3 == row->c3);
	assert_true(v->rate_before == before && v->rate_after == row->rate);
	assert_int_equal(v->cut, row->rate != before);
	for (int i = 0; i < RETAIN_AVERAGES; i++)
		assert_true(v->keep_after[i] == 1 - 1 / row->windows[i]);
	for (int i = 0; i < RETAIN_MODELS; i++)
		assert_true(v->scores[i].loss == row->scores[i].loss);
}

static void follows_the_trace(void **state)
{
	struct retain_guide *guide = guide_of(small);
	struct retain_verdict verdict;
	struct retain_due due;
	struct retain_err err;
	double windows[2] = {4, 1}, rate = 0.2;

	(void)state;
	for (int k = 1; k <= 4 * (int)COUNT(rows); k++) {
		const struct row *row = &rows[(k - 1) / 4];

		guide = again(guide);
		assert_ok(retain_guide_due(guide, &due, &err), err);
		assert_int_equal(due.iteration, k);
		assert_true(due.rate == rate);
		assert_int_equal(due.averages, 2);
		assert_int_equal(due.move, k % 2 == 0);
		assert_int_equal(due.validate, k % 2 == 0);
		assert_int_equal(due.window, k % 4 == 0);
		assert_int_equal(due.statistics, k % 10 == 0);
		for (int i = 0; i < 2; i++)
			assert_true(due.keep[i] == (double)(float)(1 - 1 / windows[i]));
		assert_ok(retain_guide_done(guide, due.validate ? row->scores : NULL,
				  due.validate ? RETAIN_MODELS : 0, &verdict, &err),
			err);
		if (k % 4) {
			assert_int_equal(verdict.window, 0);
			continue;
		}
		assert_decided(&verdict, row, rate);
		rate = row->rate;
		windows[0] = row->windows[0];
		windows[1] = row->windows[1];
		assert_ok(retain_guide_due(guide, &due, &err), err);
		assert_int_equal(due.serving, row->serving);
	}
	retain_guide_free(guide);
}

static void bad_scores_change_nothing(void **state)
{
	const struct retain_score nan_loss[] = {{1, 0.5}, {NAN, 0.5}, {1, 0.5}};
	struct retain_guide *guide = guide_of(small);
	struct retain_verdict verdict;
	struct retain_due due;
	struct retain_err err;

	(void)state;
	assert_int_equal(retain_guide_done(guide, nan_loss, 3, &verdict, &err), RETAIN_ERR_INPUT);
	assert_non_null(strstr(err.message, "iteration 1: model 1 has loss nan"));
	assert_int_equal(retain_guide_done(guide, nan_loss, 2, &verdict, &err), RETAIN_ERR_INPUT);
	assert_int_equal(retain_guide_done(guide, NULL, 3, &verdict, &err), RETAIN_ERR_INPUT);
	assert_ok(retain_guide_due(guide, &due, &err), err);
	assert_int_equal(due.iteration, 1);
	retain_guide_free(guide);
}

/* A state fits a guide of the same kinds only. */
static void other_settings_are_refused(void **state)
{
	struct retain_guide *guide = guide_of(small);
	struct retain_guide *other =
		guide_of(SETTINGS("average.kind", "none", "schedule.kind", "constant"));
	struct retain_config *config = retain_config_new();
	struct retain_err err;
	char bytes[4096];
	size_t size = sizeof(bytes);

	(void)state;
	assert_ok(retain_guide_pack(guide, bytes, &size, &err), err);
	assert_int_equal(retain_guide_unpack(other, bytes, size, &err), RETAIN_ERR_FORMAT);
	retain_guide_free(other);
	assert_ok(retain_config_set(config, "average.kind", "none", &err), err);
	assert_ok(retain_config_set(config, "schedule.kind", "malr", &err), err);
	assert_int_equal(retain_guide_new(&other, config, 0, &err), RETAIN_ERR_INPUT);
	assert_non_null(strstr(err.message, "schedule.kind = malr"));
	assert_null(other);
	retain_config_free(config);
	retain_guide_free(guide);
}

/* A cosine over a known length, and one per task. */
static void rates_follow_a_length(void **state)
{
	struct retain_guide *guide =
		guide_of(SETTINGS("run.method", "sgd+cyclic", "schedule.rate", "1"));
	struct retain_verdict verdict;
	struct retain_due due;
	struct retain_err err;

	(void)state;
	for (int task = 0; task < 2; task++) {
		assert_ok(retain_guide_task(guide, 2, &err), err);
		assert_ok(retain_guide_due(guide, &due, &err), err);
		assert_true(due.rate == 1);
		assert_int_equal(due.averages, 0);
		assert_ok(retain_guide_done(guide, NULL, 0, &verdict, &err), err);
		assert_ok(retain_guide_due(guide, &due, &err), err);
		assert_true(fabs(due.rate - 0.5) < 1e-12);
		assert_ok(retain_guide_done(guide, NULL, 0, &verdict, &err), err);
	}
	assert_int_equal(retain_guide_task(guide, 0, &err), RETAIN_ERR_INPUT);
	retain_guide_free(guide);
}

/* average.serve = best: by accuracy, as averages are compared; by loss where that is the same. */
static void what_validates_best_serves(void **state)
{
	static const struct {
		struct retain_score scores[RETAIN_MODELS];
		int serving;
	} cases[] = {
		/* An average that knows nothing yet has the lower loss. */
		{{{3.0, 0.5}, {2.1, 0.125}, {2.1, 0.125}}, 0},
		{{{0.5, 0.5}, {0.9, 0.625}, {0.9, 0.5}}, 1},
		{{{0.5, 0.5}, {0.4, 0.5}, {0.4, 0.5}}, 2},
		{{{0.5, 0.5}, {0.6, 0.5}, {0.6, 0.5}}, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct retain_guide *guide = guide_of(SETTINGS("run.method", "ama+malr",
			"average.serve", "best", "schedule.validate_every", "1", "schedule.window",
			"4", "schedule.patience", "4"));
		struct retain_verdict verdict;
		struct retain_err err;
		struct retain_due due;

		assert_ok(retain_guide_due(guide, &due, &err), err);
		assert_int_equal(due.serving, 0);
		assert_ok(retain_guide_done(guide, cases[i].scores, RETAIN_MODELS, &verdict, &err),
			err);
		assert_ok(retain_guide_due(guide, &due, &err), err);
		assert_int_equal(due.serving, cases[i].serving);
		retain_guide_free(guide);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_validates_best_serves),
		cmocka_unit_test(follows_the_trace),
		cmocka_unit_test(bad_scores_change_nothing),
		cmocka_unit_test(other_settings_are_refused),
		cmocka_unit_test(rates_follow_a_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
