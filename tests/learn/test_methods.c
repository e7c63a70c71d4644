/*
 * The methods beside AMA+MALR, each against a small case that is worked out beside
 * it: MIR's choice, GDumb's fresh starts, a population of rates, the reach of
 * replay, tasks.
 */
#include "spy.h"

#include "learn/extras/adapt.h"
#include "learn/extras/choice.h"
#include "cells.h"

static void the_greatest_rises_are_kept(void **state)
{
	struct choice_rise rises[] = {
		{0.5f, 0}, {-1, 1}, {2, 2}, {0.5f, 3}, {NAN, 4}, {0.25f, 5}, {0.5f, 6}};
	static const int wanted[] = {0, 2, 3, 4};

	(void)state;
	choice_rank(rises, 7, 4);
	for (size_t i = 0; i < COUNT(wanted); i++)
		assert_int_equal(rises[i].position, wanted[i]);
}

/* What was fetched in an iteration, batch by batch. */
struct fetches {
	int64_t ids[4][16];
	int n[4], count;
	int works[LEARNER_WORKS], samples[LEARNER_WORKS];
};

static void note_fetch(void *context, const int64_t *ids, int n)
{
	struct fetches *fetches = context;

	if (fetches->count < 4) {
		memcpy(fetches->ids[fetches->count], ids, (size_t)n * sizeof(*ids));
		fetches->n[fetches->count++] = n;
	}
}

static void note_work(void *context, enum learner_work work, int samples)
{
	struct fetches *fetches = context;

	fetches->works[work]++;
	fetches->samples[work] += samples;
}

static double loss_of(struct learner *learner, const float *params, int64_t id)
{
	float input[DIM], logits[CLASSES];
	double sum = 0;
	struct err err;

	sample_input(id, input, DIM);
	assert_ok(runner_infer(learner->runner, params, NULL, input, 1, logits, &err), err);
	for (int c = 0; c < CLASSES; c++)
		sum += exp((double)logits[c]);
	return log(sum) - (double)logits[sample_label(id)];
}

/* Parameters after theta - rate * gradient of the mean loss of these samples. */
static void step_by_hand(
	struct learner *learner, const int64_t *ids, int n, float rate, float *params, float *grad)
{
	float inputs[16][DIM];
	int32_t labels[16];
	const struct runner_batch batch = {inputs[0], CELLS(labels), NULL, n};
	struct err err;

	for (int i = 0; i < n; i++) {
		sample_input(ids[i], inputs[i], DIM);
		labels[i] = sample_label(ids[i]);
	}
	assert_ok(runner_gradient(
			  learner->runner, params, NULL, &batch, grad, NULL, NULL, NULL, &err),
		err);
	for (size_t i = 0; i < net_params(learner->net)->floats; i++)
		params[i] -= rate * grad[i];
}

/*
 * Three fetches an iteration: the current half, all candidates, the batch. Its
 * second half must be the half of the candidates that lose most by a plain step
 * on the first.
 */
static void mir_chooses_what_a_step_would_harm(void **state)
{
	struct fetches fetches = {0};
	struct school school = school_watched(
		SETTINGS("replay.objective=mir", "average.kind=none", "schedule.kind=constant",
			"replay.holdout=0", "run.task_steps=2"),
		(struct learner_watch){note_work, NULL, &fetches, NULL},
		spy_new(note_fetch, &fetches));
	const size_t floats = params_of(&school);
	float *params = calloc(floats, sizeof(float)), *grad = calloc(floats, sizeof(float));

	(void)state;
	/* No past yet: nothing to choose from. */
	school_go(&school, 2, 5);
	assert_int_equal(fetches.works[LEARNER_VIRTUAL], 0);
	for (int k = 0; k < 12; k++) {
		double rises[16], worst = INFINITY, best_left = -INFINITY;

		if (k % 3 == 0)
			school_reveal(&school);
		memcpy(params, learner_params(school.learner, LEARNER_PLAIN),
			floats * sizeof(float));
		memset(&fetches, 0, sizeof(fetches));
		school_train(&school, 1);
		assert_int_equal(fetches.count, 3);
		assert_int_equal(fetches.n[0], 8);
		assert_int_equal(fetches.n[1], 16);
		assert_int_equal(fetches.n[2], 16);
		assert_memory_equal(fetches.ids[0], fetches.ids[2], 8 * sizeof(int64_t));
		for (int i = 0; i < 16; i++)
			rises[i] = -loss_of(school.learner, params, fetches.ids[1][i]);
		step_by_hand(school.learner, fetches.ids[0], 8, 0.1f, params, grad);
		for (int i = 0, next = 8; i < 16; i++) {
			const bool kept = next < 16 && fetches.ids[1][i] == fetches.ids[2][next];

			assert_true(fetches.ids[1][i] < school.learner->steps.task.first);
			rises[i] += loss_of(school.learner, params, fetches.ids[1][i]);
			next += kept;
			if (kept)
				worst = fmin(worst, rises[i]);
			else
				best_left = fmax(best_left, rises[i]);
			assert_true(i < 15 || next == 16);
		}
		if (worst < best_left - 1e-6)
			fail_msg("iteration %d: %g was kept, %g was not", k, worst, best_left);
		assert_int_equal(fetches.works[LEARNER_VIRTUAL], 1);
		assert_int_equal(fetches.samples[LEARNER_VIRTUAL], 8);
		assert_int_equal(fetches.samples[LEARNER_CANDIDATES], 32);
		assert_int_equal(fetches.works[LEARNER_TRAIN], 1);
		assert_int_equal(fetches.works[LEARNER_UPDATE], 1);
	}
	free(params);
	free(grad);
	school_close(&school);
}

