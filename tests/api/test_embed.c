/*
 * The public contract, through nothing but retain.h: observe, reveal, train, in
 * any order that makes sense and in none that does not; and from several threads.
 */
#include "learner.h"

static void it_learns(void **state)
{
	struct retain_learner *learner = learner_of(NULL);
	struct retain_metrics m;

	(void)state;
	go(learner, 60);
	m = metrics_of(learner);
	assert_int_equal(m.steps, 60);
	assert_int_equal(m.samples, 60 * N);
	assert_int_equal(m.iterations, 60 * 5);
	assert_true(m.learning_efficacy > 0.7 && m.learning_efficacy > m.blind + 0.2);
	assert_true(m.retention > 0.8 && m.retention <= 1 && m.retention_plain > 0.5);
	assert_true(fabs(m.gap - (m.retention - m.retention_plain)) < 1e-12);
	assert_true(m.learning_rate > 0 && m.loss > 0);
	retain_learner_free(learner);
}

static void nothing_is_known_at_first(void **state)
{
	struct retain_learner *learner = learner_of(NULL);
	struct retain_metrics m = metrics_of(learner);
	struct step step = step_of(1);

	(void)state;
	assert_true(m.steps == 0 && m.samples == 0 && m.iterations == 0);
	assert_true(isnan(m.learning_efficacy) && isnan(m.blind) && isnan(m.retention));
	assert_true(isnan(m.retention_plain) && isnan(m.gap) && isnan(m.loss));
	assert_true(m.learning_rate > 0);
	for (int i = 0; i < 16; i++)
		assert_true(m.reserved[i] == 0);
	/* Nothing to learn from is no mistake; neither is what was observed only. */
	train(learner, 10);
	observe(learner, &step);
	train(learner, 10);
	m = metrics_of(learner);
	assert_true(m.steps == 0 && m.samples == 0 && m.iterations == 0);
	assert_true(isnan(m.learning_efficacy));
	retain_learner_free(learner);
}

static void predictions_are_probabilities(void **state)
{
	struct retain_learner *learner = learner_of(NULL);
	struct step step = step_of(100);
	struct retain_prediction again[N];
	float probabilities[N][CLASSES];
	struct retain_err err;

	(void)state;
	go(learner, 10);
	observe(learner, &step);
	assert_ok(retain_predict(learner, step.inputs[0], N, again, probabilities[0], &err), err);
	for (int i = 0; i < N; i++) {
		double sum = 0;

		for (int c = 0; c < CLASSES; c++) {
			sum += (double)probabilities[i][c];
			assert_true(probabilities[i][c] <= again[i].probability);
		}
		assert_true(fabs(sum - 1) < 1e-5);
		assert_true(probabilities[i][again[i].label] == again[i].probability);
		assert_int_equal(again[i].label, step.predictions[i].label);
		assert_true(again[i].probability == step.predictions[i].probability);
	}
	assert_ok(retain_predict(learner, step.inputs[0], 1, again, NULL, &err), err);
	retain_learner_free(learner);
}

/* Labels come in any order, some never; what was predicted is scored as it was then. */
static void labels_come_in_any_order(void **state)
{
	struct retain_learner *learner = learner_of(NULL);
	struct step steps[6];
	struct retain_err err;

	(void)state;
	go(learner, 5);
	for (unsigned i = 0; i < 6; i++) {
		steps[i] = step_of(50 + i);
		observe(learner, &steps[i]);
	}
	train(learner, 20);
	reveal(learner, &steps[3]);
	reveal(learner, &steps[0]);
	assert_ok(retain_drop(learner, steps[4].ticket, &err), err);
	train(learner, 20);
	reveal(learner, &steps[5]);
	assert_int_equal(metrics_of(learner).steps, 8);
	assert_int_equal(metrics_of(learner).samples, 8 * N);

	/* A ticket is good for one reveal or drop. */
	assert_int_equal(
		retain_reveal(learner, steps[3].ticket, steps[3].labels, &err), RETAIN_ERR_INPUT);
	assert_says(err, "was revealed or dropped before");
	assert_int_equal(
		retain_reveal(learner, steps[4].ticket, steps[4].labels, &err), RETAIN_ERR_INPUT);
	assert_int_equal(retain_drop(learner, steps[4].ticket, &err), RETAIN_ERR_INPUT);
	assert_int_equal(retain_drop(learner, steps[5].ticket, &err), RETAIN_ERR_INPUT);
	assert_int_equal(retain_drop(learner, (struct retain_ticket){0}, &err), RETAIN_ERR_INPUT);
	assert_says(err, "was never given out");
	assert_int_equal(retain_reveal(learner, (struct retain_ticket){999}, steps[0].labels, &err),
		RETAIN_ERR_INPUT);
	assert_says(err, "ticket 999");
	assert_int_equal(metrics_of(learner).steps, 8);

	reveal(learner, &steps[1]);
	/* One is never revealed: freeing takes care of it. */
	retain_learner_free(learner);
}

