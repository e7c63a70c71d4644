/*
 * A learner that is told nothing: inputs say their size, classes come with their labels,
 * by number or by name. However it is stopped, it comes to the same bits.
 */
#include "learner.h"

#define NOTHING_SAID "model.classes", "auto", "model.input", "auto"

/* The same step, but of classes below `classes` alone. */
static struct step step_below(unsigned number, int classes)
{
	struct step step = step_of(number);

	for (int i = 0; i < N; i++)
		step.labels[i] %= classes;
	return step;
}

static void take(struct retain_learner *learner, struct step *step)
{
	observe(learner, step);
	reveal(learner, step);
	train(learner, RETAIN_BUDGET);
}

/* One class more every third step. */
static int classes_at(unsigned number)
{
	return 1 + (int)(number / 3 < CLASSES - 1 ? number / 3 : CLASSES - 1);
}

static void go_growing(struct retain_learner *learner, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++) {
		struct step step = step_below(i, classes_at(i));

		take(learner, &step);
	}
}

static struct retain_shape shape_of(const struct retain_learner *learner)
{
	struct retain_shape shape;
	struct retain_err err;

	assert_ok(retain_learner_shape(learner, &shape, &err), err);
	return shape;
}

static void save_as(struct retain_learner *learner, const char *name)
{
	struct retain_err err;

	assert_ok(
		retain_learner_save_weights(learner, RETAIN_WEIGHTS_SERVING, in_folder(name), &err),
		err);
}

static int32_t label_of(struct retain_learner *learner, const char *name)
{
	struct retain_err err;
	int32_t label = -1;

	assert_ok(retain_learner_class(learner, name, &label, &err), err);
	return label;
}

static void assert_name(struct retain_learner *learner, int label, const char *expected)
{
	const char *name = "?";
	struct retain_err err;

	assert_ok(retain_learner_class_name(learner, label, &name, &err), err);
	if (expected)
		assert_string_equal(name, expected);
	else
		assert_null(name);
}

static void nothing_need_be_said(void **state)
{
	struct retain_learner *learner;
	struct step step = step_below(1, 2);
	float probabilities[N][3];
	struct retain_err err = {0};

	(void)state;
	assert_ok(retain_learner_new(&learner, NULL, &err), err);
	assert_int_equal(shape_of(learner).floats, 0);
	assert_int_equal(shape_of(learner).classes, 0);
	train(learner, 3);
	assert_int_equal(metrics_of(learner).samples, 0);
	assert_ok(retain_learner_predict(learner, step.inputs[0], N * DIM, step.predictions, N,
			  probabilities[0], N * 3, &err),
		err);
	assert_int_equal(step.predictions[0].label, -1);
	assert_true(step.predictions[0].probability == 0 && probabilities[N - 1][2] == 0);
	assert_int_equal(
		retain_learner_save_weights(learner, RETAIN_WEIGHTS_PLAIN, in_folder("w"), &err),
		RETAIN_ERR_STATE);
	assert_says(err, "there is no net yet");

	observe(learner, &step);
	assert_int_equal(step.predictions[3].label, -1);
	assert_int_equal(shape_of(learner).floats, DIM);
	assert_int_equal(shape_of(learner).classes, 0);
	reveal(learner, &step);
	assert_int_equal(shape_of(learner).classes, 2);
	train(learner, 20);
	/* Room for more classes than there are, and for fewer. */
	assert_ok(retain_learner_predict(learner, step.inputs[0], N * DIM, step.predictions, N,
			  probabilities[0], N * 3, &err),
		err);
	for (int i = 0; i < N; i++) {
		assert_float_equal(probabilities[i][0] + probabilities[i][1], 1, 1e-6);
		assert_true(probabilities[i][2] == 0);
		assert_true(step.predictions[i].label == 0 || step.predictions[i].label == 1);
	}
	assert_ok(retain_learner_predict(learner, step.inputs[0], N * DIM, step.predictions, N,
			  probabilities[0], N, &err),
		err);
	assert_int_equal(retain_learner_predict(learner, step.inputs[0], N * DIM, step.predictions,
				 N, probabilities[0], N + 1, &err),
		RETAIN_ERR_INPUT);
	assert_says(err, "probability_floats = 17: must be count = 16 times a number of classes");
	retain_learner_free(learner);
}