/* With a task all that was learned goes; what was seen stays. */
static void gdumb_starts_again(void **state)
{
	const char *const *settings = SETTINGS("replay.pool=balanced", "replay.limit=20",
		"learn.retrain=on", "run.task_steps=3", "average.kind=none",
		"schedule.kind=constant", "replay.holdout=0");
	struct school school = school_of(settings), fresh = school_of(settings);
	const size_t floats = params_of(&school);

	(void)state;
	school_go(&school, 3, 4);
	assert_memory_not_equal(learner_params(school.learner, LEARNER_PLAIN),
		learner_params(fresh.learner, LEARNER_PLAIN), floats * sizeof(float));
	school_reveal(&school);
	assert_same(learner_params(school.learner, LEARNER_PLAIN),
		learner_params(fresh.learner, LEARNER_PLAIN), floats);
	assert_int_equal(school.learner->steps.task.first, 3 * STEP);
	assert_int_equal(pool_count(school.learner->pool), 20);
	school_train(&school, 4);
	/* Within the task it goes on. */
	memcpy(fresh.learner->params, learner_params(school.learner, LEARNER_PLAIN),
		floats * sizeof(float));
	school_reveal(&school);
	assert_same(learner_params(school.learner, LEARNER_PLAIN), fresh.learner->params, floats);
	school_close(&school);
	school_close(&fresh);
}

/* Told tasks replace counted ones, and a cosine begins with each. */
static void tasks_are_told_or_counted(void **state)
{
	struct school school = school_of(SETTINGS("schedule.kind=cyclic", "average.kind=none",
		"replay.holdout=0", "run.task_steps=2"));
	struct learner_report report;

	(void)state;
	/* Four iterations a step are planned, so eight a task: half the rate after four. */
	school_go(&school, 1, 4);
	learner_report(school.learner, &report);
	assert_true(fabs(report.rate - 0.05) < 1e-12);
	school_go(&school, 2, 4);
	assert_int_equal(school.learner->steps.task.first, 2 * STEP);
	learner_task(school.learner, 6);
	school_reveal(&school);
	assert_int_equal(school.learner->steps.task.first, 3 * STEP);
	learner_report(school.learner, &report);
	assert_true(fabs(report.rate - 0.1) < 1e-12);
	school_train(&school, 3);
	learner_report(school.learner, &report);
	assert_true(fabs(report.rate - 0.05) < 1e-12);
	school_reveal(&school);
	school_reveal(&school);
	assert_int_equal(school.learner->steps.task.first, 3 * STEP);
	school_close(&school);
}

#define POLRS                                                                                      \
	"average.kind=none", "schedule.kind=constant", "replay.holdout=0", "learn.part_steps=1",   \
		"learn.population=polrs"

