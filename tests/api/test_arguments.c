/*
 * What every function refuses, by its name and the argument's: NULL, lengths that do
 * not fit, a learner in a child of fork. tests/api/exports sees to it that none is
 * missing here.
 */
#include "learner.h"

#include <math.h>
#include <sys/wait.h>

/* Everything that functions are called with. */
static struct retain_config *config;
static struct retain_learner *learner;
static struct retain_model *model;
static struct step step;
static struct retain_err err;

static struct retain_key key;
static struct retain_shape shape;
static struct retain_metrics metrics;
static const char *text;
static size_t count;
static float probabilities[N * CLASSES];

static int make(void **state)
{
	struct retain_learner *made;

	(void)state;
	if (folder_make(NULL))
		return -1;
	config = retain_config_new();
	learner = open_in("run", SETTINGS("engine.threads", "2", "model.scale", "off"));
	made = learner_of(SETTINGS("model.scale", "off"));
	assert_ok(
		retain_learner_save_weights(made, RETAIN_WEIGHTS_PLAIN, in_folder("w"), &err), err);
	retain_learner_free(made);
	assert_ok(retain_model_open(&model, in_folder("w"), &err), err);
	step = step_of(1);
	observe(learner, &step);
	return 0;
}

static int end(void **state)
{
	retain_learner_free(learner);
	retain_model_close(model);
	retain_config_free(config);
	return tree_remove(state);
}
#define made_test(f) cmocka_unit_test_setup_teardown(f, make, end)

/* The call was refused with a sentence that begins with its function's name and goes on so. */
static void refused(int code, int expected, const char *call, const char *words)
{
	char sentence[600];

	snprintf(sentence, sizeof(sentence), "%.*s: %s", (int)strcspn(call, "("), call, words);
	if (code != expected || err.code != code ||
		strncmp(err.message, sentence, strlen(sentence)) != 0)
		fail_msg("%s returned %d, \"%s\"", call, code, err.message);
	err = (struct retain_err){0};
}
#define NO(argument, call)    refused(call, RETAIN_ERR_INPUT, #call, argument " is NULL")
#define WRONG(call, sentence) refused(call, RETAIN_ERR_INPUT, #call, sentence)

#define INPUTS      step.inputs[0], N *DIM
#define PREDICTIONS step.predictions, N
#define NUMBERS     numbers, N
#define NOTHING     NULL, 0

static struct retain_number numbers[N];

static int no_net(void *context, const struct retain_shape *asked, struct retain_net *net,
	struct retain_err *why)
{
	(void)context;
	(void)asked;
	(void)net;
	(void)why;
	return RETAIN_ERR_STATE;
}

static void null_is_refused(void **state)
{
	const struct retain_vectors none = {0};

	(void)state;
	NO("config", retain_config_load(NULL, "x", &err));
	NO("path", retain_config_load(config, NULL, &err));
	NO("config", retain_config_set(NULL, "run.seed", "1", &err));
	NO("key", retain_config_set(config, NULL, "1", &err));
	NO("value", retain_config_set(config, "run.seed", NULL, &err));
	NO("config", retain_config_get(NULL, "run.seed", &text, &err));
	NO("key", retain_config_get(config, NULL, &text, &err));
	NO("value", retain_config_get(config, "run.seed", NULL, &err));
	NO("config", retain_config_count(NULL, &count, &err));
	NO("count", retain_config_count(config, NULL, &err));
	NO("config", retain_config_key(NULL, 0, &key, &err));
	NO("key", retain_config_key(config, 0, NULL, &err));
	NO("config", retain_config_on_warning(NULL, NULL, NULL, &err));
	NO("config", retain_config_on_progress(NULL, NULL, NULL, &err));
	NO("config", retain_config_on_net(NULL, "x", no_net, NULL, &err));
	NO("name", retain_config_on_net(config, NULL, no_net, NULL, &err));
	NO("make", retain_config_on_net(config, "x", NULL, NULL, &err));
	NO("config", retain_config_on_vectors(NULL, &none, &err));
	NO("vectors", retain_config_on_vectors(config, NULL, &err));
	WRONG(retain_config_on_vectors(config, &none, &err),
		"a function of struct retain_vectors is NULL");
	WRONG(retain_config_on_net(config, "a b", no_net, NULL, &err), "name = a b: must be");
	WRONG(retain_config_on_net(config, "", no_net, NULL, &err), "name = : must be");

	NO("learner", retain_learner_new(NULL, config, &err));
	NO("learner", retain_learner_new(NULL, NULL, &err));
}

