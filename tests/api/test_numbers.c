/* Learners and models of numbers, through retain.h. */
#include "learner.h"

enum { WIDE = 3, ROWS = 400 };

#define OK(call)                                                                                   \
	do {                                                                                       \
		if ((call))                                                                        \
			fail_msg("%s: %s", #call, err.message);                                    \
	} while (0)

static struct retain_config *config_of(const char *target)
{
	struct retain_config *config = retain_config_new();
	struct retain_err err = {0};

	OK(retain_config_set(config, "model.target", target, &err));
	OK(retain_config_set(config, "engine.threads", "1", &err));
	return config;
}

/* Thousands, so that a scale is needed; the label follows from the inputs. */
static float row_of(int i, float input[WIDE])
{
	for (int k = 0; k < WIDE; k++)
		input[k] = (float)sin(i * 0.7 * (k + 1));
	return 5000 + 300 * input[0] - 200 * input[1];
}

static float teach(struct retain_learner *learner, int from, int to)
{
	struct retain_err err = {0};
	float error = 0;

	for (int i = from; i < to; i++) {
		float input[WIDE], label = row_of(i, input);
		struct retain_ticket ticket;
		struct retain_number said;

		OK(retain_learner_observe_numbers(learner, input, WIDE, &said, 1, &ticket, &err));
		assert_true(said.low <= said.value && said.value <= said.high);
		OK(retain_learner_reveal_numbers(learner, ticket, &label, 1, &err));
		OK(retain_learner_train(learner, RETAIN_BUDGET, &err));
		error = fabsf(said.value - label);
	}
	return error;
}

static void a_number_is_learned(void **state)
{
	struct retain_config *config = config_of("number");
	struct retain_learner *learner;
	struct retain_metrics m;
	struct retain_shape shape;
	struct retain_number said[2];
	struct retain_err err = {0};
	float inputs[2 * WIDE];

	(void)state;
	OK(retain_learner_new(&learner, config, &err));
	OK(retain_learner_shape(learner, &shape, &err));
	assert_true(shape.numbers == 1 && shape.classes == 0);
	teach(learner, 0, ROWS);
	OK(retain_learner_metrics(learner, &m, &err));
	assert_true(m.mae < 0.5 * m.mae_last && m.mae < 0.5 * m.mae_mean);
	assert_true(m.learning_efficacy > 0.5 && m.coverage > 0.8 && m.width > 0);
	assert_true(m.rmse >= m.mae);
	for (int i = 0; i < 2; i++)
		row_of(ROWS + i, inputs + (size_t)i * WIDE);
	for (int question = RETAIN_NOW; question <= RETAIN_EVER; question++) {
		OK(retain_learner_predict_numbers(
			learner, question, inputs, 2 * WIDE, said, 2, &err));
		assert_true(said[0].value > 4000 && said[0].value < 6000);
		assert_true(said[0].value != said[1].value);
	}
	retain_learner_free(learner);
	retain_config_free(config);
}

/* Reopened, it goes on as if it had not been closed. */
static void a_folder_goes_on(void **state)
{
	struct retain_config *config = config_of("number");
	struct retain_learner *straight, *stopped;
	struct retain_number a, b;
	struct retain_err err = {0};
	float input[WIDE];

	(void)state;
	OK(retain_learner_new(&straight, config, &err));
	teach(straight, 0, 120);
	for (int part = 0; part < 3; part++) {
		OK(retain_learner_open(&stopped, config, in_folder("shop"), &err));
		teach(stopped, part * 40, part * 40 + 40);
		if (part < 2)
			(part ? retain_learner_free : retain_learner_close)(stopped);
	}
	row_of(500, input);
	for (int question = RETAIN_NOW; question <= RETAIN_EVER; question++) {
		OK(retain_learner_predict_numbers(straight, question, input, WIDE, &a, 1, &err));
		OK(retain_learner_predict_numbers(stopped, question, input, WIDE, &b, 1, &err));
		assert_memory_equal(&a, &b, sizeof(a));
	}
	retain_learner_free(straight);
	retain_learner_free(stopped);
	retain_config_free(config);
}

static void a_model_answers_as_its_learner(void **state)
{
	struct retain_config *config = config_of("number");
	struct retain_learner *learner;
	struct retain_model *model;
	struct retain_number a, b;
	struct retain_prediction class;
	struct retain_shape shape;
	struct retain_err err = {0};
	float input[WIDE];

	(void)state;
	OK(retain_learner_new(&learner, config, &err));
	teach(learner, 0, 100);
	OK(retain_learner_save_weights(learner, RETAIN_WEIGHTS_SERVING, in_folder("m"), &err));
	OK(retain_model_open(&model, in_folder("m"), &err));
	OK(retain_model_shape(model, &shape, &err));
	assert_true(shape.numbers == 1 && shape.classes == 0);
	row_of(7, input);
	OK(retain_learner_predict_numbers(learner, RETAIN_EVER, input, WIDE, &a, 1, &err));
	OK(retain_model_predict_numbers(model, input, WIDE, &b, 1, &err));
	assert_memory_equal(&a, &b, sizeof(a));
	assert_int_equal(retain_model_predict(model, input, WIDE, &class, 1, NULL, 0, &err),
		RETAIN_ERR_STATE);
	assert_non_null(strstr(err.message, "labels are numbers here"));
	retain_model_close(model);
	retain_learner_free(learner);
	retain_config_free(config);
}

static void what_does_not_fit_changes_nothing(void **state)
{
	struct retain_config *config = config_of("number"), *classes = config_of("class");
	struct retain_learner *learner, *other;
	struct retain_ticket ticket;
	struct retain_number said;
	struct retain_prediction class;
	struct retain_err err = {0};
	const float bad[] = {NAN, INFINITY};
	const int32_t label = 3;
	float input[WIDE], good = row_of(0, input);

	(void)state;
	OK(retain_learner_new(&learner, config, &err));
	OK(retain_learner_new(&other, classes, &err));
	OK(retain_learner_observe_numbers(learner, input, WIDE, &said, 1, &ticket, &err));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(retain_learner_reveal_numbers(learner, ticket, &bad[i], 1, &err),
			RETAIN_ERR_INPUT);
		assert_non_null(strstr(err.message, "must be a finite number"));
	}
	assert_int_equal(retain_learner_reveal(learner, ticket, &label, 1, &err), RETAIN_ERR_STATE);
	assert_non_null(strstr(err.message, "retain_learner_reveal_numbers"));
	assert_int_equal(retain_learner_observe(learner, input, WIDE, &class, 1, &ticket, &err),
		RETAIN_ERR_STATE);
	assert_int_equal(
		retain_learner_observe_numbers(other, input, WIDE, &said, 1, &ticket, &err),
		RETAIN_ERR_STATE);
	assert_non_null(strstr(err.message, "labels are classes here"));
	OK(retain_learner_reveal_numbers(learner, ticket, &good, 1, &err));
	retain_learner_free(learner);
	retain_learner_free(other);
	retain_config_free(config);
	retain_config_free(classes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_is_learned),
		tree_test(a_folder_goes_on),
		folder_test(a_model_answers_as_its_learner),
		cmocka_unit_test(what_does_not_fit_changes_nothing),
	};

	return cmocka_run_group_tests_name("numbers", tests, NULL, NULL);
}