static int64_t hits_of(const struct school *school)
{
	float inputs[STEP][DIM], logits[STEP][CLASSES];
	int64_t hits = 0;
	struct err err;

	for (int i = 0; i < STEP; i++)
		sample_input(school->shown + i, inputs[i], DIM);
	assert_ok(learner_predict(school->learner, LEARNER_PLAIN, inputs[0], STEP, logits[0], &err),
		err);
	for (int i = 0; i < STEP; i++) {
		int best = 0;

		for (int c = 1; c < CLASSES; c++)
			best = logits[i][c] > logits[i][best] ? c : best;
		hits += best == sample_label(school->shown + i);
	}
	return hits;
}

/* Until the first selection the three are learners of their own, at their rates. */
static void a_population_is_three_learners(void **state)
{
	static const char *const rates[] = {
		"schedule.rate=0.1", "schedule.rate=0.2", "schedule.rate=0.05"};
	struct fetches work = {0};
	struct school all = school_watched(
		SETTINGS(POLRS), (struct learner_watch){note_work, NULL, &work, NULL}, NULL);
	struct population *population = learner_population(all.learner);
	const size_t floats = params_of(&all);
	struct school one[LEARNER_POPULATION];
	int64_t hits[LEARNER_POPULATION] = {0};
	int best = 0;

	(void)state;
	for (int i = 0; i < LEARNER_POPULATION; i++)
		one[i] = school_of(SETTINGS(rates[i], "average.kind=none", "schedule.kind=constant",
			"replay.holdout=0"));
	for (int step = 0; step < 4; step++) {
		for (int i = 0; i < LEARNER_POPULATION; i++) {
			hits[i] += hits_of(&one[i]);
			school_go(&one[i], 1, 4);
		}
		school_go(&all, 1, 4);
		for (int i = 0; i < LEARNER_POPULATION; i++) {
			assert_same(population->members[i].params,
				learner_params(one[i].learner, LEARNER_PLAIN), floats);
			assert_int_equal(population->members[i].hits, hits[i]);
			best = hits[i] > hits[best] ? i : best;
		}
		assert_int_equal(population_best(population), best);
		assert_ptr_equal(learner_params(all.learner, LEARNER_INFERENCE),
			population->members[best].params);
	}
	assert_int_equal(work.works[LEARNER_TRAIN], 3 * 16);
	assert_int_equal(work.works[LEARNER_UPDATE], 3 * 16);
	assert_int_equal(work.works[LEARNER_ITERATION], 16);
	assert_int_equal(work.samples[LEARNER_VALIDATE], 3 * 4 * STEP);

	/* The fifth step ends the fifth part: the best goes on in all, at rates around its own. */
	for (int i = 0; i < LEARNER_POPULATION; i++)
		hits[i] += hits_of(&one[i]);
	for (int i = best = 0; i < LEARNER_POPULATION; i++)
		best = hits[i] > hits[best] ? i : best;
	school_reveal(&all);
	for (int i = 0; i < LEARNER_POPULATION; i++) {
		static const double scales[] = {1, 2, 0.5};

		assert_same(population->members[i].params,
			learner_params(one[best].learner, LEARNER_PLAIN), floats);
		assert_true(population->members[i].scale == scales[best] * scales[i]);
		assert_int_equal(population->members[i].hits, 0);
		for (size_t p = 0; p < floats; p++)
			assert_true(optimizer_buffer(
					    population->members[i].optimizer, "momentum")[p] == 0);
	}
	school_close(&all);
	for (int i = 0; i < LEARNER_POPULATION; i++)
		school_close(&one[i]);
}

/* A rate that is far too high spoils one model, not the learner. */
static void a_population_outlives_a_bad_rate(void **state)
{
	struct school school = school_of(SETTINGS(POLRS, "schedule.rate=1e30"));
	struct err err;
	int code = 0;

	(void)state;
	school_reveal(&school);
	for (int i = 0; i < 50 && !code; i++)
		code = learner_train(school.learner, 1, &err);
	/* When all three are spoilt, that is an error. */
	assert_int_equal(code, ERR_STATE);
	assert_says(err, "all 3 models");
	assert_true(learner_diverged(school.learner));
	school_close(&school);
}

