/* Weights from a file, and a predictor with a copy of them. */
#include <string.h>

#include <retain.h>

#include "api/args.h"
#include "api/serving.h"
#include "base/mem.h"
#include "base/paths.h"
#include "nn/weights/weights_file.h"
#include "schema/schema.h"

struct retain_model {
	struct weights *weights; /* the net and the names; the numbers were dropped */
	struct copy *serving;
	struct retain_shape shape;
};

/* Batches are cut so that the largest needs no more memory than this many inputs. */
static int read_folder(struct weights **weights, const char *folder, struct err *err)
{
	char *path = path_join(folder, "model.safetensors"),
	     *config = path_join(folder, "config.ini");
	int code;

	if (!path || !config)
		code = err_memory(err, "a path", strlen(folder));
	else if (path_exists(path))
		code = weights_read(weights, path, err);
	else if (path_exists(config))
		code = err_set(err, ERR_FILE,
			"%s: has no model.safetensors yet; it is written when the run ends or its "
			"learner is closed",
			folder);
	else
		code = err_set(err, ERR_FILE, "%s: holds no run", folder);
	mem_free(path);
	mem_free(config);
	return code;
}

static int fill(struct retain_model *made, const char *path, struct err *err)
{
	int code = path_is_folder(path) ? read_folder(&made->weights, path, err)
					: weights_read(&made->weights, path, err);

	if (!code)
		code = copy_of_weights(&made->serving, made->weights, path, err);
	if (code)
		return code;
	weights_drop(made->weights);
	made->shape = serving_shape(net_spec(made->weights->net));
	made->shape.numbers = made->weights->number_scales.width;
	if (made->shape.numbers)
		made->shape.classes = 0;
	return 0;
}

int retain_model_open(struct retain_model **model, const char *path, struct retain_err *err)
{
	int code = ARGS_CHECK(err, ARG(model), ARG(path));
	struct retain_model *made;

	if (model)
		*model = NULL;
	if (code)
		return code;
	made = mem_new(1, sizeof(*made));
	code = made ? fill(made, path, inner(err))
		    : err_memory(inner(err), "a model", sizeof(*made));
	if (code)
		retain_model_close(made);
	else
		*model = made;
	return code;
}

void retain_model_close(struct retain_model *model)
{
	if (!model)
		return;
	copy_free(model->serving);
	weights_free(model->weights);
	mem_free(model);
}

int retain_model_shape(
	const struct retain_model *model, struct retain_shape *shape, struct retain_err *err)
{
	const int code = ARGS_CHECK(err, ARG(model), ARG(shape));

	if (!code)
		*shape = model->shape;
	return code;
}

int retain_model_class_name(
	const struct retain_model *model, int label, const char **name, struct retain_err *err)
{
	const int code = ARGS_CHECK(err, ARG(model), ARG(name));

	if (code)
		return code;
	if (label < 0 || label >= model->shape.classes)
		return err_set(inner(err), ERR_INPUT, "%s: label = %d: must be 0 to %d", __func__,
			label, model->shape.classes - 1);
	*name = model->weights->class_names ? model->weights->class_names[label] : NULL;
	return 0;
}

int retain_model_numbers(
	const struct retain_model *model, const char **names, struct retain_err *err)
{
	const int code = ARGS_CHECK(err, ARG(model), ARG(names));

	if (!code)
		*names = model->weights->numbers ? model->weights->numbers : "1";
	return code;
}

int retain_model_encode(const struct retain_model *model, const char *row, size_t length,
	float *input, size_t floats, struct retain_err *err)
{
	struct jvalue *value = NULL;
	int code = ARGS_CHECK(err, ARG(model), ARG(row), ARG(input));

	if (code)
		return code;
	if (!copy_schema(model->serving))
		return err_set(inner(err), ERR_STATE,
			"%s: the model's inputs are numbers without names", __func__);
	if (floats != model->shape.floats)
		return err_set(inner(err), ERR_INPUT, "%s: floats = %zu: an input has %zu",
			__func__, floats, model->shape.floats);
	code = jvalue_read(&value, row, length, "row", inner(err));
	if (!code)
		code = schema_encode_row(
			copy_schema(model->serving), value, input, floats, NULL, inner(err));
	jvalue_free(value);
	return code;
}

/* A call with checked pointers. */
static int predict_checked(struct retain_model *model, struct serving_call *call, struct err *err)
{
	const struct serving_limits limits = {
		.shape = model->shape, .missing = model->weights->scale};
	int code = serving_count(call, &limits, err);

	if (!code)
		code = serving_check(call, &limits, err);

	return code ? code : serving_predict(model->serving, (struct answers_wish){0}, call, err);
}

int retain_model_predict(struct retain_model *model, const float *inputs, size_t input_floats,
	struct retain_prediction *predictions, size_t count, float *probabilities,
	size_t probability_floats, struct retain_err *err)
{
	struct serving_call call = {__func__, inputs, input_floats, predictions, count,
		probabilities, probability_floats, NULL};
	const int code = ARGS_CHECK(err, ARG(model), ARG(inputs), ARG(predictions));

	return code ? code : predict_checked(model, &call, inner(err));
}

int retain_model_predict_numbers(struct retain_model *model, const float *inputs,
	size_t input_floats, struct retain_number *numbers, size_t count, struct retain_err *err)
{
	struct serving_call call = {.function = __func__,
		.inputs = inputs,
		.input_floats = input_floats,
		.count = count,
		.numbers = numbers};
	const int code = ARGS_CHECK(err, ARG(model), ARG(inputs), ARG(numbers));

	return code ? code : predict_checked(model, &call, inner(err));
}
