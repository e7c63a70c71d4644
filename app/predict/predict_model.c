/*
 * The model that answers: the net of a weights file, or the learner in the checkpoint of a run's
 * folder (session/asked.h), with everything it learned beside its net. Class names and the
 * encoding of rows come from the weights file either way.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/words/decimal.h"
#include "base/mem.h"
#include "base/paths.h"
#include "predict/predict_impl.h"
#include "records/table_plan.h"
#include "target/target.h"

static int add_class(struct predict_model *model, int class, struct err *err)
{
	char number[64];
	const char *name = model->names[class];
	int64_t known;

	snprintf(number, sizeof(number), "%d", class);
	if (!name || !*name || vocabulary_find(&model->known, name, strlen(name)) >= 0) {
		model->names[class] = NULL;
		name = number;
	}
	if (vocabulary_find(&model->known, name, strlen(name)) >= 0)
		snprintf(number, sizeof(number), "%d (%d)", class, class);
	known = vocabulary_number(&model->known, name, strlen(name), err);
	return known < 0 ? (int)known : 0;
}

static int open_schema(struct predict_model *model, const char *path, struct err *err)
{
	const struct schema_sizes sizes = {1, 1, 0};
	struct retain_err none = {0};
	float *input = mem_new(model->shape.floats, sizeof(*input));
	int code = input ? 0 : err_memory(err, "an input", model->shape.floats * sizeof(*input));

	/* Only a model with a schema can encode. */
	if (!code && retain_model_encode(model->model, "{}", 2, input, model->shape.floats,
			     &none) != RETAIN_ERR_STATE)
		code = schema_open(&model->schema, path, &sizes, err);
	mem_free(input);
	return code;
}

static int open_weights(struct predict_model *model, const char *path, struct err *err)
{
	struct retain_err why = {0};
	int code = retain_model_open(&model->model, path, &why);

	if (!code)
		code = retain_model_shape(model->model, &model->shape, &why);
	if (code)
		return err_set(err, code, "%s", why.message);
	retain_model_numbers(model->model, &model->numbers, &why);
	model->outputs = model->shape.numbers ? NUMBER_OUTPUTS * (int)model->shape.numbers
					      : model->shape.classes;
	model->width = model->shape.numbers ? (int)model->shape.numbers : 1;
	model->names = mem_new((size_t)model->shape.classes + 1, sizeof(*model->names));
	if (!model->names)
		return err_memory(err, "class names", (size_t)model->shape.classes * 8);
	for (int c = 0; c < model->shape.classes && !code; c++) {
		retain_model_class_name(model->model, c, &model->names[c], &why);
		code = add_class(model, c, err);
	}
	return code ? code : open_schema(model, path, err);
}

/* Whether a place holds what can be asked. */
static bool is_model(const char *path)
{
	char *config = path_join(path, "config.ini");
	const bool run = config && path_is_folder(path) && path_exists(config);

	mem_free(config);
	return run || path_ends(path, ".safetensors");
}

/* The usual mistakes: the words in the wrong order, and another file than that of the weights. */
static int say_order(const struct predict_config *config, int code, struct err *err)
{
	if (code == ERR_MEMORY || is_model(config->model) || !path_exists(config->model))
		return code;
	return err_set(err, ERR_INPUT,
		"%s: is neither a weights file (.safetensors) nor the folder of a run; MODEL comes "
		"first, then DATA%s",
		config->model, is_model(config->data) ? ": the two are in the wrong order" : "");
}

/* What the folder has beside its net; what it lacks is an error only if it was asked for. */
static int open_asked(
	struct predict_model *model, const struct predict_config *config, struct err *err)
{
	const bool ever = config->question == PREDICT_EVER;
	struct err why = {0};
	int code = asked_open(&model->asked, config->model, &config->log, &why);

	if (code && (code == ERR_MEMORY || config->question == PREDICT_NOW))
		return err_set(err, code, "%s", why.message);
	model->question = ever ? LEARNER_EVER : LEARNER_NOW;
	if (code && !ever)
		log_write(&config->log, LOG_WARN, "%s; so what is now cannot be answered",
			why.message);
	if (model->asked && !asked_mixes(model->asked, model->question)) {
		asked_close(model->asked);
		model->asked = NULL;
	}
	return 0;
}

static void say_who(const struct predict_model *model, const struct predict_config *config)
{
	if (!model->asked)
		log_write(&config->log, LOG_NOTE, "%s answers with its net: what is this, ever?",
			config->model);
	else
		log_write(&config->log, LOG_NOTE,
			"%s answers with %s of iteration %" PRId64 ": what is this, %s",
			config->model,
			model->question == LEARNER_NOW ? "its mixture" : "its net and heads",
			asked_iteration(model->asked),
			model->question == LEARNER_NOW ? "now? (--for ever asks its net)"
						       : "ever?");
}