/* What is wrong is said, and the next call goes on. */
static void nothing_is_lost(void **state)
{
	struct retain_learner *learner =
		learner_of(SETTINGS(NOTHING_SAID, "model.classes_most", "3", "model.scale", "off"));
	struct step step = step_below(2, 3), bad = step;
	struct retain_err err = {0};

	(void)state;
	assert_int_equal(retain_learner_observe(learner, step.inputs[0], N * DIM - 1,
				 bad.predictions, N, &bad.ticket, &err),
		RETAIN_ERR_INPUT);
	assert_says(err, "input_floats = 95: must be count = 16 times the numbers of an input");
	bad.inputs[1][2] = NAN;
	assert_int_equal(retain_learner_observe(learner, bad.inputs[0], N * DIM, bad.predictions, N,
				 &bad.ticket, &err),
		RETAIN_ERR_INPUT);
	assert_says(err, "inputs: number 2 of input 1 is nan");
	observe(learner, &step);
	assert_int_equal(retain_learner_observe(learner, bad.inputs[0], N * (DIM - 1),
				 bad.predictions, N, &bad.ticket, &err),
		RETAIN_ERR_INPUT);
	assert_says(err, "input_floats = 80: must be count = 16 times 6");

	bad = step;
	bad.labels[5] = 3;
	assert_int_equal(
		retain_learner_reveal(learner, step.ticket, bad.labels, N, &err), RETAIN_ERR_INPUT);
	assert_says(err,
		"label 3 of sample 5: model.classes_most = 3 allows labels up to 2; if there are "
		"more classes, set it higher");
	bad.labels[5] = -1;
	assert_int_equal(
		retain_learner_reveal(learner, step.ticket, bad.labels, N, &err), RETAIN_ERR_INPUT);
	assert_int_equal(shape_of(learner).classes, 0);
	reveal(learner, &step);
	assert_int_equal(shape_of(learner).classes, 3);
	assert_int_equal(metrics_of(learner).samples, N);
	assert_int_equal(
		retain_learner_class(learner, "one more", &bad.labels[0], &err), RETAIN_ERR_INPUT);
	assert_says(err, "class \"one more\": there are 3 classes already");
	retain_learner_free(learner);
}

/* One class is no reason to stop. */
static void one_class_is_a_stream(void **state)
{
	struct retain_learner *learner = learner_of(SETTINGS(NOTHING_SAID));

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		struct step step = step_below(i, 1);

		take(learner, &step);
		assert_int_equal(step.predictions[0].label, i ? 0 : -1);
	}
	assert_true(metrics_of(learner).learning_efficacy > 0.7);
	retain_learner_free(learner);
}

/* Methods whose state has all kinds of things that are as large as the net. */
static const char *const methods[][9] = {
	{"run.method", "ama+malr", "average.every", "3"},
	{"run.method", "schedule-free+recency"},
	{"run.method", "schedule-free+recency+fast", "fast.prior", "0.7"},
	{"run.method", "schedule-free+recency+fast", "fast.layers", "head"},
	{"run.method", "schedule-free+recency+fast", "fast.mix_by", "class"},
	{"run.method", "adam+ama+malr", "optimizer.decay", "pool"},
	{"run.method", "polrs+adrep", "learn.part_steps", "2", "replay.history", "20"},
	{"run.method", "gdumb", "replay.limit", "40", "run.task_steps", "4"},
	{"run.method", "mir"},
	{"model.arch", "linear", "run.budget", "3.3"},
};

static const char *const *with(const char *const method[9], const char *threads)
{
	static const char *settings[24];
	size_t count = 0;

	for (const char *const *from = SETTINGS(NOTHING_SAID, "engine.threads", threads); *from;)
		settings[count++] = *from++;
	for (const char *const *from = method; *from;)
		settings[count++] = *from++;
	settings[count] = NULL;
	return settings;
}

/* Killed at every step, closed at every step, on two threads: as if nothing had happened. */
static void growth_is_exact(void **state)
{
	enum { STEPS = 12 };

	(void)state;
	for (size_t m = 0; m < COUNT(methods); m++) {
		struct retain_learner *straight = learner_of(with(methods[m], "1"));

		go_growing(straight, 0, STEPS);
		assert_int_equal(shape_of(straight).classes, CLASSES);
		save_as(straight, "straight");
		retain_learner_free(straight);
		for (int closes = 0; closes < 2; closes++) {
			struct retain_learner *learner = NULL;

			for (unsigned i = 0; i <= STEPS; i++) {
				learner = open_in("run", with(methods[m], "2"));
				if (i == STEPS)
					break;
				go_growing(learner, i, i + 1);
				if (closes || i % 4 == 3)
					retain_learner_close(learner);
				else
					retain_learner_free(learner);
			}
			save_as(learner, "stopped");
			retain_learner_free(learner);
			if (!same_file("straight", "stopped"))
				fail_msg("%s differs when %s", methods[m][1],
					closes ? "closed" : "killed");
			remove_all(in_folder("run"));
		}
	}
}