static void null_is_refused_by_learners(void **state)
{
	struct retain_learner *other = learner;
	struct retain_version version;
	char name[72];
	size_t there;

	(void)state;
	NO("learner", retain_learner_open(NULL, config, "x", &err));
	NO("folder", retain_learner_open(&other, config, NULL, &err));
	assert_null(other);
	NO("folder", retain_learner_open(&other, NULL, NULL, &err));
	NO("learner", retain_learner_save(NULL, &err));
	NO("learner", retain_learner_backup(NULL, "x", &err));
	NO("to", retain_learner_backup(learner, NULL, &err));
	NO("learner", retain_learner_make_version(NULL, "x", &err));
	NO("name", retain_learner_make_version(learner, NULL, &err));
	NO("learner", retain_learner_serve(NULL, "x", &err));
	NO("learner", retain_learner_serving(NULL, name, sizeof(name), &err));
	NO("name", retain_learner_serving(learner, NULL, 0, &err));
	NO("folder", retain_versions(NULL, &version, 1, &there, &err));
	NO("versions", retain_versions("x", NULL, 1, &there, &err));
	NO("count", retain_versions("x", &version, 1, NULL, &err));
	NO("folder", retain_version_drop(NULL, "x", &err));
	NO("name", retain_version_drop("x", NULL, &err));
	NO("learner", retain_learner_encode(NULL, "{}", 2, NOTHING, &err));
	NO("row", retain_learner_encode(learner, NULL, 2, NOTHING, &err));
	NO("learner", retain_learner_pack(NULL, "x", &err));
	NO("path", retain_learner_pack(learner, NULL, &err));
	NO("learner", retain_learner_unpack(NULL, config, "x", &err));
	NO("path", retain_learner_unpack(&other, config, NULL, &err));
	NO("learner", retain_learner_shape(NULL, &shape, &err));
	NO("shape", retain_learner_shape(learner, NULL, &err));
	NO("learner", retain_learner_class(NULL, "a", &step.labels[0], &err));
	NO("name", retain_learner_class(learner, NULL, &step.labels[0], &err));
	NO("label", retain_learner_class(learner, "a", NULL, &err));
	NO("learner", retain_learner_class_name(NULL, 0, &text, &err));
	NO("name", retain_learner_class_name(learner, 0, NULL, &err));
	NO("learner", retain_learner_predict(NULL, INPUTS, PREDICTIONS, NOTHING, &err));
	NO("inputs", retain_learner_predict(learner, NOTHING, PREDICTIONS, NOTHING, &err));
	NO("predictions", retain_learner_predict(learner, INPUTS, NOTHING, NOTHING, &err));
	NO("learner",
		retain_learner_predict_for(NULL, RETAIN_NOW, INPUTS, PREDICTIONS, NOTHING, &err));
	NO("inputs", retain_learner_predict_for(
			     learner, RETAIN_NOW, NOTHING, PREDICTIONS, NOTHING, &err));
	NO("predictions",
		retain_learner_predict_for(learner, RETAIN_NOW, INPUTS, NOTHING, NOTHING, &err));
	NO("learner", retain_learner_encode(NULL, "{}", 2, step.inputs[0], DIM, &err));
	NO("row", retain_learner_encode(learner, NULL, 2, step.inputs[0], DIM, &err));
	NO("learner", retain_learner_encode_known(NULL, "{}", 2, step.inputs[0], DIM, &err));
	NO("row", retain_learner_encode_known(learner, NULL, 2, step.inputs[0], DIM, &err));
	NO("input", retain_learner_encode_known(learner, "{}", 2, NOTHING, &err));
	NO("learner", retain_learner_observe(NULL, INPUTS, PREDICTIONS, &step.ticket, &err));
	NO("inputs", retain_learner_observe(learner, NOTHING, PREDICTIONS, &step.ticket, &err));
	NO("predictions", retain_learner_observe(learner, INPUTS, NOTHING, &step.ticket, &err));
	NO("ticket", retain_learner_observe(learner, INPUTS, PREDICTIONS, NULL, &err));
	NO("learner", retain_learner_reveal(NULL, step.ticket, step.labels, N, &err));
	NO("labels", retain_learner_reveal(learner, step.ticket, NULL, N, &err));
	NO("learner", retain_learner_predict_numbers(NULL, RETAIN_NOW, INPUTS, NUMBERS, &err));
	NO("inputs", retain_learner_predict_numbers(learner, RETAIN_NOW, NOTHING, NUMBERS, &err));
	NO("numbers", retain_learner_predict_numbers(learner, RETAIN_NOW, INPUTS, NOTHING, &err));
	NO("learner", retain_learner_observe_numbers(NULL, INPUTS, NUMBERS, &step.ticket, &err));
	NO("inputs", retain_learner_observe_numbers(learner, NOTHING, NUMBERS, &step.ticket, &err));
	NO("numbers", retain_learner_observe_numbers(learner, INPUTS, NOTHING, &step.ticket, &err));
	NO("ticket", retain_learner_observe_numbers(learner, INPUTS, NUMBERS, NULL, &err));
	NO("learner", retain_learner_reveal_weighted(
			      NULL, step.ticket, step.labels, N, step.inputs[0], N, &err));
	NO("labels", retain_learner_reveal_weighted(
			     learner, step.ticket, NULL, N, step.inputs[0], N, &err));
	NO("weights", retain_learner_reveal_weighted(
			      learner, step.ticket, step.labels, N, NULL, N, &err));
	NO("weights", retain_learner_reveal_numbers_weighted(
			      learner, step.ticket, step.inputs[0], N, NULL, N, &err));
	NO("learner", retain_learner_reveal_numbers(NULL, step.ticket, step.inputs[0], N, &err));
	NO("labels", retain_learner_reveal_numbers(learner, step.ticket, NULL, N, &err));
	NO("learner", retain_learner_drop(NULL, step.ticket, &err));
	NO("learner", retain_learner_train(NULL, 1, &err));
	NO("learner", retain_learner_metrics(NULL, &metrics, &err));
	NO("metrics", retain_learner_metrics(learner, NULL, &err));
	NO("learner", retain_learner_save_weights(NULL, RETAIN_WEIGHTS_PLAIN, "x", &err));
	NO("path", retain_learner_save_weights(learner, RETAIN_WEIGHTS_PLAIN, NULL, &err));
	NO("learner", retain_learner_load_weights(NULL, "x", &err));
	NO("path", retain_learner_load_weights(learner, NULL, &err));
	/* Nothing of this was a time step, and the ticket is still good. */
	reveal(learner, &step);
	assert_int_equal(metrics_of(learner).steps, 1);
}