static void replay_reaches_by_what_it_knows(void **state)
{
	static const struct {
		int fresh, replayed; /* hits of a thousand */
		int64_t seen, reach;
	} rows[] = {
		{500, 600, 5000, 40000},    /* all there is already */
		{500, 506, 100000, 80000},  /* 0.6 points ahead: twice as far */
		{500, 600, 100000, 100000}, /* but not further than what was seen */
		{500, 504, 100000, 100000},
		{500, 496, 100000, 100000},
		{500, 494, 100000, 50000},
		{500, 100, 100000, 25000},
	};
	struct adapt adapt = {.reach = 40000, .least = 16};

	(void)state;
	assert_int_equal(adapt_history(&adapt, 40000), 0);
	assert_int_equal(adapt_history(&adapt, 40001), 40000);
	for (size_t r = 0; r < COUNT(rows); r++) {
		for (int i = 0; i < 1000; i++) {
			adapt_fresh_hits(&adapt, 1, i < rows[r].fresh);
			adapt_replay_hit(&adapt, i < rows[r].replayed);
		}
		adapt_part(&adapt, rows[r].seen);
		if (adapt.reach != rows[r].reach)
			fail_msg("row %zu: reaches back %d", r, (int)adapt.reach);
		assert_true(isnan(adapt_fresh(&adapt)));
	}
	/* Nothing was counted: nothing moves. And never less than a batch. */
	adapt_part(&adapt, 100000);
	assert_int_equal(adapt.reach, 25000);
	for (int i = 0; i < 20; i++) {
		adapt_fresh_hits(&adapt, 1, 1);
		adapt_replay_hit(&adapt, 0);
		adapt_part(&adapt, 100000);
	}
	assert_int_equal(adapt.reach, 16);
}

/* The key and the table know the same kinds, and a population's own rate is the first one's. */
static void populations_have_names(void **state)
{
	struct options *options = options_of(NULL);
	struct err err;
	int count = 0;

	(void)state;
	for (; population_types[count].name; count++) {
		const struct population_type *type = &population_types[count];

		assert_ok(options_set(options, "learn.population", type->name, "test", &err), err);
		assert_int_equal(options_choice(options, "learn.population"), count);
		assert_ptr_equal(population_type_find(type->name), type);
		assert_true(!type->count || type->scales[0] == 1);
		assert_true(type->count <= LEARNER_POPULATION);
	}
	assert_int_equal(count, 2);
	assert_null(population_type_find("polr"));
	options_free(options);
}

/* Held-out samples score the model that serves, which for schedule-free SGD is x, not y. */
static void schedule_free_is_scored_by_x(void **state)
{
	struct school school = school_of(SETTINGS("optimizer.kind=schedule-free",
		"average.kind=none", "schedule.kind=constant", "schedule.validate_every=6"));
	const struct learner *learner = school.learner;
	float *inputs = calloc(24 * DIM, sizeof(float)), logits[24][CLASSES];
	double loss[2] = {0};
	struct learner_report report;
	int64_t ids[24];
	struct err err;

	(void)state;
	school_go(&school, 3, 6);
	learner_report(learner, &report);
	assert_true(report.scored);
	assert_true(pool_draw(learner->validation, 18, 0, 0, ids, 24));
	for (int i = 0; i < 24; i++)
		sample_input(ids[i], inputs + (size_t)i * DIM, DIM);
	for (int which = 0; which < 2; which++) {
		assert_ok(learner_predict(school.learner, which ? LEARNER_PLAIN : LEARNER_INFERENCE,
				  inputs, 24, logits[0], &err),
			err);
		for (int i = 0; i < 24; i++) {
			double sum = 0;

			for (int c = 0; c < CLASSES; c++)
				sum += exp((double)logits[i][c]);
			loss[which] += (log(sum) - (double)logits[i][sample_label(ids[i])]) / 24;
		}
	}
	assert_true(fabs(report.scores[0].loss - loss[0]) < 1e-5);
	assert_true(fabs(report.scores[0].loss - loss[1]) > 1e-4);
	free(inputs);
	school_close(&school);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_greatest_rises_are_kept),
		cmocka_unit_test(mir_chooses_what_a_step_would_harm),
		cmocka_unit_test(gdumb_starts_again),
		cmocka_unit_test(tasks_are_told_or_counted),
		cmocka_unit_test(a_population_is_three_learners),
		cmocka_unit_test(a_population_outlives_a_bad_rate),
		cmocka_unit_test(replay_reaches_by_what_it_knows),
		cmocka_unit_test(populations_have_names),
		cmocka_unit_test(schedule_free_is_scored_by_x),
	};

	return cmocka_run_group_tests_name("methods", tests, NULL, NULL);
}