static void efficacy_is_of_the_predictions_made(void **state)
{
	struct retain_learner *learner = learner_of(NULL);
	double sum = 0;
	struct step steps[10];

	(void)state;
	for (unsigned i = 0; i < 10; i++) {
		steps[i] = step_of(i);
		observe(learner, &steps[i]);
		if (i) {
			/* A label comes one step late. */
			reveal(learner, &steps[i - 1]);
			train(learner, RETAIN_BUDGET);
		}
	}
	for (int i = 0; i < 9; i++)
		for (int j = 0; j < N; j++)
			sum += (steps[i].predictions[j].label == steps[i].labels[j]) / (9.0 * N);
	assert_true(fabs(metrics_of(learner).learning_efficacy - sum) < 1e-12);
	retain_learner_free(learner);
}

static void wrong_labels_are_refused(void **state)
{
	struct retain_learner *learner = learner_of(NULL);
	struct step step = step_of(1);
	int32_t wrong[N];
	struct retain_err err = {0};

	(void)state;
	observe(learner, &step);
	memcpy(wrong, step.labels, sizeof(wrong));
	wrong[N - 1] = CLASSES;
	assert_int_equal(retain_reveal(learner, step.ticket, wrong, &err), RETAIN_ERR_INPUT);
	assert_int_equal(err.code, RETAIN_ERR_INPUT);
	assert_says(err, "label 4");
	wrong[N - 1] = -1;
	assert_int_equal(retain_reveal(learner, step.ticket, wrong, NULL), RETAIN_ERR_INPUT);
	assert_int_equal(metrics_of(learner).samples, 0);
	/* The ticket is still good. */
	reveal(learner, &step);
	assert_int_equal(metrics_of(learner).samples, N);
	retain_learner_free(learner);
}

static void wrong_numbers_are_refused(void **state)
{
	struct retain_learner *learner = learner_of(NULL);
	struct step step = step_of(1);
	struct retain_err err;

	(void)state;
	assert_int_equal(retain_predict(learner, step.inputs[0], 0, step.predictions, NULL, &err),
		RETAIN_ERR_INPUT);
	assert_int_equal(
		retain_observe(learner, step.inputs[0], -1, step.predictions, &step.ticket, &err),
		RETAIN_ERR_INPUT);
	assert_int_equal(retain_train(learner, -2, &err), RETAIN_ERR_INPUT);
	assert_says(err, "-2 iterations");
	train(learner, 0);
	retain_learner_free(learner);
	retain_learner_free(NULL);
	retain_config_free(NULL);
}

