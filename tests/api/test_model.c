/*
 * Models: the bits of the learner that they come from, on any number of threads; and
 * files that are none, refused by name.
 */
#define _GNU_SOURCE 1 /* memmem */
#include "learner.h"

#include <sys/wait.h>

enum { THREADS = 4, ROUNDS = 50, MANY = 70 };

static struct retain_model *model_in(const char *name)
{
	struct retain_model *model;
	struct retain_err err;

	assert_ok(retain_model_open(&model, in_folder(name), &err), err);
	return model;
}

static void save(struct retain_learner *learner, const char *name)
{
	struct retain_err err;

	assert_ok(
		retain_learner_save_weights(learner, RETAIN_WEIGHTS_SERVING, in_folder(name), &err),
		err);
}

static void predict(struct retain_model *model, struct step *step)
{
	struct retain_err err;

	assert_ok(retain_model_predict(
			  model, step->inputs[0], N * DIM, step->predictions, N, NULL, 0, &err),
		err);
}

static void assert_refused(const char *name, int code, const char *words)
{
	struct retain_model *model = (void *)&code;
	struct retain_err err = {0};

	assert_int_equal(retain_model_open(&model, in_folder(name), &err), code);
	assert_null(model);
	assert_says(err, words);
}

static void it_predicts_as_its_learner(void **state)
{
	struct retain_learner *learner = learner_of(NULL);
	struct step a = step_of(7), b = a;
	float probabilities[N][CLASSES];
	struct retain_model *model;
	struct retain_shape shape;
	struct retain_err err;
	const char *name = "?";

	(void)state;
	go(learner, 10);
	save(learner, "w");
	model = model_in("w");
	remove(in_folder("w"));
	assert_ok(retain_model_shape(model, &shape, &err), err);
	assert_true(shape.channels == DIM && shape.height == 1 && shape.width == 1);
	assert_true(shape.floats == DIM && shape.classes == CLASSES);
	assert_ok(retain_model_class_name(model, 0, &name, &err), err);
	assert_null(name);
	observe(learner, &a);
	predict(model, &b);
	assert_same_predictions(&a, &b);
	/* What the learner learns from now on is not the model's. */
	go(learner, 10);
	retain_learner_free(learner);
	memset(b.predictions, 0, sizeof(b.predictions));
	assert_ok(retain_model_predict(model, b.inputs[0], N * DIM, b.predictions, N,
			  probabilities[0], N * CLASSES, &err),
		err);
	assert_same_predictions(&a, &b);
	for (int i = 0; i < N; i++)
		assert_true(
			probabilities[i][b.predictions[i].label] == b.predictions[i].probability);
	retain_model_close(model);
	retain_model_close(NULL);
}

/* Nets with statistics of their own, and with norms that have none. */
static void images_too(void **state)
{
	static const char *const norms[] = {"bn", "gn-ws"};
	enum { IMAGES = 3, FLOATS = 3 * 8 * 8 };
	float inputs[IMAGES][FLOATS];
	struct retain_prediction a[IMAGES], b[IMAGES];
	const int32_t labels[IMAGES] = {1, 3, 0};
	struct retain_ticket ticket;
	struct retain_shape shape;
	struct retain_err err;

	(void)state;
	for (int i = 0; i < IMAGES * FLOATS; i++)
		inputs[i / FLOATS][i % FLOATS] = (float)(i * 37 % 101) / 101;
	for (size_t n = 0; n < COUNT(norms); n++) {
		struct retain_learner *learner = learner_of(SETTINGS("model.input", "3,8,8",
			"model.arch", "resnet20-cifar", "model.norm", norms[n]));
		struct retain_model *model;

		assert_ok(retain_learner_observe(
				  learner, inputs[0], IMAGES * FLOATS, a, IMAGES, &ticket, &err),
			err);
		assert_ok(retain_learner_reveal(learner, ticket, labels, IMAGES, &err), err);
		train(learner, 3);
		assert_ok(retain_learner_observe(
				  learner, inputs[0], IMAGES * FLOATS, a, IMAGES, &ticket, &err),
			err);
		save(learner, "w");
		retain_learner_free(learner);
		model = model_in("w");
		assert_ok(retain_model_shape(model, &shape, &err), err);
		assert_true(shape.channels == 3 && shape.height == 8 && shape.width == 8);
		assert_int_equal(shape.floats, FLOATS);
		assert_ok(retain_model_predict(
				  model, inputs[0], IMAGES * FLOATS, b, IMAGES, NULL, 0, &err),
			err);
		assert_memory_equal(a, b, sizeof(a));
		retain_model_close(model);
	}
}