static void null_is_refused_by_models(void **state)
{
	struct retain_model *other = model;

	(void)state;
	NO("model", retain_model_open(NULL, "x", &err));
	NO("path", retain_model_open(&other, NULL, &err));
	assert_null(other);
	NO("model", retain_model_encode(NULL, "{}", 2, probabilities, 1, &err));
	NO("row", retain_model_encode(model, NULL, 2, probabilities, 1, &err));
	NO("model", retain_model_shape(NULL, &shape, &err));
	NO("shape", retain_model_shape(model, NULL, &err));
	NO("model", retain_model_class_name(NULL, 0, &text, &err));
	NO("name", retain_model_class_name(model, 0, NULL, &err));
	NO("model", retain_model_numbers(NULL, &text, &err));
	NO("names", retain_model_numbers(model, NULL, &err));
	NO("model", retain_model_encode(NULL, "{}", 2, step.inputs[0], DIM, &err));
	NO("row", retain_model_encode(model, NULL, 2, step.inputs[0], DIM, &err));
	NO("input", retain_model_encode(model, "{}", 2, NULL, DIM, &err));
	NO("model", retain_model_predict(NULL, INPUTS, PREDICTIONS, NOTHING, &err));
	NO("model", retain_model_predict_numbers(NULL, INPUTS, NUMBERS, &err));
	NO("inputs", retain_model_predict_numbers(model, NOTHING, NUMBERS, &err));
	NO("numbers", retain_model_predict_numbers(model, INPUTS, NOTHING, &err));
	NO("inputs", retain_model_predict(model, NOTHING, PREDICTIONS, NOTHING, &err));
	NO("predictions", retain_model_predict(model, INPUTS, NOTHING, NOTHING, &err));
}