static void what_is_learned_must_be_said(void **state)
{
	static const struct {
		const char *settings[5], *words;
	} rows[] = {
		{{"model.classes", "0"}, "model.classes = 0"},
		{{"model.classes", "-1"}, "model.classes"},
		{{"model.input", ""}, "model.input"},
		{{"model.input", "3,32"}, "model.input = 3,32"},
		{{"model.input", "6 7"}, "model.input = 6 7"},
		{{"model.input", "0"}, "model.input = 0"},
		{{"model.input", "-3"}, "model.input = -3"},
		{{"model.input", "4294967302"}, "model.input = 4294967302"},
		{{"model.input", "1000000,1000000,1000000"}, "1000000"},
		{{"model.arch", "resnet19"}, "model.arch = resnet19"},
		{{"average.gamma", "2"}, "average.gamma"},
		{{"replay.holdout", "0"}, "replay.holdout"},
		{{"schedule.kind", "cosine"}, "schedule.kind = cosine"},
		{{"no.such", "key"}, "retain_config_set: [no]: no such section"},
		{{"schedule.rate", "-1"}, "retain_config_set: schedule.rate = -1: "},
		{{"run.form", "supervised"}, "run.form: no such key"},
		{{"run.method", "ama+marl"}, "did you mean ama+malr?"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct retain_learner *learner = NULL;
		struct retain_err err = {0};

		if (learner_try(&learner, NULL, rows[i].settings, &err) != RETAIN_ERR_INPUT)
			fail_msg("%s = %s: %s", rows[i].settings[0], rows[i].settings[1],
				err.message);
		assert_null(learner);
		assert_says(err, rows[i].words);
	}
}

/* A program need not look at what retain_config_new gave. */
static void no_config_is_told(void **state)
{
	struct retain_learner *learner;
	struct retain_err err;

	(void)state;
	assert_int_equal(retain_config_load(NULL, "x.ini", &err), RETAIN_ERR_MEMORY);
	assert_int_equal(retain_config_set(NULL, "run.seed", "1", &err), RETAIN_ERR_MEMORY);
	assert_int_equal(retain_learner_new(&learner, NULL, &err), RETAIN_ERR_MEMORY);
	assert_int_equal(retain_learner_open(&learner, NULL, "x", &err), RETAIN_ERR_MEMORY);
	assert_says(err, "out of memory");
}

static void images_are_three_numbers(void **state)
{
	struct retain_learner *learner =
		learner_of(SETTINGS("model.input", "3,8,8", "model.arch", "resnet20-cifar"));
	float *inputs = calloc(2 * 3 * 8 * 8, sizeof(float));
	struct retain_prediction predictions[2];
	struct retain_ticket ticket;
	const int32_t labels[2] = {1, 3};
	struct retain_err err;

	(void)state;
	inputs[0] = 1;
	assert_ok(retain_observe(learner, inputs, 2, predictions, &ticket, &err), err);
	assert_ok(retain_reveal(learner, ticket, labels, &err), err);
	train(learner, 1);
	free(inputs);
	retain_learner_free(learner);
}

static void configs_come_from_files(void **state)
{
	struct retain_config *config = retain_config_new();
	FILE *file = fopen(in_folder("shop.ini"), "w");
	struct retain_learner *learner;
	struct retain_err err;

	(void)state;
	fputs("[model]\nclasses = 4\ninput = 6\n[replay]\npool = fifo\nlimit = 50\n", file);
	fclose(file);
	assert_ok(retain_config_load(config, in_folder("shop.ini"), &err), err);
	assert_ok(retain_config_set(config, "run.method", "schedule-free", &err), err);
	assert_int_equal(retain_config_load(config, in_folder("none.ini"), &err), RETAIN_ERR_FILE);
	assert_says(err, "none.ini");
	assert_ok(retain_learner_new(&learner, config, &err), err);
	retain_config_free(config);
	go(learner, 20);
	/* No holdout, so nothing is known of retention. */
	assert_true(isnan(metrics_of(learner).retention));
	retain_learner_free(learner);
}

static void weights_are_saved_and_loaded(void **state)
{
	struct retain_learner *one = learner_of(NULL), *two = learner_of(SETTINGS("run.seed", "9"));
	struct retain_learner *other = learner_of(SETTINGS("model.arch", "linear"));
	struct step a = step_of(7), b = step_of(7);
	struct retain_err err;

	(void)state;
	go(one, 10);
	go(two, 3);
	assert_ok(retain_save_weights(one, in_folder("w"), &err), err);
	assert_ok(retain_load_weights(two, in_folder("w"), &err), err);
	observe(one, &a);
	observe(two, &b);
	for (int i = 0; i < N; i++) {
		assert_int_equal(a.predictions[i].label, b.predictions[i].label);
		assert_true(a.predictions[i].probability == b.predictions[i].probability);
	}
	go(two, 3);
	assert_int_equal(retain_save_weights(one, in_folder("none/w"), &err), RETAIN_ERR_FILE);
	assert_says(err, "none/w");
	assert_int_equal(retain_load_weights(one, in_folder("v"), &err), RETAIN_ERR_FILE);
	assert_true(retain_load_weights(other, in_folder("w"), &err) < 0);
	retain_learner_free(one);
	retain_learner_free(two);
	retain_learner_free(other);
}

/* Two learners in one process know nothing of each other. */
static void learners_live_side_by_side(void **state)
{
	struct retain_learner *alone = learner_of(NULL), *one = learner_of(NULL);
	struct retain_learner *two = learner_of(SETTINGS("run.method", "sgd+clr"));
	struct step a = step_of(7), b = step_of(7);

	(void)state;
	go(alone, 10);
	for (int i = 0; i < 10; i++) {
		struct step steps[2] = {step_of((unsigned)i), step_of((unsigned)(i + 20))};

		observe(one, &steps[0]);
		observe(two, &steps[1]);
		reveal(two, &steps[1]);
		reveal(one, &steps[0]);
		train(two, 3);
		train(one, RETAIN_BUDGET);
	}
	observe(alone, &a);
	observe(one, &b);
	for (int i = 0; i < N; i++)
		assert_true(a.predictions[i].probability == b.predictions[i].probability);
	retain_learner_free(alone);
	retain_learner_free(one);
	retain_learner_free(two);
}

/* Others ask while one trains: nobody is turned away, and learning does not notice. */
static void others_may_ask_while_one_trains(void **state)
{
	struct retain_learner *asked = learner_of(SETTINGS("engine.threads", "2"));
	struct retain_learner *alone = learner_of(NULL);
	struct step a = step_of(7), b = step_of(7);

	(void)state;
	go_while_asked(asked, 15);
	go(alone, 15);
	observe(alone, &a);
	observe(asked, &b);
	for (int i = 0; i < N; i++)
		assert_true(a.predictions[i].probability == b.predictions[i].probability);
	assert_int_equal(metrics_of(asked).steps, 15);
	retain_learner_free(asked);
	retain_learner_free(alone);
}

static int make(void *context, struct err *err)
{
	struct retain_learner *learner = NULL;
	int code = retain_learner_new(&learner, context, (struct retain_err *)err);

	if (!code)
		code = learner_use(learner, (struct retain_err *)err);
	retain_learner_free(learner);
	return code;
}

static void every_allocation_may_fail(void **state)
{
	struct retain_config *config = retain_config_new();
	struct retain_err err;

	(void)state;
	assert_ok(retain_config_set(config, "model.classes", "4", &err), err);
	assert_ok(retain_config_set(config, "model.input", "6", &err), err);
	assert_true(each_allocation_fails(make, config) > 20);
	retain_config_free(config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_learns),
		cmocka_unit_test(nothing_is_known_at_first),
		cmocka_unit_test(predictions_are_probabilities),
		cmocka_unit_test(labels_come_in_any_order),
		cmocka_unit_test(efficacy_is_of_the_predictions_made),
		cmocka_unit_test(wrong_labels_are_refused),
		cmocka_unit_test(wrong_numbers_are_refused),
		cmocka_unit_test(what_is_learned_must_be_said),
		cmocka_unit_test(no_config_is_told),
		cmocka_unit_test(images_are_three_numbers),
		folder_test(configs_come_from_files),
		folder_test(weights_are_saved_and_loaded),
		cmocka_unit_test(learners_live_side_by_side),
		cmocka_unit_test(others_may_ask_while_one_trains),
		cmocka_unit_test(every_allocation_may_fail),
	};

	return cmocka_run_group_tests_name("embed", tests, NULL, NULL);
}
