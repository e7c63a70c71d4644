/*
 * What a learner may know and when: predictions before labels, training and
 * validation samples apart, labels that cannot be, the same bits whoever computes.
 */
#include "spy.h"
#include "../base/folder.h"

#include "nn/weights/weights_file.h"
#include "cells.h"

static void predict(
	const struct school *school, int model, int64_t first, float logits[STEP][CLASSES])
{
	float inputs[STEP][DIM];
	struct err err;

	for (int i = 0; i < STEP; i++)
		sample_input(first + i, inputs[i], DIM);
	assert_ok(learner_predict(school->learner, model, inputs[0], STEP, logits[0], &err), err);
}

/* Two learners that meet the same inputs; from one step on the labels of one are others. */
static void labels_come_after_predictions(void **state)
{
	enum { STEPS = 30, LIE = 17 };
	struct school schools[2] = {school_of(NULL), school_of(NULL)};
	int changed = 0;

	(void)state;
	for (int step = 0; step < STEPS; step++) {
		float inputs[STEP][DIM], logits[2][STEP][CLASSES];

		for (int i = 0; i < STEP; i++)
			sample_input(step * STEP + i, inputs[i], DIM);
		for (int s = 0; s < 2; s++) {
			int32_t labels[STEP];
			struct err err;

			assert_ok(learner_predict(schools[s].learner, LEARNER_INFERENCE, inputs[0],
					  STEP, logits[s][0], &err),
				err);
			for (int i = 0; i < STEP; i++)
				labels[i] = (sample_label(step * STEP + i) + (s && step >= LIE)) %
					    CLASSES;
			assert_ok(learner_reveal(
					  schools[s].learner, inputs[0], CELLS(labels), STEP, &err),
				err);
			school_train(&schools[s], 4);
		}
		if (step <= LIE)
			assert_memory_equal(logits[0], logits[1], sizeof(logits[0]));
		else
			changed += memcmp(logits[0], logits[1], sizeof(logits[0])) != 0;
	}
	assert_int_equal(changed, STEPS - 1 - LIE);
	school_close(&schools[0]);
	school_close(&schools[1]);
}

/* Predicting, with any model and as often as one likes, changes nothing. */
static void predicting_leaves_no_trace(void **state)
{
	struct school quiet = school_of(NULL), asked = school_of(NULL);
	float logits[STEP][CLASSES];

	(void)state;
	for (int step = 0; step < 20; step++) {
		school_go(&quiet, 1, 3);
		school_reveal(&asked);
		for (int i = 0; i < 3; i++) {
			for (int model = LEARNER_INFERENCE; model <= 2; model++)
				predict(&asked, model, 7 * step, logits);
			school_train(&asked, 1);
		}
	}
	assert_twins(&quiet, &asked);
	school_close(&quiet);
	school_close(&asked);
}

static void threads_and_repeats_do_not_show(void **state)
{
	static const char *const archs[] = {"model.arch=mlp:80,40", "model.arch=linear"};
	static const char *const threads[] = {
		"engine.threads=1", "engine.threads=1", "engine.threads=2", "engine.threads=3"};

	(void)state;
	for (size_t a = 0; a < COUNT(archs); a++) {
		struct school schools[COUNT(threads)];

		for (size_t i = 0; i < COUNT(threads); i++) {
			schools[i] = school_of(SETTINGS(archs[a], threads[i]));
			school_go(&schools[i], 12, 5);
			assert_twins(&schools[0], &schools[i]);
		}
		assert_int_equal(learner_threads(schools[3].learner), 3);
		for (size_t i = 0; i < COUNT(threads); i++)
			school_close(&schools[i]);
	}
	struct school images[COUNT(threads)];

	for (size_t i = 0; i < COUNT(threads); i++) {
		images[i] = school_images(SETTINGS("model.arch=resnet20-cifar", threads[i],
						  "model.norm=bn", "average.statistics_every=2"),
			(struct learner_watch){0});
		school_go(&images[i], 2, 3);
		assert_twins(&images[0], &images[i]);
	}
	for (size_t i = 0; i < COUNT(threads); i++)
		school_close(&images[i]);
}