/* Known classes and classes that come are the same once all have come at the start. */
static void what_was_learned_stays(void **state)
{
	struct retain_learner *learner = learner_of(SETTINGS(NOTHING_SAID));
	struct step step, late;
	struct retain_prediction before[N];
	struct retain_err err;

	(void)state;
	for (unsigned i = 0; i < 30; i++) {
		step = step_below(i, 3);
		take(learner, &step);
	}
	assert_ok(
		retain_learner_predict(learner, step.inputs[0], N * DIM, before, N, NULL, 0, &err),
		err);
	late = step_of(31);
	late.labels[0] = 3;
	observe(learner, &late);
	reveal(learner, &late);
	assert_int_equal(shape_of(learner).classes, 4);
	assert_ok(retain_learner_predict(
			  learner, step.inputs[0], N * DIM, step.predictions, N, NULL, 0, &err),
		err);
	/* A new class weighs what a logit of 0 weighs; who led by more leads on. */
	for (int i = 0; i < N; i++)
		assert_true(step.predictions[i].label == before[i].label ||
			    step.predictions[i].label == 3);
	for (unsigned i = 0; i < 60; i++) {
		step = step_of(i);
		take(learner, &step);
	}
	assert_true(metrics_of(learner).learning_efficacy > 0.5);
	retain_learner_free(learner);
}

/* Predictions go on in other threads while the net is replaced. */
static void growth_disturbs_nobody(void **state)
{
	struct retain_learner *learner = learner_of(SETTINGS(NOTHING_SAID));
	struct asker asker = {.learner = learner};
	pthread_t threads[2];

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask, &asker), 0);
	go_growing(learner, 0, 12);
	while (atomic_load(&asker.asked) < 10)
		train(learner, 0);
	atomic_store(&asker.over, true);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(atomic_load(&asker.failed), 0);
	retain_learner_free(learner);
}

static void classes_have_names(void **state)
{
	struct retain_learner *learner = open_in("run", SETTINGS(NOTHING_SAID));
	struct step step = step_below(1, 2);
	struct retain_model *model;
	struct retain_err err = {0};
	const char *name;
	int32_t label;

	(void)state;
	assert_int_equal(label_of(learner, "no"), 0);
	assert_int_equal(label_of(learner, "yes"), 1);
	assert_int_equal(label_of(learner, "no"), 0);
	assert_name(learner, 1, "yes");
	assert_int_equal(shape_of(learner).classes, 0);
	take(learner, &step);
	/* A label without a name; the next name comes after it. */
	step.labels[0] = 2;
	take(learner, &step);
	assert_int_equal(label_of(learner, "peut-être"), 3);
	assert_int_equal(label_of(learner, "never revealed"), 4);
	step.labels[0] = 3;
	take(learner, &step);
	retain_learner_free(learner); /* a crash */

	assert_ok(retain_learner_open(&learner, NULL, in_folder("run"), &err), err);
	assert_int_equal(shape_of(learner).classes, 4);
	assert_int_equal(shape_of(learner).floats, DIM);
	assert_name(learner, 0, "no");
	assert_name(learner, 2, NULL);
	assert_name(learner, 3, "peut-être");
	assert_int_equal(retain_learner_class_name(learner, 4, &name, &err), RETAIN_ERR_INPUT);
	assert_says(err, "retain_learner_class_name: label = 4: there are 4 classes");
	assert_int_equal(label_of(learner, "another"), 4);
	for (int bad = 0; bad < 3; bad++) {
		char longest[600] = {0};

		memset(longest, 'a', sizeof(longest) - 1);
		assert_int_equal(retain_learner_class(learner,
					 bad == 0   ? ""
					 : bad == 1 ? longest
						    : "\xff",
					 &label, &err),
			RETAIN_ERR_INPUT);
		assert_says(err, "the name of a class ");
	}
	retain_learner_close(learner);
	assert_ok(retain_model_open(&model, in_folder("run"), &err), err);
	assert_ok(retain_model_class_name(model, 3, &name, &err), err);
	assert_string_equal(name, "peut-être");
	assert_int_equal(retain_model_class_name(model, 4, &name, &err), RETAIN_ERR_INPUT);
	retain_model_close(model);
}

/* A folder in which nothing was observed is as good as none. */
static void an_empty_folder_can_be_opened_again(void **state)
{
	struct retain_learner *learner;
	struct retain_err err = {0};

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_ok(retain_learner_open(&learner, NULL, in_folder("run"), &err), err);
		assert_ok(retain_learner_save(learner, &err), err);
		retain_learner_close(learner);
	}
	learner = open_in("run", SETTINGS("run.seed", "7"));
	go(learner, 2);
	retain_learner_close(learner);
	assert_ok(retain_learner_open(&learner, NULL, in_folder("run"), &err), err);
	assert_int_equal(metrics_of(learner).steps, 2);
	retain_learner_close(learner);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		tree_test(nothing_need_be_said),
		cmocka_unit_test(nothing_is_lost),
		cmocka_unit_test(one_class_is_a_stream),
		tree_test(growth_is_exact),
		cmocka_unit_test(what_was_learned_stays),
		cmocka_unit_test(growth_disturbs_nobody),
		tree_test(classes_have_names),
		tree_test(an_empty_folder_can_be_opened_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
