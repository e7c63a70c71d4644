/* A record, against numbers by hand: what was right, IR and FT, the budget, the folder, going on. */
#include "learner.h"

#include <stdlib.h>

static struct retain_err err;

static const int64_t samples[] = {10, 10, 10, 10};
static const struct retain_record_plan plan = {
	.bins = 4, .samples = samples, .macs = 100, .ft_to = 0.25};

static struct retain_record *record_in(const char *place)
{
	struct retain_config *config = retain_config_new();
	struct retain_record *record;

	assert_ok(retain_config_set(config, "run.budget", "2", &err), err);
	assert_ok(retain_config_set(config, "run.batch", "10", &err), err);
	assert_ok(retain_record_open(&record, config, place, &plan, &err), err);
	retain_config_free(config);
	return record;
}

static struct retain_record_metrics metrics_now(struct retain_record *record)
{
	struct retain_record_metrics metrics;

	assert_ok(retain_record_metrics(record, &metrics, &err), err);
	return metrics;
}

/* Three of four right, then one of two: the mean of steps is 5/8. */
static void two_steps(struct retain_record *record)
{
	const int32_t predictions[] = {0, 1, 2, 1}, labels[] = {0, 1, 2, 2};
	const int32_t pairs[] = {1, 0, 0, 1}, others[] = {1, 1};

	assert_ok(retain_record_step(record, predictions, 1, labels, 4, &err), err);
	assert_ok(retain_record_step(record, pairs, 2, others, 2, &err), err);
}

/* After half of the stream: bins 1 and 2 are past, bin 3 is next. */
static void evaluate(struct retain_record *record)
{
	const struct retain_hits hits[] = {
		{8, 10, 7, 10}, {6, 10, 5, 10}, {4, 10, 3, 10}, {2, 10, 1, 10}};

	assert_ok(retain_record_evaluate(record, NULL, 0.5, hits, 4, &err), err);
}

static void counts_by_hand(void **state)
{
	struct retain_record *record = record_in(NULL);
	const struct retain_spent spent = {.iterations = 1, .trained = 10, .updates = 1};
	const struct retain_spent validation = {.validated = 15};
	const struct retain_hits alone[] = {
		{8, 8, -1, -1}, {6, 6, -1, -1}, {4, 4, -1, -1}, {2, 2, -1, -1}};
	const struct retain_hits mixed[4] = {{8, 8, -1, -1}};
	const int32_t bad = -1;
	double left;

	(void)state;
	assert_true(isnan(metrics_now(record).le));
	two_steps(record);
	assert_true(metrics_now(record).le == 0.625);
	/* The second step's labels are not the last of the first, 2: 0 of the last label. */
	assert_true(metrics_now(record).same == 0 && metrics_now(record).kappa == 0.625);
	assert_true(metrics_now(record).chain >= 0 && metrics_now(record).chain <= 1);
	assert_int_equal(metrics_now(record).samples, 6);
	assert_int_equal(metrics_now(record).steps, 2);
	assert_true(isnan(metrics_now(record).ir));
	evaluate(record);
	assert_true(metrics_now(record).ir == 0.7 && metrics_now(record).ir_plain == 0.6);
	assert_true(metrics_now(record).ft == 0.4 && metrics_now(record).ft_plain == 0.3);
	assert_ok(retain_record_evaluate(record, NULL, 0.5, alone, 4, &err), err);
	assert_true(metrics_now(record).ir == 0.7 && isnan(metrics_now(record).ir_plain));
	assert_int_equal(
		retain_record_evaluate(record, NULL, 0.5, mixed, 4, &err), RETAIN_ERR_INPUT);
	assert_non_null(strstr(err.message, "bin 1: a model is evaluated on all bins"));
	/* Two steps of 2; an iteration costs 1, 15 samples forward of 10 cost 1/2. */
	assert_ok(retain_record_left(record, &left, &err), err);
	assert_true(left == 4);
	assert_ok(retain_record_spent(record, &spent, &err), err);
	assert_ok(retain_record_spent(record, &validation, &err), err);
	assert_ok(retain_record_left(record, &left, &err), err);
	assert_true(fabs(left - 2.5) < 1e-12);
	assert_int_equal(retain_record_step(record, &bad, 1, &bad, 1, &err), RETAIN_ERR_INPUT);
	assert_non_null(strstr(err.message, "label -1 of sample 6"));
	assert_int_equal(metrics_now(record).steps, 2);
	retain_record_close(record);
}