static void null_is_refused_by_guides(void **state)
{
	struct retain_guide *guide;
	struct retain_verdict verdict;
	struct retain_due due;

	(void)state;
	assert_ok(retain_guide_new(&guide, NULL, 0, &err), err);
	NO("guide", retain_guide_new(NULL, config, 0, &err));
	WRONG(retain_guide_new(&(struct retain_guide *){0}, config, -1, &err), "iterations = -1: ");
	NO("guide", retain_guide_due(NULL, &due, &err));
	NO("due", retain_guide_due(guide, NULL, &err));
	NO("guide", retain_guide_done(NULL, NULL, 0, &verdict, &err));
	NO("verdict", retain_guide_done(guide, NULL, 0, NULL, &err));
	NO("guide", retain_guide_task(NULL, 1, &err));
	NO("guide", retain_guide_pack(NULL, NULL, &count, &err));
	NO("size", retain_guide_pack(guide, NULL, NULL, &err));
	NO("guide", retain_guide_unpack(NULL, "x", 1, &err));
	NO("bytes", retain_guide_unpack(guide, NULL, 1, &err));
	retain_guide_free(guide);
}

static void null_is_refused_by_memories(void **state)
{
	struct retain_memory *memory;
	struct retain_memory_facts facts;
	struct retain_item item = {NULL, 1, 0, 0};
	int64_t id = 0;

	(void)state;
	assert_ok(retain_memory_open(&memory, NULL, NULL, &err), err);
	NO("memory", retain_memory_open(NULL, config, "x", &err));
	NO("memory", retain_memory_reader(NULL, "x", &err));
	NO("folder", retain_memory_reader(&(struct retain_memory *){0}, NULL, &err));
	NO("memory", retain_memory_add(NULL, &item, 1, &id, &err));
	NO("items", retain_memory_add(memory, NULL, 1, &id, &err));
	NO("first", retain_memory_add(memory, &item, 1, NULL, &err));
	WRONG(retain_memory_add(memory, &item, 1, &id, &err), "item 0: bytes is NULL");
	WRONG(retain_memory_add(memory, &item, 0, &id, &err), "count = 0: must be 1 to ");
	NO("memory", retain_memory_task(NULL, &err));
	NO("memory", retain_memory_draw(NULL, 1, &id, NULL, NULL, 1, &count, &err));
	NO("ids", retain_memory_draw(memory, 1, NULL, NULL, NULL, 1, &count, &err));
	NO("drawn", retain_memory_draw(memory, 1, &id, NULL, NULL, 1, NULL, &err));
	WRONG(retain_memory_draw(memory, -1, &id, NULL, NULL, 1, &count, &err), "iteration = -1: ");
	WRONG(retain_memory_draw(memory, 1, &id, NULL, NULL, 65537, &count, &err),
		"count = 65537: must be 1 to 65536");
	NO("memory", retain_memory_draw_held(NULL, 1, &id, 1, &count, &err));
	NO("ids", retain_memory_draw_held(memory, 1, NULL, 1, &count, &err));
	NO("drawn", retain_memory_draw_held(memory, 1, &id, 1, NULL, &err));
	NO("memory", retain_memory_read(NULL, &id, 1, NULL, 0, &count, NULL, &err));
	NO("ids", retain_memory_read(memory, NULL, 1, NULL, 0, &count, NULL, &err));
	NO("offsets", retain_memory_read(memory, &id, 1, NULL, 0, NULL, NULL, &err));
	NO("memory", retain_memory_facts(NULL, &facts, &err));
	NO("facts", retain_memory_facts(memory, NULL, &err));
	NO("memory", retain_memory_mark(NULL, &id, &err));
	NO("mark", retain_memory_mark(memory, NULL, &err));
	NO("memory", retain_memory_back(NULL, 1, &err));
	retain_memory_close(memory);
}