/* NAME=SHARE, of which a name may hold other equals signs. */
static int read_threshold(struct predict_model *model, const char *words, struct err *err)
{
	const char *equals = strrchr(words, '=');
	const size_t length = equals ? (size_t)(equals - words) : 0;
	double share;
	int64_t class;

	if (!length || !decimal_number(equals + 1, strlen(equals + 1), &share) ||
		!(share > 0 && share < 1))
		return err_set(err, ERR_INPUT,
			"--threshold %s: must be NAME=SHARE, like yes=0.2, with a share between 0 "
			"and 1",
			words);
	class = vocabulary_find(&model->known, words, length);
	if (class < 0)
		return err_set(err, ERR_INPUT, "--threshold %s: the model has no class %.*s", words,
			(int)length, words);
	model->thresholds[class] = (float)share;
	return 0;
}

static int read_thresholds(
	struct predict_model *model, const struct predict_config *config, struct err *err)
{
	const size_t classes = (size_t)model->shape.classes;
	int code = 0;

	if (!config->threshold_count)
		return 0;
	model->thresholds = mem_new(classes, sizeof(*model->thresholds));
	if (!model->thresholds)
		return err_memory(err, "thresholds", classes * sizeof(*model->thresholds));
	for (int i = 0; i < config->threshold_count && !code; i++)
		code = read_threshold(model, config->thresholds[i], err);
	return code;
}

/* What is about classes only. */
static int check_numbers(const struct predict_config *config, struct err *err)
{
	const char *flag = config->top > 1           ? "--top"
			   : config->threshold_count ? "--threshold"
			   : config->probabilities   ? "--probabilities"
						     : NULL;

	return flag ? err_set(err, ERR_INPUT, "%s: is for classes, and %s predicts numbers", flag,
			      config->model)
		    : 0;
}

int predict_model_open(
	struct predict_model *model, const struct predict_config *config, struct err *err)
{
	const bool folder = path_is_folder(config->model);
	int code = open_weights(model, config->model, err);

	if (code)
		return say_order(config, code, err);
	if (model->shape.numbers)
		code = check_numbers(config, err);
	if (code)
		return code;
	if (!folder && config->question == PREDICT_NOW)
		code = err_set(err, ERR_INPUT,
			"%s: --for now: a weights file has the net alone, which answers ever; name "
			"the folder of its run",
			config->model);
	if (!code)
		code = read_thresholds(model, config, err);
	if (!code && folder)
		code = open_asked(model, config, err);
	if (!code)
		say_who(model, config);
	return code;
}

void predict_model_close(struct predict_model *model)
{
	mem_free(model->thresholds);
	asked_close(model->asked);
	retain_model_close(model->model);
	schema_free(model->schema);
	vocabulary_release(&model->known);
	mem_free(model->names);
}

/* Reached ones stand before all others, missed ones behind. */
float predict_rank(const struct predict_model *model, int class, float probability)
{
	const float threshold = model->thresholds ? model->thresholds[class] : 0;

	if (threshold <= 0)
		return probability;
	return probability >= threshold ? 1 + probability / threshold : probability - 2;
}

static const union target strange = {.class = -2};

union target predict_number(double number)
{
	const union target label = {.number = (float)number};

	return isfinite(label.number) ? label : strange;
}

union target predict_number_cell(const struct csv_field *cell, char separator)
{
	double number;

	return table_label_alone(cell, separator, &number) ? predict_number(number) : strange;
}

union target predict_label(const struct predict_model *model, const char *words)
{
	const struct csv_field cell = {words, strlen(words), false};
	int64_t class;

	if (model->shape.numbers)
		return predict_number_cell(&cell, ',');
	class = vocabulary_find(&model->known, words, strlen(words));
	return class >= 0 ? (union target){.class = (int32_t) class} : strange;
}

void predict_settle(union target *label, int width)
{
	for (int k = 1; k < width; k++)
		if (label[k].class == strange.class || label[k].class == TARGET_NONE.class)
			label[0] = label[k];
}

static int ask_numbers(const struct predict_model *model, const float *inputs, int n,
	float *answers, struct err *err)
{
	struct retain_number numbers[PREDICT_PIECE * TARGET_WIDTH];
	const size_t count = (size_t)n * (size_t)model->shape.numbers;
	int code;

	if (model->asked)
		return asked_answer(model->asked, model->question, inputs, n, answers, err);
	code = retain_model_predict_numbers(model->model, inputs, (size_t)n * model->shape.floats,
		numbers, count, (struct retain_err *)err);
	for (size_t i = 0; i < count && !code; i++) {
		float *answer = answers + i * NUMBER_OUTPUTS;

		answer[NUMBER_VALUE] = numbers[i].value;
		answer[NUMBER_LOW] = numbers[i].low;
		answer[NUMBER_HIGH] = numbers[i].high;
	}
	return code;
}

int predict_ask(const struct predict_model *model, const float *inputs, int n, float *probabilities,
	struct err *err)
{
	struct retain_prediction predictions[PREDICT_PIECE];
	const size_t count = (size_t)n;

	if (model->shape.numbers)
		return ask_numbers(model, inputs, n, probabilities, err);
	if (model->asked)
		return asked_predict(model->asked, model->question, inputs, n, probabilities, err);
	return retain_model_predict(model->model, inputs, count * model->shape.floats, predictions,
		count, probabilities, count * (size_t)model->shape.classes,
		(struct retain_err *)err);
}