/* Numbers that no program means: each is refused, and changes nothing. */
static void absurd_numbers_are_refused(void **state)
{
	static const int32_t classes[][2] = {{INT32_MAX, 0}, {-2, 0}, {1 << 20, 0}, {0, 1 << 20},
		{0, INT32_MAX}, {0, INT32_MIN}};
	static const struct retain_hits hits[][4] = {{{11, 11, -1, -1}}, {{5, 4, -1, -1}},
		{{INT64_MAX, INT64_MAX, -1, -1}},
		{{0, 0, 5, 4}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}}};
	struct retain_record *record = record_in(NULL);
	const struct retain_spent most = {.trained = INT64_C(1) << 60}, more = {.trained = 1},
				  beyond = {.moves = INT64_MAX};
	struct retain_verdict verdict = {.window = 1, .best = RETAIN_MODELS + 1};
	struct retain_guide *guide;

	(void)state;
	for (size_t i = 0; i < COUNT(classes); i++)
		assert_int_equal(
			retain_record_step(record, &classes[i][0], 1, &classes[i][1], 1, &err),
			RETAIN_ERR_INPUT);
	for (size_t i = 0; i < COUNT(hits); i++) {
		struct retain_hits all[4];

		for (int bin = 0; bin < 4; bin++)
			all[bin] = i < 3 ? hits[i][0] : hits[i][bin];
		assert_int_equal(
			retain_record_evaluate(record, NULL, 0.5, all, 4, &err), RETAIN_ERR_INPUT);
		assert_non_null(strstr(err.message, "bin 0"));
	}
	assert_int_equal(retain_record_spent(record, &beyond, &err), RETAIN_ERR_INPUT);
	assert_ok(retain_record_spent(record, &most, &err), err);
	assert_int_equal(retain_record_spent(record, &more, &err), RETAIN_ERR_INPUT);
	assert_ok(retain_guide_new(&guide, NULL, 0, &err), err);
	assert_int_equal(retain_record_verdict(record, guide, &verdict, &err), RETAIN_ERR_INPUT);
	assert_int_equal(metrics_now(record).samples, 0);
	retain_guide_free(guide);
	retain_record_close(record);
}

static void assert_file(const char *name, const char *words)
{
	size_t size;
	char *bytes = bytes_of(name, &size);

	if (!strstr(bytes, words))
		fail_msg("%s: \"%s\" lacks \"%s\"", name, bytes, words);
	free(bytes);
}

/* What was not saved is cut off, so that it can come again; the same by bytes of the caller's. */
static void goes_on_where_it_was_saved(void **state)
{
	struct retain_record *record = record_in(in_folder("r"));
	size_t size = 0, first;
	char *bytes;

	(void)state;
	two_steps(record);
	evaluate(record);
	assert_ok(retain_record_pack(record, NULL, &size, &err), err);
	bytes = malloc(size);
	assert_ok(retain_record_pack(record, bytes, &size, &err), err);
	free(bytes_of("r/metrics.csv", &first));
	two_steps(record);
	evaluate(record);
	retain_record_close(record);
	for (int turn = 0; turn < 2; turn++) {
		size_t now;

		record = record_in(in_folder("r"));
		if (turn)
			assert_ok(retain_record_unpack(record, bytes, size, &err), err);
		assert_int_equal(metrics_now(record).steps, 2);
		free(bytes_of("r/metrics.csv", &now));
		assert_int_equal(now, first);
		two_steps(record);
		evaluate(record);
		if (!turn)
			assert_ok(retain_record_save(record, &err), err);
		retain_record_close(record);
	}
	record = record_in(in_folder("r"));
	assert_int_equal(metrics_now(record).steps, 4);
	assert_ok(retain_record_finish(record, 0, &err), err);
	assert_file("r/matrix.csv", "0.5,0.8,0.6,0.4,0.2\n");
	assert_file("r/run.json", "\"late_ir\": 0.7");
	assert_file("r/classes.json", "\"confusions\"");
	assert_file("r/config.ini", "budget = 2");
	retain_record_close(record);
	free(bytes);
}