/* However many at a time, each is predicted as if it were alone. */
static void batches_of_any_size(void **state)
{
	struct retain_learner *learner = learner_of(NULL);
	static float inputs[MANY][DIM];
	struct retain_prediction all[MANY], one;
	struct retain_model *model;
	struct retain_err err;

	(void)state;
	go(learner, 10);
	save(learner, "w");
	retain_learner_free(learner);
	model = model_in("w");
	for (int i = 0; i < MANY; i++)
		memcpy(inputs[i], step_of((unsigned)i).inputs[0], sizeof(inputs[i]));
	assert_ok(
		retain_model_predict(model, inputs[0], MANY * DIM, all, MANY, NULL, 0, &err), err);
	for (int i = 0; i < MANY; i++) {
		assert_ok(retain_model_predict(model, inputs[i], DIM, &one, 1, NULL, 0, &err), err);
		assert_int_equal(one.label, all[i].label);
		assert_true(fabsf(one.probability - all[i].probability) < 1e-5f);
	}
	retain_model_close(model);
}

struct crowd {
	struct retain_model *model;
	struct step expected[2]; /* of all inputs, and of one */
	atomic_int wrong;
};

static void *predict_on_and_on(void *context)
{
	struct crowd *crowd = context;

	for (int i = 0; i < ROUNDS; i++) {
		const struct step *expected = &crowd->expected[i % 2];
		const size_t count = i % 2 ? 1 : N;
		struct step step = *expected;

		memset(step.predictions, 0, sizeof(step.predictions));
		if (retain_model_predict(crowd->model, step.inputs[0], count * DIM,
			    step.predictions, count, NULL, 0, NULL) ||
			memcmp(step.predictions, expected->predictions,
				count * sizeof(*step.predictions)) != 0)
			atomic_fetch_add(&crowd->wrong, 1);
	}
	return NULL;
}

/* A learner's folder, once it is closed; the learner goes on meanwhile. */
static void many_threads_at_a_time(void **state)
{
	struct retain_learner *learner = open_in("run", NULL);
	struct crowd crowd = {0};
	pthread_t threads[THREADS];
	struct retain_err err;

	(void)state;
	go(learner, 6);
	retain_learner_close(learner);
	crowd.model = model_in("run");
	learner = open_in("run", NULL);
	for (int i = 0; i < 2; i++)
		crowd.expected[i] = step_of(40 + (unsigned)i);
	predict(crowd.model, &crowd.expected[0]);
	assert_ok(retain_model_predict(crowd.model, crowd.expected[1].inputs[0], DIM,
			  crowd.expected[1].predictions, 1, NULL, 0, &err),
		err);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, predict_on_and_on, &crowd), 0);
	go(learner, 6);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(atomic_load(&crowd.wrong), 0);
	retain_learner_free(learner);
	retain_model_close(crowd.model);
}

/* A server that forks its workers opens a model once. */
static void a_child_may_use_it(void **state)
{
	struct retain_learner *learner = learner_of(NULL);
	struct step a = step_of(7), b = a;
	struct retain_model *model;
	int status;
	pid_t child;

	(void)state;
	save(learner, "w");
	retain_learner_free(learner);
	model = model_in("w");
	predict(model, &a);
	child = fork();
	if (!child) {
		predict(model, &b);
		retain_model_close(model);
		_exit(memcmp(a.predictions, b.predictions, sizeof(a.predictions)) != 0);
	}
	waitpid(child, &status, 0);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	retain_model_close(model);
}

