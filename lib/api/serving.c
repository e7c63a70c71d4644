/* Prediction calls: argument checks, and their results. */
#include "api/serving.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "target/class.h"

struct retain_shape serving_shape(const struct net_spec *spec)
{
	return (struct retain_shape){.channels = spec->channels,
		.height = spec->height,
		.width = spec->width,
		.classes = spec->classes,
		.floats = (size_t)spec->channels * (size_t)spec->height * (size_t)spec->width};
}

static int check_probabilities(
	const struct serving_call *call, const struct serving_limits *limits, struct err *err)
{
	const size_t classes = (size_t)limits->shape.classes, room = call->probability_floats;

	if (!call->probabilities && room)
		return err_set(err, ERR_INPUT,
			"%s: probability_floats = %zu: must be 0 where probabilities is NULL",
			call->function, room);
	if (call->probabilities && limits->grows && room % call->count)
		return err_set(err, ERR_INPUT,
			"%s: probability_floats = %zu: must be count = %zu times a number of "
			"classes",
			call->function, room, call->count);
	if (call->probabilities && !limits->grows &&
		(room % classes || room / classes != call->count))
		return err_set(err, ERR_INPUT,
			"%s: probability_floats = %zu: must be count = %zu times %zu classes",
			call->function, room, call->count, classes);
	return 0;
}

/* As many numbers as an input has, or had before fields came. */
static bool fits(const struct serving_call *call, const struct serving_limits *limits)
{
	const size_t floats = call->input_floats / call->count, most = limits->shape.floats;

	return call->input_floats % call->count == 0 && floats <= most &&
	       floats >= (limits->least ? limits->least : most);
}

int serving_count(struct serving_call *call, const struct serving_limits *limits, struct err *err)
{
	const struct retain_shape *shape = &limits->shape;

	if (!call->numbers != !shape->numbers)
		return err_set(err, ERR_STATE, "%s: labels are %s here; call the function %s",
			call->function, shape->numbers ? "numbers" : "classes",
			shape->numbers ? "of the same name that ends in _numbers"
				       : "whose name does not end in _numbers");
	if (!call->numbers)
		return 0;
	if (call->count % (size_t)shape->numbers)
		return err_set(err, ERR_INPUT,
			"%s: count = %zu: must be a multiple of %d, the numbers of a label",
			call->function, call->count, (int)shape->numbers);
	call->width = (int)shape->numbers;
	call->count /= (size_t)shape->numbers;
	return 0;
}

static int check_lengths(
	const struct serving_call *call, const struct serving_limits *limits, struct err *err)
{
	const struct retain_shape *shape = &limits->shape;

	if (call->count < 1 || call->count > INT_MAX)
		return err_set(err, ERR_INPUT, "%s: count = %zu: must be 1 to %d", call->function,
			call->count, INT_MAX);
	if (!shape->floats && (!call->input_floats || call->input_floats % call->count))
		return err_set(err, ERR_INPUT,
			"%s: input_floats = %zu: must be count = %zu times the numbers of an input",
			call->function, call->input_floats, call->count);
	if (shape->floats && !fits(call, limits))
		return err_set(err, ERR_INPUT,
			"%s: input_floats = %zu: must be count = %zu times %zu, the numbers of an "
			"input (%d, %d, %d)",
			call->function, call->input_floats, call->count, shape->floats,
			shape->channels, shape->height, shape->width);
	return check_probabilities(call, limits, err);
}

/* One number that is none would spoil every weight once it is trained on. */
int serving_check(
	const struct serving_call *call, const struct serving_limits *limits, struct err *err)
{
	const int code = check_lengths(call, limits, err);
	const size_t floats = code ? 0 : call->input_floats / call->count;

	for (size_t i = 0; i < call->input_floats && !code && !limits->missing; i++)
		if (!isfinite(call->inputs[i]))
			return err_set(err, ERR_INPUT, "%s: inputs: number %zu of input %zu is %f",
				call->function, i % floats, i / floats, (double)call->inputs[i]);
	return code;
}