static void seeds_differ(void **state)
{
	struct school one = school_of(SETTINGS("run.seed=1"));
	struct school two = school_of(SETTINGS("run.seed=2"));

	(void)state;
	assert_memory_not_equal(learner_params(one.learner, LEARNER_PLAIN),
		learner_params(two.learner, LEARNER_PLAIN), params_of(&one) * sizeof(float));
	school_close(&one);
	school_close(&two);
}

/* How often each sample was trained on and validated with; batches tell by their size. */
struct uses {
	int batch, half, trained[2048], validated[2048];
};

static void count_uses(void *context, const int64_t *ids, int n)
{
	struct uses *uses = context;

	for (int i = 0; i < n; i++)
		(n == uses->batch || n == uses->half ? uses->trained : uses->validated)[ids[i]]++;
}

static void training_and_validation_stay_apart(void **state)
{
	(void)state;
	for (size_t p = 0; pool_types[p]; p++)
		for (size_t o = 0; objective_types[o]; o++) {
			static struct uses uses;
			char pool[64], objective[64];
			struct school school = {0};
			struct err err;
			int trained = 0, validated = 0;

			uses = (struct uses){.batch = 16};
			snprintf(pool, sizeof(pool), "replay.pool=%s",
				pool_type_name(pool_types[p]));
			snprintf(objective, sizeof(objective), "replay.objective=%s",
				objective_type_name(objective_types[o]));
			school.store = spy_new(count_uses, &uses);
			if (school_try(&school,
				    options_of(SETTINGS(pool, objective, "replay.limit=200")),
				    (struct learner_watch){0}, 1, &err)) {
				/* Only combinations that cannot be are left out. */
				assert_says(err, "replay.");
				assert_string_equal(
					objective_type_name(objective_types[o]), "epochs");
				school_close(&school);
				continue;
			}
			/* MIR looks at half batches, too: those that it trains on. */
			uses.half = school.learner->extras[EXTRA_CHOICE] ? 8 : 16;
			school_go(&school, 100, 4);
			for (int64_t id = 0; id < school.shown; id++) {
				if (uses.trained[id] && uses.validated[id])
					fail_msg("%s, %s: sample %d was both trained on and held "
						 "out",
						pool, objective, (int)id);
				trained += uses.trained[id] > 0;
				validated += uses.validated[id] > 0;
			}
			assert_true(trained > 150);
			assert_true(validated > school.shown / 10 && validated < school.shown / 3);
			school_close(&school);
		}
}

static void wrong_labels_are_refused_whole(void **state)
{
	static const int32_t wrong[] = {-1, CLASSES, INT32_MAX, INT32_MIN};
	struct school school = school_of(NULL), other = school_of(NULL);
	float inputs[STEP][DIM] = {{0}};
	struct err err;

	(void)state;
	school_go(&school, 3, 4);
	school_go(&other, 3, 4);
	for (size_t i = 0; i < COUNT(wrong); i++) {
		int32_t labels[STEP] = {0};
		char words[64];

		labels[STEP - 1] = wrong[i];
		snprintf(words, sizeof(words), "label %d of sample %d", wrong[i], 4 * STEP - 1);
		assert_int_equal(
			learner_reveal(school.learner, inputs[0], CELLS(labels), STEP, &err),
			ERR_INPUT);
		assert_says(err, words);
		assert_says(err, "5 classes");
	}
	assert_int_equal(store_count(school.store), 3 * STEP);
	school_go(&school, 5, 4);
	school_go(&other, 5, 4);
	assert_twins(&school, &other);
	school_close(&school);
	school_close(&other);
}