static void null_is_refused_by_records(void **state)
{
	struct retain_record *record;
	struct retain_guide *guide;
	struct retain_verdict verdict = {0};
	struct retain_spent spent = {.moves = -1};
	struct retain_record_metrics now;
	const struct retain_record_plan bare = {.bins = 1};
	const int32_t label = 0;
	double left;

	(void)state;
	assert_ok(retain_guide_new(&guide, NULL, 0, &err), err);
	assert_ok(retain_record_open(&record, NULL, NULL, NULL, &err), err);
	NO("record", retain_record_open(NULL, NULL, NULL, NULL, &err));
	WRONG(retain_record_open(&(struct retain_record *){0}, NULL, NULL, &bare, &err),
		"bins = 1: must be");
	NO("record", retain_record_step(NULL, &label, 1, &label, 1, &err));
	NO("predictions", retain_record_step(record, NULL, 1, &label, 1, &err));
	NO("labels", retain_record_step(record, &label, 1, NULL, 1, &err));
	WRONG(retain_record_step(record, &label, 6, &label, 1, &err), "each = 6: must be 1 to 5");
	WRONG(retain_record_step(record, &label, 1, &label, 0, &err), "count = 0: must be 1 to ");
	NO("record", retain_record_spent(NULL, &spent, &err));
	NO("spent", retain_record_spent(record, NULL, &err));
	WRONG(retain_record_spent(record, &spent, &err), "spent: a number is negative");
	NO("record", retain_record_left(NULL, &left, &err));
	NO("iterations", retain_record_left(record, NULL, &err));
	NO("record", retain_record_verdict(NULL, guide, &verdict, &err));
	NO("guide", retain_record_verdict(record, NULL, &verdict, &err));
	NO("verdict", retain_record_verdict(record, guide, NULL, &err));
	NO("record", retain_record_evaluate(NULL, guide, 0, NULL, 0, &err));
	WRONG(retain_record_evaluate(record, guide, 0, NULL, 1, &err),
		"bins = 1: the record has 0");
	NO("record", retain_record_metrics(NULL, &now, &err));
	NO("metrics", retain_record_metrics(record, NULL, &err));
	NO("record", retain_record_save(NULL, &err));
	NO("record", retain_record_pack(NULL, NULL, &count, &err));
	NO("size", retain_record_pack(record, NULL, NULL, &err));
	NO("record", retain_record_unpack(NULL, "x", 1, &err));
	NO("bytes", retain_record_unpack(record, NULL, 1, &err));
	NO("record", retain_record_finish(NULL, 0, &err));
	retain_record_close(record);
	retain_guide_free(guide);
}

/* What ends an object has nothing to end; the code alone is enough. */
static void null_is_allowed(void **state)
{
	(void)state;
	retain_config_free(NULL);
	retain_learner_close(NULL);
	retain_learner_free(NULL);
	retain_model_close(NULL);
	retain_guide_free(NULL);
	retain_memory_close(NULL);
	retain_record_close(NULL);
	assert_int_equal(retain_config_set(config, "no.such", "1", NULL), RETAIN_ERR_INPUT);
	assert_int_equal(retain_config_set(NULL, "run.seed", "1", NULL), RETAIN_ERR_INPUT);
	assert_int_equal(retain_learner_train(NULL, 1, NULL), RETAIN_ERR_INPUT);
	assert_int_equal(
		retain_model_open(&(struct retain_model *){0}, "/none", NULL), RETAIN_ERR_FILE);
	assert_string_equal(retain_err_name(RETAIN_ERR_INPUT), "bad input");
	assert_string_equal(retain_version(), RETAIN_VERSION);
}