static void write_bytes(const char *name, const char *bytes, size_t size)
{
	FILE *file = fopen(in_folder(name), "wb");

	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

/* The same file with its header's text changed at a place. */
static void rewrite(const char *from, const char *to, const char *words, const char *other)
{
	size_t size, header;
	char *bytes = bytes_of(from, &size), *at, *made;
	uint64_t length;

	memcpy(&length, bytes, sizeof(length));
	header = (size_t)length;
	at = memmem(bytes, size, words, strlen(words));
	assert_non_null(at);
	made = malloc(size + strlen(other) + 8);
	memcpy(made, bytes, (size_t)(at - bytes));
	strcpy(made + (at - bytes), other);
	memcpy(made + (at - bytes) + strlen(other), at + strlen(words),
		size - (size_t)(at - bytes) - strlen(words));
	length = header - strlen(words) + strlen(other);
	memcpy(made, &length, sizeof(length));
	write_bytes(to, made, size - strlen(words) + strlen(other));
	free(bytes);
	free(made);
}

static void names_of_classes(void **state)
{
	static const char *const names[CLASSES] = {"cat", "dog", "M\u00f6we", ""};
	struct retain_learner *learner = learner_of(NULL);
	struct retain_model *model;
	struct retain_err err = {0};
	const char *name;

	(void)state;
	save(learner, "w");
	retain_learner_free(learner);
	rewrite("w", "named", "\"retain.classes\"",
		"\"retain.class_names\":\"[\\\"cat\\\",\\\"dog\\\",\\\"M\u00f6we\\\",\\\"\\\"]\","
		"\"retain.classes\"");
	model = model_in("named");
	for (int i = 0; i < CLASSES; i++) {
		assert_ok(retain_model_class_name(model, i, &name, &err), err);
		assert_string_equal(name, names[i]);
	}
	assert_int_equal(retain_model_class_name(model, CLASSES, &name, &err), RETAIN_ERR_INPUT);
	assert_says(err, "retain_model_class_name: label = 4: must be 0 to 3");
	assert_int_equal(retain_model_class_name(model, -1, &name, &err), RETAIN_ERR_INPUT);
	retain_model_close(model);
}

/* A schema in the metadata makes inputs of rows; without one there are no names. */
static void rows_of_named_values(void **state)
{
	struct retain_learner *learner = learner_of(NULL);
	struct retain_model *model;
	struct retain_err err = {0};
	float input[DIM];
	static const char row[] = "{\"c\": \"x\", \"a\": 1.5, \"more\": 9}";

	(void)state;
	save(learner, "w");
	retain_learner_free(learner);
	model = model_in("w");
	assert_int_equal(
		retain_model_encode(model, row, strlen(row), input, DIM, &err), RETAIN_ERR_STATE);
	assert_says(err, "the model's inputs are numbers without names");
	retain_model_close(model);
	rewrite("w", "named", "\"retain.classes\"",
		"\"retain.schema\":\"{\\\"slots\\\":4,\\\"columns\\\":[{\\\"name\\\":\\\"a\\\","
		"\\\"kind\\\":\\\"number\\\"},{\\\"name\\\":\\\"b\\\",\\\"kind\\\":\\\"number\\\"},"
		"{\\\"name\\\":\\\"c\\\",\\\"kind\\\":\\\"category\\\",\\\"values\\\":"
		"[\\\"w\\\",\\\"x\\\"]}]}\",\"retain.classes\"");
	model = model_in("named");
	assert_ok(retain_model_encode(model, row, strlen(row), input, DIM, &err), err);
	assert_true(input[0] == 1.5f && isnan(input[1]) && input[2] == 0 && input[3] == 1);
	assert_int_equal(retain_model_encode(model, row, strlen(row), input, DIM + 1, &err),
		RETAIN_ERR_INPUT);
	assert_says(err, "retain_model_encode: floats = 7: an input has 6");
	assert_int_equal(retain_model_encode(model, "{\"a\": \"old\"}", 12, input, DIM, &err),
		RETAIN_ERR_INPUT);
	assert_says(err, "column a: old is not a number");
	assert_int_equal(
		retain_model_encode(model, "{\"a\": ", 6, input, DIM, &err), RETAIN_ERR_FORMAT);
	retain_model_close(model);
	/* One whose inputs are more than the net's. */
	rewrite("w", "wide", "\"retain.classes\"",
		"\"retain.schema\":\"{\\\"slots\\\":9,\\\"columns\\\":[{\\\"name\\\":\\\"a\\\","
		"\\\"kind\\\":\\\"category\\\"}]}\",\"retain.classes\"");
	assert_refused("wide", RETAIN_ERR_FORMAT, "its schema makes 9 inputs, its net takes 6");
}

static void what_is_no_model_is_refused(void **state)
{
	struct retain_learner *learner = open_in("run", NULL);
	size_t size;
	char *bytes;

	(void)state;
	go(learner, 1);
	assert_refused("run", RETAIN_ERR_FILE,
		"run: has no model.safetensors yet; it is written when the run ends or its learner "
		"is closed");
	save(learner, "w");
	retain_learner_free(learner);
	assert_refused("none", RETAIN_ERR_FILE, "none: ");
	assert_int_equal(mkdir(in_folder("empty"), 0777), 0);
	assert_refused("empty", RETAIN_ERR_FILE, "empty: holds no run");
	bytes = bytes_of("w", &size);
	for (size_t cut = 0; cut < size; cut += size / 7) {
		write_bytes("cut", bytes, cut);
		assert_refused("cut", RETAIN_ERR_FORMAT, "cut: ");
	}
	free(bytes);
	rewrite("w", "foreign", "__metadata__", "metadata____");
	assert_refused("foreign", RETAIN_ERR_FORMAT, "foreign: ");
	rewrite("w", "later", "mlp:8", "vit:8");
	assert_refused("later", RETAIN_ERR_INPUT, "vit:8");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		folder_test(it_predicts_as_its_learner),
		folder_test(images_too),
		folder_test(batches_of_any_size),
		tree_test(many_threads_at_a_time),
		folder_test(a_child_may_use_it),
		folder_test(names_of_classes),
		folder_test(rows_of_named_values),
		tree_test(what_is_no_model_is_refused),
	};

	return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
