/*
 * Learners whose net the program computes: they come to what the library's own net comes to,
 * survive kills and failures, and refuse a folder of another net.
 */
#include <signal.h>
#include <sys/wait.h>

#include "learner.h"
#include "vectors.h"

#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* A learner of the test's net. Path NULL: in memory. */
static int try_net(struct retain_learner **learner, const char *name, struct net_test *test,
	const char *path, const char *const *settings, struct retain_err *err)
{
	const struct retain_vectors vectors = vectors_of(test);
	struct retain_config *config = retain_config_new();
	int code;

	*learner = NULL;
	assert_non_null(config);
	code = config_try(config, settings, err);
	if (!code)
		code = retain_config_on_net(config, name, net_make, test, err);
	if (!code && test->keeps)
		code = retain_config_on_vectors(config, &vectors, err);
	if (!code)
		code = path ? retain_learner_open(learner, config, path, err)
			    : retain_learner_new(learner, config, err);
	retain_config_free(config);
	return code;
}

static struct retain_learner *net_learner(
	struct net_test *test, const char *path, const char *const *settings)
{
	struct retain_learner *learner;
	struct retain_err err = {0};

	assert_ok(try_net(&learner, "plain-c", test, path, settings, &err), err);
	return learner;
}

static void save(struct retain_learner *learner, enum retain_weights which, const char *name)
{
	struct retain_err err;

	assert_ok(retain_learner_save_weights(learner, which, in_folder(name), &err), err);
}

/* Ends it, and all its nets with it. */
static void end(struct retain_learner *learner, struct net_test *test)
{
	retain_learner_close(learner);
	assert_true(test->made > 0);
	assert_int_equal(test->made, test->freed);
	assert_int_equal(test->vectors, 0);
	test->made = test->freed = 0;
}

/* Another engine has other roundings; what is decided by them is the same. */
static void same_course(struct net_test *test, const char *const *settings)
{
	struct retain_learner *own = learner_of(settings), *net = net_learner(test, NULL, settings);
	struct retain_err err = {0};

	save(own, RETAIN_WEIGHTS_PLAIN, "first");
	assert_ok(retain_learner_load_weights(net, in_folder("first"), &err), err);
	for (unsigned i = 0; i < 12; i++) {
		struct step a = step_of(i), b = step_of(i);
		struct retain_metrics m, n;

		observe(own, &a);
		observe(net, &b);
		for (int k = 0; k < N; k++) {
			assert_int_equal(a.predictions[k].label, b.predictions[k].label);
			assert_float_equal(
				a.predictions[k].probability, b.predictions[k].probability, 1e-4);
		}
		reveal(own, &a);
		reveal(net, &b);
		train(own, RETAIN_BUDGET);
		train(net, RETAIN_BUDGET);
		m = metrics_of(own);
		n = metrics_of(net);
		assert_int_equal(m.iterations, n.iterations);
		assert_float_equal(m.loss, n.loss, 1e-4);
		assert_float_equal(m.learning_rate, n.learning_rate, 1e-12);
		if (!isnan(m.retention))
			assert_float_equal(m.retention, n.retention, 1e-9);
	}
	assert_true(metrics_of(net).learning_efficacy > 0.5);
	remove(in_folder("first"));
	retain_learner_close(own);
	end(net, test);
}

static void it_agrees_with_the_same_net_of_the_library(void **state)
{
	struct net_test test = {.features = 1, .keeps = *state != NULL};

	same_course(&test, SETTINGS("fast.heads", "newton, windows, forest"));
	same_course(&test, SETTINGS("run.micro_batch", "5"));
	same_course(&test, SETTINGS("run.method", "mir"));
	same_course(&test, SETTINGS("run.method", "der++"));
	same_course(&test, SETTINGS("run.method", "er-ace"));
	same_course(&test, SETTINGS("run.method", "lwf+ama", "run.task_steps", "4"));
	same_course(&test, SETTINGS("run.method", "schedule-free+recency+fast", "fast.heads",
				   "newton, labels, windows, forest"));
	same_course(&test, SETTINGS("run.method", "schedule-free+recency+fast", "fast.layers",
				   "head", "fast.heads", "hidden, ridge"));
	same_course(&test, SETTINGS("run.method", "polrs+adrep", "learn.part_steps", "4"));
	same_course(&test, SETTINGS("model.frozen", "0", "fast.layers", "head"));
	same_course(&test, SETTINGS("run.method", "gdumb", "run.task_steps", "4"));
	same_course(&test, SETTINGS("optimizer.kind", "adam"));
	if (!test.keeps)
		same_course(&test, SETTINGS("run.method", "ewc", "run.task_steps", "4"));
}

