/*
 * The functions of retain.h where memory runs out, and where they may take none: with
 * the library's inside, which counts allocations.
 */
#include "../base/check.h"
#include "../base/folder.h"

#include <retain.h>
#include "base/file.h"

enum { N = 4, DIM = 6, CLASSES = 4 };

static const float inputs[N][DIM] = {{1}, {0, 1}, {0, 0, 1}, {0, 0, 0, 1}};
static const int32_t labels[N] = {0, 1, 2, 3};

static struct retain_config *config_of(const char *arch, const char *input)
{
	const char *const settings[][2] = {{"model.classes", "4"}, {"model.input", input},
		{"model.arch", arch}, {"engine.threads", "1"}};
	struct retain_config *config = retain_config_new();
	struct retain_err err;

	for (size_t i = 0; i < COUNT(settings); i++)
		assert_ok(retain_config_set(config, settings[i][0], settings[i][1], &err), err);
	return config;
}

/* One of each call, until one fails. */
static int use(struct retain_learner *learner, struct retain_err *err)
{
	struct retain_prediction predictions[N];
	struct retain_ticket ticket;
	int code =
		retain_learner_observe(learner, inputs[0], N * DIM, predictions, N, &ticket, err);

	if (!code)
		code = retain_learner_reveal(learner, ticket, labels, N, err);
	if (!code)
		code = retain_learner_predict(
			learner, inputs[0], N * DIM, predictions, N, NULL, 0, err);
	if (!code)
		code = retain_learner_train(learner, 2, err);
	return code ? code
		    : retain_learner_predict(
			      learner, inputs[0], N * DIM, predictions, N, NULL, 0, err);
}

static int use_learner(void *context, struct err *err)
{
	struct retain_err *why = (struct retain_err *)err;
	struct retain_learner *learner;
	int code = retain_learner_new(&learner, context, why);

	if (!code)
		code = use(learner, why);
	retain_learner_free(learner);
	return code;
}

static void every_allocation_may_fail(void **state)
{
	struct retain_config *config = config_of("mlp:8", "6");

	(void)state;
	assert_true(each_allocation_fails(use_learner, config) > 20);
	retain_config_free(config);
}

static int use_model(void *context, struct err *err)
{
	struct retain_err *why = (struct retain_err *)err;
	struct retain_prediction predictions[N];
	struct retain_model *model;
	int code = retain_model_open(&model, context, why);

	if (!code)
		code = retain_model_predict(
			model, inputs[0], N * DIM, predictions, N, NULL, 0, why);
	retain_model_close(model);
	return code;
}

static void save_weights(const char *arch, const char *input, const char *path)
{
	struct retain_config *config = config_of(arch, input);
	struct retain_learner *learner;
	struct retain_err err;

	assert_ok(retain_learner_new(&learner, config, &err), err);
	assert_ok(retain_learner_save_weights(learner, RETAIN_WEIGHTS_SERVING, path, &err), err);
	retain_learner_free(learner);
	retain_config_free(config);
}

static void every_allocation_of_a_model_may_fail(void **state)
{
	char path[400];

	(void)state;
	snprintf(path, sizeof(path), "%s", in_folder("w"));
	save_weights("mlp:8", "6", path);
	assert_true(each_allocation_fails(use_model, path) > 10);
}

static int use_config(void *context, struct err *err)
{
	struct retain_err *why = (struct retain_err *)err;
	struct retain_config *config = retain_config_new();
	const char *value;
	int code = retain_config_set(config, "run.seed", "3", why);

	(void)context;
	/* The only way in which a program learns that there is no config. */
	if (!config) {
		assert_int_equal(code, RETAIN_ERR_INPUT);
		assert_says(*why, "retain_config_set: config is NULL");
		return err_memory(err, "a config", 1);
	}
	if (!code)
		code = retain_config_get(config, "run.seed", &value, why);
	retain_config_free(config);
	return code;
}

static void every_allocation_of_a_config_may_fail(void **state)
{
	(void)state;
	assert_true(each_allocation_fails(use_config, NULL) > 10);
}

static int use_folder(const struct retain_config *config, struct retain_err *err)
{
	struct retain_learner *learner;
	int code = retain_learner_open(&learner, config, in_folder("run"), err);

	if (!code)
		code = use(learner, err);
	if (!code)
		code = retain_learner_save(learner, err);
	retain_learner_free(learner);
	return code;
}

/* Not each: there are many, and every attempt waits for the disk. */
static void allocations_may_fail_in_a_folder(void **state)
{
	enum { STRIDE = 7 };
	struct retain_config *config = config_of("linear", "6");
	struct retain_err err;
	int failures = 0;
	uint64_t made = UINT64_MAX;

	(void)state;
	for (uint64_t n = 1; n < made; n += STRIDE) {
		const uint64_t before = mem_count();
		int code;

		mem_fail_at(n);
		code = use_folder(config, &err);
		mem_fail_at(0);
		made = code ? UINT64_MAX : mem_count() - before;
		failures += code != 0;
		if (code && code != RETAIN_ERR_MEMORY)
			fail_msg("allocation %d: %s", (int)n, err.message);
	}
	if (failures <= 20)
		fail_msg("%d failures in %d allocations", failures, (int)made);
	assert_ok(use_folder(config, &err), err);
	retain_config_free(config);
}

/* Learners and models of several kinds: after the first call of a size nothing is taken. */
static void predictions_take_no_memory(void **state)
{
	static const struct {
		const char *arch, *input;
		size_t floats;
	} nets[] = {{"mlp:8", "6", 6}, {"linear", "6", 6}, {"resnet20-cifar", "3,8,8", 192}};
	static float zeros[40 * 192];
	struct retain_prediction predictions[40];
	float probabilities[40 * CLASSES];
	struct retain_err err;

	(void)state;
	for (size_t i = 0; i < COUNT(nets); i++) {
		const size_t floats = nets[i].floats;
		struct retain_config *config = config_of(nets[i].arch, nets[i].input);
		struct retain_learner *learner;
		struct retain_model *model;
		uint64_t before = 0;

		save_weights(nets[i].arch, nets[i].input, in_folder("w"));
		assert_ok(retain_model_open(&model, in_folder("w"), &err), err);
		assert_ok(retain_learner_new(&learner, config, &err), err);
		for (int round = 0; round < 5; round++) {
			if (round == 1)
				before = mem_count();
			for (size_t n = 1; n <= 40; n += 13) {
				assert_ok(retain_model_predict(model, zeros, n * floats,
						  predictions, n, probabilities, n * CLASSES, &err),
					err);
				assert_ok(retain_learner_predict(learner, zeros, n * floats,
						  predictions, n, NULL, 0, &err),
					err);
			}
		}
		assert_int_equal(mem_count(), before);
		retain_learner_free(learner);
		retain_model_close(model);
		retain_config_free(config);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_allocation_may_fail),
		folder_test(every_allocation_of_a_model_may_fail),
		cmocka_unit_test(every_allocation_of_a_config_may_fail),
		cmocka_unit_test_setup_teardown(
			allocations_may_fail_in_a_folder, folder_make, tree_remove),
		folder_test(predictions_take_no_memory),
	};

	return cmocka_run_group_tests_name("api_memory", tests, NULL, NULL);
}