static void nothing_to_train_on_is_no_error(void **state)
{
	struct school school = school_of(NULL);
	struct learner_report report;
	float logits[STEP][CLASSES];
	struct err err;

	(void)state;
	school_train(&school, 100);
	learner_report(school.learner, &report);
	assert_int_equal(report.iteration, 0);
	assert_int_equal(report.samples, 0);
	assert_false(report.scored);
	assert_int_equal(
		learner_predict(school.learner, 3, logits[0], STEP, logits[0], &err), ERR_INPUT);
	assert_says(err, "model 3");
	assert_int_equal(
		learner_predict(school.learner, -5, logits[0], STEP, logits[0], &err), ERR_INPUT);
	school_close(&school);
}

static void impossible_options_are_refused(void **state)
{
	static const struct {
		const char *settings[3];
		const char *words;
	} rows[] = {
		{{"replay.holdout=0", NULL}, "replay.holdout = 0"},
		{{"replay.holdout=0", "average.kind=none", NULL}, "replay.holdout = 0"},
		{{"average.kind=none", NULL}, "schedule.kind = malr"},
		{{"optimizer.kind=schedule-free", "schedule.kind=constant", NULL},
			"optimizer.kind = schedule-free"},
		{{"schedule.window=7", NULL}, "schedule.window = 7"},
		{{"schedule.patience=5", NULL}, "schedule.patience = 5"},
		{{"model.arch=resnet19", NULL}, "model.arch = resnet19"},
		{{"model.arch=mlp:1000000000", NULL}, "mlp:1000000000"},
		{{"average.window_max=2", NULL}, "average.window_max = 2"},
		{{"model.weights=/nowhere/w.safetensors", NULL}, "/nowhere/w.safetensors"},
		{{"replay.objective=epochs", "replay.pool=fifo", NULL},
			"replay.objective = epochs"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct school school = {0};
		struct err err = {0};
		int code = school_try(
			&school, options_of(rows[i].settings), (struct learner_watch){0}, 1, &err);

		if (!code)
			fail_msg("nobody minds what should be refused with \"%s\"", rows[i].words);
		assert_null(school.learner);
		assert_says(err, rows[i].words);
		school_close(&school);
	}
}

/* At a rate far too large the loss is soon no number, and the message says where. */
static void a_loss_that_is_no_number_is_an_error(void **state)
{
	struct school school = school_of(SETTINGS("schedule.rate=1e30"));
	struct learner_report report;
	char words[64];
	struct err err = {0};
	int code = 0;

	(void)state;
	school_reveal(&school);
	for (int i = 0; i < 50 && !code; i++)
		code = learner_train(school.learner, 1, &err);
	assert_int_equal(code, ERR_STATE);
	learner_report(school.learner, &report);
	snprintf(words, sizeof(words), "iteration %d:", (int)report.iteration + 1);
	assert_says(err, words);
	assert_says(err, "1e+30");
	assert_says(err, "loss");
	school_close(&school);
}

/* Schedule-free SGD trains at one point and predicts with another, its average x. */
static void schedule_free_predicts_with_x(void **state)
{
	struct school school = school_of(SETTINGS("optimizer.kind=schedule-free",
		"average.kind=none", "schedule.kind=constant", "replay.holdout=0"));
	float with_x[STEP][CLASSES], with_y[STEP][CLASSES], asked[STEP][CLASSES];
	const float *x;
	float inputs[STEP][DIM];
	struct err err;

	(void)state;
	predict(&school, LEARNER_INFERENCE, 0, asked);
	predict(&school, LEARNER_PLAIN, 0, with_y);
	assert_memory_equal(asked, with_y, sizeof(asked));
	school_go(&school, 10, 5);
	x = optimizer_buffer(school.learner->optimizer, "x");
	assert_non_null(x);
	assert_ptr_equal(learner_params(school.learner, LEARNER_INFERENCE), x);
	for (int i = 0; i < STEP; i++)
		sample_input(i, inputs[i], DIM);
	assert_ok(runner_infer(school.learner->runner, x, NULL, inputs[0], STEP, with_x[0], &err),
		err);
	predict(&school, LEARNER_INFERENCE, 0, asked);
	predict(&school, LEARNER_PLAIN, 0, with_y);
	assert_memory_equal(asked, with_x, sizeof(asked));
	assert_memory_not_equal(asked, with_y, sizeof(asked));
	school_close(&school);
}

static void loaded_weights_restart_averages(void **state)
{
	struct school giver = school_of(NULL), taker = school_of(NULL);
	const size_t floats = params_of(&giver);
	const float *given = learner_params(giver.learner, LEARNER_PLAIN);
	struct learner_report report;
	uint64_t version;
	struct err err;

	(void)state;
	school_go(&giver, 20, 4);
	school_go(&taker, 10, 4);
	const struct weights saved = {giver.learner->net, given, .iteration = 80};
	assert_ok(weights_save(in_folder("w"), &saved, &err), err);
	learner_report(taker.learner, &report);
	assert_true(report.gamma[0] != 0.99);
	version = learner_version(taker.learner);
	assert_ok(learner_load(taker.learner, in_folder("w"), &err), err);
	assert_true(learner_version(taker.learner) != version);
	for (int model = LEARNER_INFERENCE; model <= 2; model++)
		assert_same(learner_params(taker.learner, model), given, floats);
	learner_report(taker.learner, &report);
	assert_true(fabs(report.gamma[0] - 0.99) < 1e-12);
	for (size_t i = 0; i < floats; i++)
		assert_true(optimizer_buffer(taker.learner->optimizer, "momentum")[i] == 0);
	assert_int_equal(taker.learner->window.scores.rounds, 0);
	school_go(&taker, 3, 4);

	/* A file that is not there, or not this net's, changes nothing. */
	struct school before = school_of(NULL), small = school_of(SETTINGS("model.arch=linear"));

	assert_int_equal(learner_load(before.learner, in_folder("none"), &err), ERR_FILE);
	assert_true(learner_load(small.learner, in_folder("w"), &err) < 0);
	assert_says(err, "/w");
	school_close(&taker);
	taker = school_of(NULL);
	assert_twins(&before, &taker);
	school_close(&giver);
	school_close(&taker);
	school_close(&before);
	school_close(&small);
}

static void a_learner_starts_from_a_file(void **state)
{
	struct school giver = school_of(SETTINGS("run.seed=9")), taker;
	char setting[500];
	struct err err;

	(void)state;
	const struct weights saved = {
		giver.learner->net, learner_params(giver.learner, LEARNER_PLAIN)};
	assert_ok(weights_save(in_folder("w"), &saved, &err), err);
	snprintf(setting, sizeof(setting), "model.weights=%s", in_folder("w"));
	taker = school_of(SETTINGS(setting));
	for (int model = LEARNER_INFERENCE; model <= 2; model++)
		assert_same(learner_params(taker.learner, model),
			learner_params(giver.learner, LEARNER_PLAIN), params_of(&taker));
	school_close(&giver);
	school_close(&taker);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_come_after_predictions),
		cmocka_unit_test(predicting_leaves_no_trace),
		cmocka_unit_test(threads_and_repeats_do_not_show),
		cmocka_unit_test(seeds_differ),
		cmocka_unit_test(training_and_validation_stay_apart),
		cmocka_unit_test(wrong_labels_are_refused_whole),
		cmocka_unit_test(nothing_to_train_on_is_no_error),
		cmocka_unit_test(impossible_options_are_refused),
		cmocka_unit_test(a_loss_that_is_no_number_is_an_error),
		cmocka_unit_test(schedule_free_predicts_with_x),
		folder_test(loaded_weights_restart_averages),
		folder_test(a_learner_starts_from_a_file),
	};

	return cmocka_run_group_tests_name("protocol", tests, NULL, NULL);
}