/* Windows of a guide become events; a row has its rate. */
static void writes_verdicts(void **state)
{
	struct retain_record *record = record_in(in_folder("r"));
	struct retain_config *config = retain_config_new();
	const struct retain_score scores[] = {{1, 0.5}, {0.5, 0.75}, {0.6, 0.7}};
	struct retain_verdict verdict;
	struct retain_guide *guide;

	(void)state;
	assert_ok(retain_config_set(config, "run.method", "ama+malr", &err), err);
	assert_ok(retain_config_set(config, "schedule.rate", "0.125", &err), err);
	assert_ok(retain_config_set(config, "schedule.window", "1", &err), err);
	assert_ok(retain_config_set(config, "schedule.validate_every", "1", &err), err);
	assert_ok(retain_config_set(config, "schedule.patience", "1", &err), err);
	assert_ok(retain_config_set(config, "schedule.c2", "off", &err), err);
	assert_ok(retain_guide_new(&guide, config, 0, &err), err);
	for (int k = 0; k < 2; k++) {
		assert_ok(retain_guide_done(guide, scores, 3, &verdict, &err), err);
		assert_ok(retain_record_verdict(record, guide, &verdict, &err), err);
	}
	assert_int_equal(verdict.cut, 1);
	assert_ok(retain_record_evaluate(record, guide, 0, NULL, 0, &err), err);
	assert_ok(retain_record_save(record, &err), err);
	assert_file("r/events.jsonl", "{\"event\": \"window\", \"iteration\": 1, \"rounds\": 1, "
				      "\"loss_sgd\": 1, \"acc_sgd\": 0.5, \"loss_ma1\": 0.5");
	assert_file("r/events.jsonl",
		"{\"event\": \"cut\", \"iteration\": 2, \"before\": 0.125, "
		"\"after\": 0.0625, \"c1\": true, \"c2\": false, \"c3\": true");
	assert_file("r/metrics.csv", "\n0,0,0,0.0625,");
	retain_guide_free(guide);
	retain_config_free(config);
	retain_record_close(record);
}

static void other_folders_are_refused(void **state)
{
	struct retain_learner *learner = open_in("l", NULL);
	struct retain_record *record = record_in(in_folder("r")), *second;
	struct step step = step_of(1);

	(void)state;
	observe(learner, &step);
	reveal(learner, &step);
	retain_learner_close(learner);
	assert_int_equal(
		retain_record_open(&second, NULL, in_folder("l"), NULL, &err), RETAIN_ERR_INPUT);
	assert_non_null(strstr(err.message, "holds a run of another kind"));
	assert_int_equal(
		retain_record_open(&second, NULL, in_folder("r"), NULL, &err), RETAIN_ERR_FILE);
	assert_non_null(strstr(err.message, "another process works in this folder"));
	retain_record_close(record);
}

#define tree_test(f) cmocka_unit_test_setup_teardown(f, folder_make, tree_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_by_hand),
		tree_test(goes_on_where_it_was_saved),
		tree_test(writes_verdicts),
		cmocka_unit_test(absurd_numbers_are_refused),
		tree_test(other_folders_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