/* It needs weights one by one, in the library's memory. */
static void ewc_needs_the_weights(void **state)
{
	struct net_test test = {.keeps = 1};
	struct retain_learner *learner;
	struct retain_err err = {0};

	(void)state;
	assert_int_equal(
		try_net(&learner, "plain-c", &test, NULL, SETTINGS("run.method", "ewc"), &err),
		RETAIN_ERR_INPUT);
	assert_says(err, "loss.kind = ewc: weighs weights one by one");
	assert_int_equal(test.made, test.freed);
}

static void heads_need_features(void **state)
{
	struct net_test test = {0};
	struct retain_learner *learner;
	struct retain_err err = {0};

	(void)state;
	assert_int_equal(
		try_net(&learner, "plain-c", &test, NULL, SETTINGS("fast.heads", "hidden"), &err),
		RETAIN_ERR_INPUT);
	assert_says(err, "fast.heads = hidden");
	assert_says(err, "net:plain-c does not tell");
	assert_int_equal(try_net(&learner, "plain-c", &test, NULL,
				 SETTINGS("run.method", "ama+malr+fast", "fast.layers", "head",
					 "fast.parts", "0.3:0.97"),
				 &err),
		RETAIN_ERR_INPUT);
	assert_says(err, "fast.layers = head: net:plain-c does not end");
	assert_int_equal(test.made, test.freed);
}

