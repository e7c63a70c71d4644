/* Prediction calls: argument checks, and their results. */
#include "api/serving.h"

#include <limits.h>
#include <math.h>

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
	if (shape->floats && (call->input_floats % shape->floats ||
				     call->input_floats / shape->floats != call->count))
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
	const size_t floats = limits->shape.floats;
	const int code = check_lengths(call, limits, err);

	for (size_t i = 0; i < call->input_floats && !code && !limits->missing; i++)
		if (!isfinite(call->inputs[i]))
			return err_set(err, ERR_INPUT, "%s: inputs: number %zu of input %zu is %f",
				call->function, floats ? i % floats : i, floats ? i / floats : 0,
				(double)call->inputs[i]);
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

void serving_say(const struct serving_call *call, int classes, int known, const float *logits)
{
	const size_t width = call->probability_floats / call->count;

	for (size_t i = 0; i < call->count; i++)
		say(logits + i * (size_t)classes, known, &call->predictions[i],
			width ? call->probabilities + i * width : NULL, (int)width);
}

/* So many inputs at a time, so that logits of not too many classes need no memory of their own. */
enum { CHUNK = 32, FEW = 8192 };

static int predict_chunks(struct copy *copy, struct answers_wish wish,
	const struct serving_call *call, float *logits, struct err *err)
{
	const size_t floats = copy_floats(copy), width = call->probability_floats / call->count;
	struct answers_wish wishes[CHUNK];
	int code = 0;

	for (int i = 0; i < CHUNK; i++)
		wishes[i] = wish;
	for (size_t at = 0; at < call->count && !code; at += CHUNK) {
		const size_t n = call->count - at < CHUNK ? call->count - at : CHUNK;
		const struct serving_call chunk = {.predictions = call->predictions + at,
			.count = n,
			.probabilities = width ? call->probabilities + at * width : NULL,
			.probability_floats = n * width};

		code = copy_predict(copy, wishes, call->inputs + at * floats, (int)n, logits, err);
		if (!code)
			serving_say(&chunk, copy_net(copy)->classes, copy_known(copy), logits);
	}
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