static void say(const float *logits, int classes, struct retain_prediction *prediction,
	float *probabilities, int width)
{
	int32_t best;

	class_most(logits, classes, &best, 1);
	if (width)
		class_probabilities(logits, classes, width, probabilities);
	*prediction = (struct retain_prediction){best, 0};
	if (classes)
		prediction->probability = width ? probabilities[best]
						: (float)class_probability(logits, classes, best);
}

static struct retain_number number_at(const float *answer)
{
	return (struct retain_number){
		answer[NUMBER_VALUE], answer[NUMBER_LOW], answer[NUMBER_HIGH]};
}

void serving_say(const struct serving_call *call, int classes, int known, const float *logits)
{
	const size_t width = call->probability_floats / call->count;
	const size_t numbers = call->numbers ? (size_t)call->width : 0;

	for (size_t i = 0; i < call->count * numbers; i++)
		call->numbers[i] =
			known ? number_at(logits + i * NUMBER_OUTPUTS) : (struct retain_number){0};
	for (size_t i = 0; i < call->count && !call->numbers; i++)
		say(logits + i * (size_t)classes, known, &call->predictions[i],
			width ? call->probabilities + i * width : NULL, (int)width);
}

int serving_inputs(const struct serving_call *call, size_t floats, const float **inputs,
	float **made, struct err *err)
{
	const size_t given = call->input_floats / call->count;
	const size_t kept = given < floats ? given : floats;

	*made = NULL;
	*inputs = call->inputs;
	if (given == floats)
		return 0;
	*inputs = *made = mem_new(call->count * floats, sizeof(**made));
	if (!*made)
		return err_memory(err, "inputs", call->count * floats * sizeof(**made));
	for (size_t i = 0; i < call->count; i++) {
		float *row = *made + i * floats;

		memcpy(row, call->inputs + i * given, kept * sizeof(*row));
		for (size_t k = kept; k < floats; k++)
			row[k] = NAN;
	}
	return 0;
}

/* So many inputs at a time, so that logits of not too many classes need no memory of their own. */
enum { CHUNK = 32, FEW = 8192 };

static int predict_chunks(struct copy *copy, struct answers_wish wish,
	const struct serving_call *call, float *logits, struct err *err)
{
	const size_t floats = copy_floats(copy), width = call->probability_floats / call->count;
	struct answers_wish wishes[CHUNK];
	const float *inputs;
	float *made;
	int code = serving_inputs(call, floats, &inputs, &made, err);

	for (int i = 0; i < CHUNK; i++)
		wishes[i] = wish;
	for (size_t at = 0; at < call->count && !code; at += CHUNK) {
		const size_t n = call->count - at < CHUNK ? call->count - at : CHUNK;
		const struct serving_call chunk = {
			.predictions = call->numbers ? NULL : call->predictions + at,
			.numbers = call->numbers ? call->numbers + at * (size_t)call->width : NULL,
			.width = call->width,
			.count = n,
			.probabilities = width ? call->probabilities + at * width : NULL,
			.probability_floats = n * width};

		code = copy_predict(copy, wishes, inputs + at * floats, (int)n, logits, err);
		if (!code)
			serving_say(&chunk, copy_net(copy)->classes, copy_known(copy), logits);
	}
	mem_free(made);
	return code;
}

int serving_predict(struct copy *copy, struct answers_wish wish, const struct serving_call *call,
	struct err *err)
{
	const size_t room = CHUNK * (size_t)copy_net(copy)->classes;
	float few[FEW], *many;
	int code;

	if (room <= FEW)
		return predict_chunks(copy, wish, call, few, err);
	many = mem_new(room, sizeof(*many));
	code = many ? predict_chunks(copy, wish, call, many, err)
		    : err_memory(err, "predictions", room * sizeof(*many));
	mem_free(many);
	return code;
}