/* A child works in the folder until it is killed; the last one ends. */
static void killed_ten_times(struct net_test *test, const char *const *settings)
{
	struct retain_learner *learner = net_learner(test, in_folder("straight"), settings);
	int kills = 0;

	go(learner, 15);
	save(learner, RETAIN_WEIGHTS_PLAIN, "straight.weights");
	save(learner, RETAIN_WEIGHTS_SERVING, "straight.serving");
	end(learner, test);
	for (;;) {
		const pid_t child = fork();
		int status;

		assert_true(child >= 0);
		if (!child) {
			learner = net_learner(test, in_folder("broken"), settings);
			for (int64_t i = metrics_of(learner).steps; i < 15; i++) {
				struct step step = step_of((unsigned)i);

				observe(learner, &step);
				reveal(learner, &step);
				if (kills % 2 && i % 2)
					raise(SIGKILL);
				train(learner, RETAIN_BUDGET);
				if (i % 3 == kills % 3)
					raise(SIGKILL);
			}
			_exit(0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		if (WIFEXITED(status))
			break;
		kills++;
	}
	assert_true(kills >= 10);
	learner = net_learner(test, in_folder("broken"), settings);
	assert_int_equal(metrics_of(learner).steps, 15);
	save(learner, RETAIN_WEIGHTS_PLAIN, "broken.weights");
	save(learner, RETAIN_WEIGHTS_SERVING, "broken.serving");
	assert_same_file("straight.weights", "broken.weights");
	assert_same_file("straight.serving", "broken.serving");
	end(learner, test);
	remove_all(in_folder("straight"));
	remove_all(in_folder("broken"));
}

static void killed_it_comes_to_the_same_bits(void **state)
{
	struct net_test test = {.centers = 1, .drops = 1, .features = 1, .keeps = *state != NULL};

	killed_ten_times(&test, SETTINGS("run.checkpoint_every", "4 steps"));
	killed_ten_times(&test, SETTINGS("run.method", "schedule-free+recency+fast", "fast.heads",
					"hidden, young", "run.micro_batch", "5"));
}

static void a_folder_keeps_to_its_net(void **state)
{
	struct net_test test = {0}, wider = {.hidden_shape = 9};
	struct retain_learner *learner = net_learner(&test, in_folder("f"), NULL);
	struct retain_err err = {0};

	(void)state;
	go(learner, 3);
	end(learner, &test);
	assert_int_equal(
		try_net(&learner, "other", &test, in_folder("f"), NULL, &err), RETAIN_ERR_INPUT);
	assert_says(err, "model.arch");
	assert_says(err, "net:plain-c");
	assert_says(err, "net:other");
	assert_true(try_net(&learner, "plain-c", &wider, in_folder("f"), NULL, &err) < 0);
	assert_says(err, "(8, 6) 0.weight");
	assert_says(err, "(9, 6) 0.weight");
	/* Without the program there is no net. */
	assert_int_equal(
		retain_learner_open(&learner, NULL, in_folder("f"), &err), RETAIN_ERR_INPUT);
	assert_says(err, "net:plain-c");
	assert_says(err, "retain_config_on_net");
	/* Nothing is lost. */
	learner = net_learner(&test, in_folder("f"), NULL);
	assert_int_equal(metrics_of(learner).samples, 3 * N);
	end(learner, &test);
	assert_int_equal(wider.made, wider.freed);
	remove_all(in_folder("f"));
}

/* An iteration that failed was not begun: what comes of it is the same. */
static void failures_are_told_and_lose_nothing(void **state)
{
	struct net_test test = {.centers = 1, .drops = 1, .keeps = *state != NULL}, sound = test;
	struct retain_learner *learner = net_learner(&test, NULL, NULL),
			      *straight = net_learner(&sound, NULL, NULL);
	struct retain_err err = {0};

	for (unsigned i = 0; i < 10; i++) {
		struct step step = step_of(i), same = step_of(i);

		observe(straight, &same);
		reveal(straight, &same);
		train(straight, 5);
		observe(learner, &step);
		reveal(learner, &step);
		train(learner, 2);
		test.forward_fails = 1;
		assert_int_equal(retain_learner_train(learner, 3, &err), RETAIN_ERR_INPUT);
		assert_string_equal(err.message, "net:plain-c: forward: the device is gone");
		test.backward_fails = 1;
		assert_int_equal(retain_learner_train(learner, 3, &err), RETAIN_ERR_STATE);
		assert_string_equal(err.message, "net:plain-c: backward: failed with code 7");
		test.forward_fails = 1;
		assert_int_equal(retain_learner_observe(learner, step.inputs[0], N * DIM,
					 step.predictions, N, &step.ticket, &err),
			RETAIN_ERR_INPUT);
		assert_says(err, "the device is gone");
		train(learner, 3);
	}
	assert_int_equal(metrics_of(learner).iterations, 50);
	save(learner, RETAIN_WEIGHTS_SERVING, "a");
	save(straight, RETAIN_WEIGHTS_SERVING, "b");
	assert_same_file("a", "b");
	end(learner, &test);
	end(straight, &sound);
}

/* Every pass of a few iterations fails once: those of a step, of statistics, of each validated model. */
static void a_validation_that_failed_is_made_up_for(void **state)
{
	struct net_test test = {.centers = 1, .keeps = *state != NULL}, sound = test;
	const char *const settings[] = {"average.statistics_every", "1", NULL};
	struct retain_learner *learner = net_learner(&test, in_folder("f"), settings),
			      *straight = net_learner(&sound, NULL, settings);
	struct retain_err err;
	int failed = 0;

	for (unsigned i = 0; i < 40; i++) {
		struct step step = step_of(i), same = step_of(i);

		observe(straight, &same);
		reveal(straight, &same);
		train(straight, 5);
		observe(learner, &step);
		reveal(learner, &step);
		test.forward_fails = 1 + (int)i % 20;
		for (int left = 5; left;
			left = 5 * ((int)i + 1) - (int)metrics_of(learner).iterations)
			failed += retain_learner_train(learner, left, &err) != 0;
		test.forward_fails = 0;
	}
	assert_true(failed >= 30);
	assert_float_equal(metrics_of(learner).loss, metrics_of(straight).loss, 0);
	assert_float_equal(
		metrics_of(learner).learning_rate, metrics_of(straight).learning_rate, 0);
	save(learner, RETAIN_WEIGHTS_SERVING, "a");
	save(straight, RETAIN_WEIGHTS_SERVING, "b");
	assert_same_file("a", "b");
	end(learner, &test);
	end(straight, &sound);
	remove_all(in_folder("f"));
}

/* Closed in between, it validates when it is opened again. */
static void a_validation_that_failed_is_made_up_for_after_a_restart(void **state)
{
	struct net_test test = {.keeps = *state != NULL}, sound = test;
	struct retain_learner *learner = net_learner(&test, in_folder("f"), NULL),
			      *straight = net_learner(&sound, NULL, NULL);
	struct retain_err err;
	int failed = 0;

	for (unsigned i = 0; i < 12; i++) {
		struct step step = step_of(i), same = step_of(i);

		observe(straight, &same);
		reveal(straight, &same);
		train(straight, 5);
		observe(learner, &step);
		reveal(learner, &step);
		train(learner, 4);
		test.forward_fails = 2 + (int)i % 3; /* the step's pass is the first */
		failed += retain_learner_train(learner, 1, &err) != 0;
		test.forward_fails = 0;
		retain_learner_close(learner);
		learner = net_learner(&test, in_folder("f"), NULL);
		while (metrics_of(learner).iterations < 5 * ((int)i + 1))
			train(learner, 1);
	}
	assert_true(failed >= 4);
	assert_int_equal(metrics_of(learner).iterations, metrics_of(straight).iterations);
	assert_float_equal(
		metrics_of(learner).learning_rate, metrics_of(straight).learning_rate, 0);
	save(learner, RETAIN_WEIGHTS_SERVING, "a");
	save(straight, RETAIN_WEIGHTS_SERVING, "b");
	assert_same_file("a", "b");
	end(learner, &test);
	end(straight, &sound);
	remove_all(in_folder("f"));
}

static void a_net_that_cannot_be_is_refused(void **state)
{
	struct net_test test = {.make_fails = 1};
	struct retain_learner *learner;
	struct retain_err err = {0};

	(void)state;
	assert_int_equal(try_net(&learner, "plain-c", &test, NULL, NULL, &err), RETAIN_ERR_MEMORY);
	assert_string_equal(err.message, "net:plain-c: making the net: no room on the device");
	assert_null(learner);
	test = (struct net_test){.hidden_shape = -2};
	assert_int_equal(try_net(&learner, "plain-c", &test, NULL, NULL, &err), RETAIN_ERR_INPUT);
	assert_says(err, "net:plain-c: parameter '0.weight' has size -2");
	test = (struct net_test){.head = "0"};
	assert_int_equal(try_net(&learner, "plain-c", &test, NULL, NULL, &err), RETAIN_ERR_INPUT);
	assert_says(err, "two parameters named '0.weight'");
	assert_int_equal(test.made, test.freed);
}

/* Classes come with their labels: the maker is asked for a larger net. */
static void classes_grow(void **state)
{
	const char *const *growing = SETTINGS("model.classes", "auto");
	struct net_test test = {.features = 1, .keeps = *state != NULL};
	struct retain_learner *own = learner_of(growing),
			      *net = net_learner(&test, in_folder("f"), growing), *learner;
	struct retain_err err = {0};
	struct retain_shape shape;

	for (unsigned i = 0; i < 12; i++) {
		struct step a = step_of(i), b;

		for (int k = 0; k < N; k++)
			a.labels[k] %= 1 + (int)i / 3;
		b = a;
		observe(own, &a);
		observe(net, &b);
		reveal(own, &a);
		reveal(net, &b);
		if (!i) {
			save(own, RETAIN_WEIGHTS_PLAIN, "first");
			assert_ok(retain_learner_load_weights(net, in_folder("first"), &err), err);
		}
		train(own, RETAIN_BUDGET);
		train(net, RETAIN_BUDGET);
		assert_float_equal(metrics_of(own).loss, metrics_of(net).loss, 1e-4);
	}
	assert_ok(retain_learner_shape(net, &shape, &err), err);
	assert_int_equal(shape.classes, 4);
	save(net, RETAIN_WEIGHTS_SERVING, "a");
	end(net, &test);
	/* The closed folder opens as large as it was. */
	net = net_learner(&test, in_folder("f"), growing);
	save(net, RETAIN_WEIGHTS_SERVING, "b");
	assert_same_file("a", "b");
	end(net, &test);
	retain_learner_close(own);
	remove_all(in_folder("f"));

	/* One that becomes another is refused, and the learner goes on. */
	learner = net_learner(&test, NULL, growing);
	for (int classes = 2; classes < 4; classes++) {
		struct step step = step_of(0);

		for (int k = 0; k < N; k++)
			step.labels[k] %= classes;
		observe(learner, &step);
		test.hidden_shape = classes == 3 ? NET_HIDDEN + 1 : 0;
		if (classes == 3) {
			assert_int_equal(
				retain_learner_reveal(learner, step.ticket, step.labels, N, &err),
				RETAIN_ERR_INPUT);
			assert_says(err, "net:plain-c for 3 classes: tensor '2.weight'");
			test.hidden_shape = 0;
		}
		reveal(learner, &step);
		train(learner, 3);
	}
	assert_int_equal(metrics_of(learner).samples, 2 * N);
	end(learner, &test);
}

/* The tensors of saved weights: behind the header, in the order of the list. */
static void read_layers(
	const char *name, float *first, size_t first_floats, float *rest, size_t floats)
{
	size_t size;
	char *bytes = bytes_of(name, &size);
	uint64_t header;

	memcpy(&header, bytes, sizeof(header));
	assert_true(size >= sizeof(header) + header + (first_floats + floats) * sizeof(float));
	memcpy(first, bytes + sizeof(header) + header, first_floats * sizeof(float));
	memcpy(rest, bytes + sizeof(header) + header + first_floats * sizeof(float),
		floats * sizeof(float));
	free(bytes);
}

static void frozen_tensors_stand_still(void **state)
{
	enum { FIRST = NET_HIDDEN * DIM + NET_HIDDEN, REST = NET_HIDDEN * CLASSES };
	static const char *const methods[] = {"ama+malr", "schedule-free+recency+fast", "mir"};
	struct net_test test = {.frozen = 1, .keeps = *state != NULL};

	for (size_t m = 0; m < COUNT(methods); m++) {
		struct retain_learner *learner = net_learner(
			&test, NULL, SETTINGS("run.method", methods[m], "model.scale", "off"));
		float first[2][FIRST], rest[2][REST];

		save(learner, RETAIN_WEIGHTS_SERVING, "a");
		go(learner, 5);
		save(learner, RETAIN_WEIGHTS_SERVING, "b");
		read_layers("a", first[0], FIRST, rest[0], REST);
		read_layers("b", first[1], FIRST, rest[1], REST);
		assert_true(first[0][0] != 0);
		assert_memory_equal(first[0], first[1], sizeof(first[0]));
		assert_memory_not_equal(rest[0], rest[1], sizeof(rest[0]));
		end(learner, &test);
	}
}

/* Others ask while it trains: they have a net of their own. */
static void predictions_go_on_beside_training(void **state)
{
	struct net_test test = {.keeps = *state != NULL};
	struct retain_learner *learner = net_learner(&test, in_folder("f"), NULL);

	go_while_asked(learner, 10);
	end(learner, &test);
	remove_all(in_folder("f"));
}

/* Nothing is read or written in steps, but a failed one cannot be undone. */
static void vectors_stay_where_they_are(void **state)
{
	struct net_test test = {.features = 1, .keeps = 1};
	const char *const *settings = SETTINGS("run.method", "ama+malr+fast", "run.micro_batch",
		"5", "run.checkpoint_every", "never");
	struct retain_learner *learner = net_learner(&test, in_folder("f"), settings);
	struct step step = step_of(4);
	struct retain_err err = {0};
	long long before;

	(void)state;
	go(learner, 1);
	before = test.crossed;
	assert_true(before > 0);
	go(learner, 3);
	assert_true(test.crossed == before);
	assert_true(test.batch_passes > 0);
	test.step_fails = 1;
	observe(learner, &step);
	reveal(learner, &step);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(retain_learner_train(learner, 1, &err), RETAIN_ERR_MEMORY);
		assert_string_equal(err.message,
			"vectors: step: no room for a step; the weights in "
			"memory are lost: open the learner again");
	}
	assert_true(retain_learner_save_weights(
			    learner, RETAIN_WEIGHTS_PLAIN, in_folder("a"), &err) < 0);
	retain_learner_close(learner);
	learner = net_learner(&test, in_folder("f"), settings);
	assert_int_equal(metrics_of(learner).steps, 5);
	train(learner, 3);
	end(learner, &test);
	remove_all(in_folder("f"));
}

/* The same with vectors in the library's memory, and kept by the program. */
static int kept = 1;
#define BOTH(test)                                                                                 \
	folder_test(test),                                                                         \
		cmocka_unit_test_prestate_setup_teardown(test, folder_make, folder_remove, &kept)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(it_agrees_with_the_same_net_of_the_library),
		folder_test(ewc_needs_the_weights),
		folder_test(heads_need_features),
		BOTH(killed_it_comes_to_the_same_bits),
		folder_test(a_folder_keeps_to_its_net),
		BOTH(failures_are_told_and_lose_nothing),
		BOTH(a_validation_that_failed_is_made_up_for),
		BOTH(a_validation_that_failed_is_made_up_for_after_a_restart),
		folder_test(a_net_that_cannot_be_is_refused),
		BOTH(classes_grow),
		BOTH(frozen_tensors_stand_still),
		BOTH(predictions_go_on_beside_training),
		folder_test(vectors_stay_where_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