static void wrong_lengths_are_refused(void **state)
{
	static const float weights_wrong[] = {-1, NAN, INFINITY, 2e6f};
	const float *inputs = step.inputs[0];
	float weights[N] = {0};

	(void)state;
	assert_ok(retain_learner_shape(learner, &shape, &err), err);
	assert_true(shape.channels == DIM && shape.height == 1 && shape.width == 1);
	assert_true(shape.floats == DIM && shape.classes == CLASSES);
	WRONG(retain_learner_predict(learner, inputs, 0, step.predictions, 0, NOTHING, &err),
		"count = 0: must be 1 to 2147483647");
	WRONG(retain_learner_predict(
		      learner, inputs, DIM, step.predictions, SIZE_MAX, NOTHING, &err),
		"count = 18446744073709551615: ");
	WRONG(retain_learner_predict(learner, inputs, N * DIM - 1, PREDICTIONS, NOTHING, &err),
		"input_floats = 95: must be count = 16 times 6, the numbers of an input (6, 1, 1)");
	WRONG(retain_learner_predict(learner, inputs, N * DIM + DIM, PREDICTIONS, NOTHING, &err),
		"input_floats = 102: ");
	WRONG(retain_learner_predict(learner, inputs, 0, PREDICTIONS, NOTHING, &err),
		"input_floats = 0: ");
	WRONG(retain_learner_predict(learner, INPUTS, PREDICTIONS, NULL, N * CLASSES, &err),
		"probability_floats = 64: must be 0 where probabilities is NULL");
	WRONG(retain_learner_predict(learner, INPUTS, PREDICTIONS, probabilities, 0, &err),
		"probability_floats = 0: must be count = 16 times 4 classes");
	WRONG(retain_learner_predict(learner, INPUTS, PREDICTIONS, probabilities, 63, &err),
		"probability_floats = 63: ");
	WRONG(retain_learner_predict_for(
		      learner, (enum retain_question)2, INPUTS, PREDICTIONS, NOTHING, &err),
		"question = 2: there is no such question");
	WRONG(retain_learner_observe(learner, inputs, DIM, PREDICTIONS, &step.ticket, &err),
		"input_floats = 6: ");
	WRONG(retain_learner_observe(learner, inputs, 0, step.predictions, 0, &step.ticket, &err),
		"count = 0: ");
	WRONG(retain_learner_reveal(learner, step.ticket, step.labels, N - 1, &err),
		"count = 15: ticket ");
	WRONG(retain_learner_reveal(learner, step.ticket, step.labels, N + 1, &err),
		"count = 17: ticket ");
	WRONG(retain_learner_reveal_weighted(
		      learner, step.ticket, step.labels, N, weights, N - 1, &err),
		"weight_count = 15: ticket ");
	for (size_t i = 0; i < sizeof(weights_wrong) / sizeof(*weights_wrong); i++) {
		weights[N - 1] = weights_wrong[i];
		WRONG(retain_learner_reveal_weighted(
			      learner, step.ticket, step.labels, N, weights, N, &err),
			"weight ");
	}
	WRONG(retain_learner_train(learner, -2, &err), "iterations = -2: must be at least 0");
	WRONG(retain_model_predict(model, inputs, DIM, PREDICTIONS, NOTHING, &err),
		"input_floats = 6: ");
	WRONG(retain_model_predict(model, inputs, 0, step.predictions, 0, NOTHING, &err),
		"count = 0: ");
	WRONG(retain_model_predict(model, INPUTS, PREDICTIONS, probabilities, 1, &err),
		"probability_floats = 1: ");
	reveal(learner, &step);
	assert_int_equal(metrics_of(learner).samples, N);
	train(learner, 0);
}

static void numbers_must_be_finite(void **state)
{
	static const float bad[] = {NAN, INFINITY, -INFINITY};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct step other = step_of(2);

		other.inputs[3][2] = bad[i];
		WRONG(retain_learner_predict(
			      learner, other.inputs[0], N * DIM, PREDICTIONS, NOTHING, &err),
			"inputs: number 2 of input 3 is ");
		WRONG(retain_learner_observe(
			      learner, other.inputs[0], N * DIM, PREDICTIONS, &other.ticket, &err),
			"inputs: number 2 of input 3 is ");
		WRONG(retain_model_predict(
			      model, other.inputs[0], N * DIM, PREDICTIONS, NOTHING, &err),
			"inputs: number 2 of input 3 is ");
	}
}

/* Where inputs are scaled, they are missing values: as good as the mean. */
static void numbers_may_be_missing(void **state)
{
	static const float missing[] = {NAN, INFINITY, -INFINITY};
	struct retain_learner *scaling = learner_of(NULL);
	struct retain_model *scaled;
	struct step first = step_of(0), same[COUNT(missing)];

	(void)state;
	go(scaling, 6);
	for (size_t i = 0; i < COUNT(missing); i++) {
		same[i] = step_of(2);
		same[i].inputs[3][2] = missing[i];
		observe(scaling, &same[i]);
		assert_same_predictions(&same[i], &same[0]);
	}
	assert_ok(
		retain_learner_save_weights(scaling, RETAIN_WEIGHTS_SERVING, in_folder("s"), &err),
		err);
	assert_ok(retain_model_open(&scaled, in_folder("s"), &err), err);
	assert_ok(retain_model_predict(
			  scaled, same[0].inputs[0], N * DIM, first.predictions, N, NOTHING, &err),
		err);
	assert_same_predictions(&first, &same[0]);
	assert_ok(retain_learner_predict(
			  scaling, same[0].inputs[0], N * DIM, first.predictions, N, NOTHING, &err),
		err);
	assert_same_predictions(&first, &same[0]);
	reveal(scaling, &same[0]);
	train(scaling, 20);
	assert_true(isfinite(metrics_of(scaling).loss));
	retain_model_close(scaled);
	retain_learner_free(scaling);
}

