/* Learners in memory: observe, reveal, train, in any order that makes sense and in none that does not. */
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
	assert_true(isnan(m.same) && isnan(m.most) && isnan(m.chain) && isnan(m.kappa));
	for (size_t i = 0; i < COUNT(m.reserved); i++)
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

/* Labels 0, 1, 1 over and over: what the order of labels says, and what is known without it. */
static void baselines_by_hand(void **state)
{
	const char *const settings[] = {"model.classes", "2", NULL};
	struct retain_learner *learner = learner_of(settings);
	const float input[DIM] = {0};
	struct retain_metrics m;
	struct retain_err err;

	(void)state;
	for (int i = 0; i < 301; i++) {
		const int32_t label = i % 3 > 0;
		struct retain_prediction prediction;
		struct retain_ticket ticket;

		assert_ok(
			retain_learner_observe(learner, input, DIM, &prediction, 1, &ticket, &err),
			err);
		assert_ok(retain_learner_reveal(learner, ticket, &label, 1, &err), err);
	}
	m = metrics_of(learner);
	assert_true(fabs(m.same - 1.0 / 3) < 0.01 && fabs(m.most - 2.0 / 3) < 0.02);
	assert_true(m.chain > 0.97 && m.chain <= 1);
	assert_true(fabs(m.kappa - (m.learning_efficacy - m.same) / (1 - m.same)) < 1e-12);
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
	assert_ok(retain_learner_predict(learner, step.inputs[0], N * DIM, again, N,
			  probabilities[0], N * CLASSES, &err),
		err);
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
	assert_ok(
		retain_learner_predict(learner, step.inputs[0], DIM, again, 1, NULL, 0, &err), err);
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
	assert_ok(retain_learner_drop(learner, steps[4].ticket, &err), err);
	train(learner, 20);
	reveal(learner, &steps[5]);
	assert_int_equal(metrics_of(learner).steps, 8);
	assert_int_equal(metrics_of(learner).samples, 8 * N);

	/* A ticket is good for one reveal or drop. */
	assert_int_equal(retain_learner_reveal(learner, steps[3].ticket, steps[3].labels, N, &err),
		RETAIN_ERR_INPUT);
	assert_says(err, "was revealed or dropped before");
	assert_int_equal(retain_learner_reveal(learner, steps[4].ticket, steps[4].labels, N, &err),
		RETAIN_ERR_INPUT);
	assert_int_equal(retain_learner_drop(learner, steps[4].ticket, &err), RETAIN_ERR_INPUT);
	assert_int_equal(retain_learner_drop(learner, steps[5].ticket, &err), RETAIN_ERR_INPUT);
	assert_int_equal(
		retain_learner_drop(learner, (struct retain_ticket){0}, &err), RETAIN_ERR_INPUT);
	assert_says(err, "was never given out");
	assert_int_equal(retain_learner_reveal(
				 learner, (struct retain_ticket){999}, steps[0].labels, N, &err),
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
	assert_int_equal(
		retain_learner_reveal(learner, step.ticket, wrong, N, &err), RETAIN_ERR_INPUT);
	assert_int_equal(err.code, RETAIN_ERR_INPUT);
	assert_says(err, "label 4");
	wrong[N - 1] = -1;
	assert_int_equal(
		retain_learner_reveal(learner, step.ticket, wrong, N, NULL), RETAIN_ERR_INPUT);
	assert_int_equal(metrics_of(learner).samples, 0);
	/* The ticket is still good. */
	reveal(learner, &step);
	assert_int_equal(metrics_of(learner).samples, N);
	retain_learner_free(learner);
}

static void settings_that_cannot_be_are_refused(void **state)
{
	static const struct {
		const char *settings[5], *words;
	} rows[] = {
		{{"model.classes", "-1"}, "model.classes = -1"},
		{{"model.classes", "4 or so"}, "model.classes = 4 or so"},
		{{"model.classes", "some"}, "must be a whole number from 1 to 1048576, or auto"},
		{{"model.classes_most", "0"}, "model.classes_most = 0"},
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
	assert_ok(retain_learner_observe(
			  learner, inputs, 2 * 3 * 8 * 8, predictions, 2, &ticket, &err),
		err);
	assert_ok(retain_learner_reveal(learner, ticket, labels, 2, &err), err);
	train(learner, 1);
	free(inputs);
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
	assert_ok(retain_learner_save_weights(one, RETAIN_WEIGHTS_SERVING, in_folder("w"), &err),
		err);
	assert_ok(retain_learner_load_weights(two, in_folder("w"), &err), err);
	observe(one, &a);
	observe(two, &b);
	assert_same_predictions(&a, &b);
	go(two, 3);
	assert_int_equal(
		retain_learner_save_weights(one, RETAIN_WEIGHTS_SERVING, in_folder("none/w"), &err),
		RETAIN_ERR_FILE);
	assert_says(err, "none/w");
	assert_int_equal(retain_learner_load_weights(one, in_folder("v"), &err), RETAIN_ERR_FILE);
	assert_true(retain_learner_load_weights(other, in_folder("w"), &err) < 0);
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
	assert_same_predictions(&a, &b);
	retain_learner_free(alone);
	retain_learner_free(one);
	retain_learner_free(two);
}

/* What is not to be had is refused; each that is there is another set of weights. */
static void weights_can_be_chosen(void **state)
{
	struct retain_learner *two = learner_of(SETTINGS("average.serve", "average"));
	struct retain_learner *one =
		learner_of(SETTINGS("average.kind", "ema", "average.serve", "average"));
	struct retain_learner *none = learner_of(SETTINGS("run.method", "schedule-free"));
	struct retain_err err = {0};

	(void)state;
	go(two, 40);
	go(one, 40);
	go(none, 40);
	/* Both averages begin a window as the better one. */
	train(two, 19);
	assert_ok(retain_learner_save_weights(
			  two, RETAIN_WEIGHTS_SERVING, in_folder("serving"), &err),
		err);
	assert_ok(retain_learner_save_weights(two, RETAIN_WEIGHTS_PLAIN, in_folder("plain"), &err),
		err);
	assert_ok(retain_learner_save_weights(
			  two, RETAIN_WEIGHTS_AVERAGE_1, in_folder("first"), &err),
		err);
	assert_ok(retain_learner_save_weights(
			  two, RETAIN_WEIGHTS_AVERAGE_2, in_folder("second"), &err),
		err);
	assert_true(same_file("serving", "first") != same_file("serving", "second"));
	assert_false(same_file("serving", "plain"));
	assert_ok(retain_learner_save_weights(
			  one, RETAIN_WEIGHTS_AVERAGE_1, in_folder("first"), &err),
		err);
	assert_ok(retain_learner_save_weights(
			  one, RETAIN_WEIGHTS_SERVING, in_folder("serving"), &err),
		err);
	assert_true(same_file("serving", "first"));
	assert_int_equal(
		retain_learner_save_weights(one, RETAIN_WEIGHTS_AVERAGE_2, in_folder("x"), &err),
		RETAIN_ERR_INPUT);
	assert_says(err, "which = 3: there are no such weights; average.kind = ema has 1 averages");
	assert_int_equal(
		retain_learner_save_weights(none, RETAIN_WEIGHTS_AVERAGE_1, in_folder("x"), &err),
		RETAIN_ERR_INPUT);
	assert_int_equal(
		retain_learner_save_weights(none, (enum retain_weights)17, in_folder("x"), &err),
		RETAIN_ERR_INPUT);
	assert_says(err, "which = 17");
	assert_true(access(in_folder("x"), F_OK) != 0);
	retain_learner_free(two);
	retain_learner_free(one);
	retain_learner_free(none);
}

/* What waits is bounded, in inputs; what was revealed or dropped makes room. */
static void few_may_wait(void **state)
{
	struct retain_learner *learner = learner_of(SETTINGS("run.waiting_most", "50"));
	struct step steps[4];
	struct retain_err err = {0};

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		steps[i] = step_of(i);
	for (int i = 0; i < 3; i++)
		observe(learner, &steps[i]);
	assert_int_equal(retain_learner_observe(learner, steps[3].inputs[0], N * DIM,
				 steps[3].predictions, N, &steps[3].ticket, &err),
		RETAIN_ERR_STATE);
	assert_says(err, "48 inputs wait for their labels, and 16 more would exceed "
			 "run.waiting_most = 50");
	assert_ok(retain_learner_observe(learner, steps[3].inputs[0], 2 * DIM, steps[3].predictions,
			  2, &steps[3].ticket, &err),
		err);
	assert_ok(retain_learner_drop(learner, steps[3].ticket, &err), err);
	reveal(learner, &steps[1]);
	observe(learner, &steps[3]);
	assert_ok(retain_learner_drop(learner, steps[0].ticket, &err), err);
	reveal(learner, &steps[3]);
	reveal(learner, &steps[2]);
	assert_int_equal(metrics_of(learner).samples, 3 * N);
	retain_learner_free(learner);
}

/* Hundreds that wait, told in an order that is neither the first's nor the last's. */
static void many_may_wait(void **state)
{
	enum { STEPS = 300 };
	struct retain_learner *learner = learner_of(NULL);
	static struct step steps[STEPS];

	(void)state;
	for (unsigned i = 0; i < STEPS; i++) {
		steps[i] = step_of(i);
		observe(learner, &steps[i]);
	}
	for (int i = 0; i < STEPS; i++)
		reveal(learner, &steps[i * 77 % STEPS]);
	assert_int_equal(metrics_of(learner).steps, STEPS);
	retain_learner_free(learner);
}

struct counted {
	struct retain_learner *learner;
	int calls, stop_at;
	struct retain_progress last;
};

static int count_and_stop(void *context, const struct retain_progress *progress)
{
	struct counted *counted = context;
	struct retain_metrics metrics;

	assert_true(progress->done > counted->last.done && progress->done <= progress->total);
	/* The learner may be used. */
	assert_int_equal(retain_learner_metrics(counted->learner, &metrics, NULL), 0);
	assert_int_equal(metrics.iterations, progress->iterations);
	counted->last = *progress;
	return ++counted->calls == counted->stop_at;
}

static struct retain_learner *counted_learner(struct counted *counted, const char *const *settings)
{
	struct retain_config *config = retain_config_new();
	struct retain_err err;

	assert_ok(config_try(config, settings, &err), err);
	assert_ok(retain_config_on_progress(config, count_and_stop, counted, &err), err);
	assert_ok(retain_learner_new(&counted->learner, config, &err), err);
	retain_config_free(config);
	return counted->learner;
}

static void training_can_be_stopped(void **state)
{
	struct counted counted = {.stop_at = 3};
	struct retain_learner *learner = counted_learner(&counted, NULL);
	struct step step = step_of(1);
	struct retain_err err = {0};

	(void)state;
	observe(learner, &step);
	reveal(learner, &step);
	/* Short calls ask nobody. */
	train(learner, 1);
	assert_int_equal(counted.calls, 0);
	assert_int_equal(retain_learner_train(learner, 1 << 30, &err), RETAIN_ERR_STOPPED);
	assert_says(err, "retain_learner_train: was stopped by its progress function after ");
	assert_says(err, " of 1073741824");
	assert_string_equal(retain_err_name(err.code), "stopped");
	assert_int_equal(counted.calls, 3);
	assert_int_equal(counted.last.total, 1 << 30);
	assert_int_equal(metrics_of(learner).iterations, counted.last.done + 1);
	train(learner, 10);
	assert_int_equal(metrics_of(learner).iterations, counted.last.done + 11);
	retain_learner_free(learner);
}

/* What a stopped call owes of the budget is made by the next. */
static void a_stopped_budget_is_kept(void **state)
{
	enum { ITERATIONS = 1 << 20 };
	const char *const *settings = SETTINGS("run.iterations", "1048576", "model.arch", "linear");
	struct counted counted = {.stop_at = 1};
	struct retain_learner *learner = counted_learner(&counted, settings);
	struct step step = step_of(1);
	struct retain_err err = {0};
	int64_t made;

	(void)state;
	observe(learner, &step);
	reveal(learner, &step);
	assert_int_equal(retain_learner_train(learner, RETAIN_BUDGET, &err), RETAIN_ERR_STOPPED);
	made = metrics_of(learner).iterations;
	assert_true(made > 0 && made < ITERATIONS);
	assert_int_equal(counted.last.total, ITERATIONS);
	counted = (struct counted){.learner = learner, .stop_at = 1};
	assert_int_equal(retain_learner_train(learner, RETAIN_BUDGET, &err), RETAIN_ERR_STOPPED);
	assert_int_equal(counted.last.total, 2 * ITERATIONS - made);
	retain_learner_free(learner);
}

/* The first row makes the schema; the rest is the schema's own test. */
static void rows_of_named_values(void **state)
{
	static const char first[] = "{\"a\": 1, \"b\": \"x\", \"c\": true}";
	static const char second[] = "{\"b\": \"y\", \"a\": 2.5, \"new\": 3}";
	struct retain_learner *learner =
		learner_of(SETTINGS("schema.slots", "4", "schema.grow", "0"));
	struct retain_err err = {0};
	float input[DIM];

	(void)state;
	assert_int_equal(DIM, 6);
	assert_int_equal(
		retain_learner_encode_known(learner, first, strlen(first), input, DIM, &err),
		RETAIN_ERR_STATE);
	assert_says(err, "retain_learner_encode_known: no row was encoded yet");
	assert_ok(retain_learner_encode(learner, first, strlen(first), NULL, 0, &err), err);
	assert_ok(retain_learner_encode(learner, first, strlen(first), input, DIM, &err), err);
	assert_true(input[0] == 1 && input[1] == 1 && input[2] == 0 && input[5] == 1);
	for (int i = 0; i < 2; i++) { /* what is only looked at is as new the second time */
		assert_ok(retain_learner_encode_known(
				  learner, second, strlen(second), input, DIM, &err),
			err);
		assert_true(input[0] == 2.5f && input[1] == 0 && input[2] == 0);
	}
	assert_ok(retain_learner_encode(learner, second, strlen(second), input, DIM, &err), err);
	assert_true(input[0] == 2.5f && input[1] == 0 && input[2] == 1 && isnan(input[5]));
	assert_int_equal(retain_learner_encode(learner, first, strlen(first), input, 5, &err),
		RETAIN_ERR_INPUT);
	assert_says(err, "retain_learner_encode: floats = 5: an input has 6");
	assert_int_equal(retain_learner_encode(learner, first, strlen(first), NULL, 5, &err),
		RETAIN_ERR_INPUT);
	assert_int_equal(
		retain_learner_encode(learner, first, 7, input, DIM, &err), RETAIN_ERR_FORMAT);
	assert_int_equal(
		retain_learner_encode(learner, NULL, 0, input, DIM, &err), RETAIN_ERR_INPUT);
	retain_learner_free(learner);
	learner = learner_of(NULL);
	assert_int_equal(retain_learner_encode(learner, first, strlen(first), NULL, 0, &err),
		RETAIN_ERR_INPUT);
	assert_says(err, "rows make 34 numbers, and an input has 6 (model.input)");
	retain_learner_free(learner);
}

/* A file holds all of a learner in memory: two that go on from it go the same way. */
static void a_learner_is_packed(void **state)
{
	static const char row[] = "{\"a\": 1, \"b\": \"x\", \"c\": true}";
	static const char *const settings[] = {"schema.slots", "4", NULL};
	struct retain_learner *learner = learner_of(settings), *other;
	struct retain_config *config = retain_config_new();
	struct step step = step_of(7), same = step;
	struct retain_err err = {0};
	float input[DIM] = {0}, again[DIM] = {0};

	(void)state;
	assert_ok(config_try(config, settings, &err), err);
	go(learner, 10);
	assert_ok(retain_learner_encode(learner, row, strlen(row), input, DIM, &err), err);
	assert_ok(retain_learner_pack(learner, in_folder("packed"), &err), err);
	assert_ok(retain_learner_unpack(&other, config, in_folder("packed"), &err), err);
	assert_ok(retain_learner_encode(other, row, strlen(row), again, DIM, &err), err);
	assert_memory_equal(input, again, sizeof(input));
	go(learner, 5);
	go(other, 5);
	observe(learner, &step);
	observe(other, &same);
	assert_memory_equal(step.predictions, same.predictions, sizeof(same.predictions));
	assert_true(metrics_of(learner).samples == metrics_of(other).samples);
	retain_learner_free(other);
	assert_int_equal(
		retain_learner_unpack(&other, config, in_folder("none"), &err), RETAIN_ERR_FILE);
	assert_null(other);
	retain_learner_free(learner);
	retain_config_free(config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		folder_test(a_learner_is_packed),
		cmocka_unit_test(it_learns),
		cmocka_unit_test(nothing_is_known_at_first),
		cmocka_unit_test(baselines_by_hand),
		cmocka_unit_test(predictions_are_probabilities),
		cmocka_unit_test(labels_come_in_any_order),
		cmocka_unit_test(efficacy_is_of_the_predictions_made),
		cmocka_unit_test(wrong_labels_are_refused),
		cmocka_unit_test(settings_that_cannot_be_are_refused),
		cmocka_unit_test(images_are_three_numbers),
		cmocka_unit_test(rows_of_named_values),
		folder_test(weights_are_saved_and_loaded),
		folder_test(weights_can_be_chosen),
		cmocka_unit_test(learners_live_side_by_side),
		cmocka_unit_test(few_may_wait),
		cmocka_unit_test(many_may_wait),
		cmocka_unit_test(training_can_be_stopped),
		cmocka_unit_test(a_stopped_budget_is_kept),
	};

	return cmocka_run_group_tests_name("learner", tests, NULL, NULL);
}