#define CHILD(call) refused(call, RETAIN_ERR_STATE, #call, "the learner belongs to process ")

/* Every function, in a process that did not make the learner. */
static void refuse_in_child(struct retain_learner *theirs)
{
	char name[72];

	CHILD(retain_learner_save(theirs, &err));
	CHILD(retain_learner_backup(theirs, in_folder("x"), &err));
	CHILD(retain_learner_make_version(theirs, "x", &err));
	CHILD(retain_learner_serve(theirs, "x", &err));
	CHILD(retain_learner_serving(theirs, name, sizeof(name), &err));
	CHILD(retain_learner_encode(theirs, "{}", 2, NOTHING, &err));
	CHILD(retain_learner_encode_known(theirs, "{}", 2, step.inputs[0], DIM, &err));
	CHILD(retain_learner_pack(theirs, in_folder("x"), &err));
	CHILD(retain_learner_shape(theirs, &shape, &err));
	CHILD(retain_learner_class(theirs, "a", &step.labels[0], &err));
	CHILD(retain_learner_class_name(theirs, 0, &text, &err));
	CHILD(retain_learner_predict(theirs, INPUTS, PREDICTIONS, NOTHING, &err));
	CHILD(retain_learner_predict_for(theirs, RETAIN_NOW, INPUTS, PREDICTIONS, NOTHING, &err));
	CHILD(retain_learner_observe(theirs, INPUTS, PREDICTIONS, &step.ticket, &err));
	CHILD(retain_learner_reveal(theirs, step.ticket, step.labels, N, &err));
	CHILD(retain_learner_drop(theirs, step.ticket, &err));
	CHILD(retain_learner_train(theirs, 1, &err));
	CHILD(retain_learner_metrics(theirs, &metrics, &err));
	CHILD(retain_learner_save_weights(theirs, RETAIN_WEIGHTS_PLAIN, in_folder("x"), &err));
	CHILD(retain_learner_load_weights(theirs, in_folder("w"), &err));
}

/*
 * A child that ends the learner and lives on until it is told: meanwhile the parent goes
 * on, ends it too, and opens it again.
 */
static void a_child_changes_nothing(void **state)
{
	struct retain_learner *straight = learner_of(SETTINGS("model.scale", "off")),
			      *memory = learner_of(NULL);
	struct step last = step_of(9), again = last;
	int told[2], ended[2], status;
	char byte = 0;
	pid_t child;

	(void)state;
	reveal(learner, &step);
	assert_true(!pipe(told) && !pipe(ended));
	child = fork();
	if (!child) {
		close(told[1]);
		refuse_in_child(learner);
		refuse_in_child(memory);
		retain_learner_close(learner);
		retain_learner_free(memory);
		_exit(write(ended[1], &byte, 1) != 1 || read(told[0], &byte, 1) != 0);
	}
	assert_int_equal(read(ended[0], &byte, 1), 1);
	train(learner, RETAIN_BUDGET);
	go(learner, 3);
	retain_learner_close(learner);
	learner = open_in("run", NULL);
	go(learner, 3);
	close(told[1]);
	waitpid(child, &status, 0);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	close(told[0]);
	close(ended[0]);
	close(ended[1]);

	step = step_of(1);
	observe(straight, &step);
	reveal(straight, &step);
	train(straight, RETAIN_BUDGET);
	go(straight, 3);
	go(straight, 3);
	observe(learner, &last);
	observe(straight, &again);
	assert_same_predictions(&last, &again);
	retain_learner_free(straight);
	retain_learner_free(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		made_test(null_is_refused),
		made_test(null_is_refused_by_learners),
		made_test(null_is_refused_by_models),
		made_test(null_is_refused_by_guides),
		made_test(null_is_refused_by_memories),
		made_test(null_is_refused_by_records),
		made_test(null_is_allowed),
		made_test(wrong_lengths_are_refused),
		made_test(numbers_must_be_finite),
		made_test(numbers_may_be_missing),
		made_test(a_child_changes_nothing),
	};

	return cmocka_run_group_tests_name("arguments", tests, NULL, NULL);
}
