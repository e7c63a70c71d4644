/*
 * A predictor, and room for logits. Rooms are kept for the next calls: there are as
 * many as calls ever ran at a time.
 */
#include "api/serving.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>

#include "base/mem.h"

struct room {
	struct room *next;
	size_t floats;
	float *logits;
};

struct serving {
	struct predictor *predictor;
	int classes;
	pthread_mutex_t lock; /* of the list */
	struct room *rooms;   /* that nobody uses */
};

struct retain_shape serving_shape(const struct net_spec *spec)
{
	return (struct retain_shape){.channels = spec->channels,
		.height = spec->height,
		.width = spec->width,
		.classes = spec->classes,
		.floats = (size_t)spec->channels * (size_t)spec->height * (size_t)spec->width};
}

static int check_lengths(
	const struct serving_call *call, const struct retain_shape *shape, struct err *err)
{
	const size_t classes = (size_t)shape->classes, room = call->probability_floats;

	if (call->count < 1 || call->count > INT_MAX)
		return err_set(err, ERR_INPUT, "%s: count = %zu: must be 1 to %d", call->function,
			call->count, INT_MAX);
	if (call->input_floats % shape->floats || call->input_floats / shape->floats != call->count)
		return err_set(err, ERR_INPUT,
			"%s: input_floats = %zu: must be count = %zu times %zu, the numbers of an "
			"input (%d, %d, %d)",
			call->function, call->input_floats, call->count, shape->floats,
			shape->channels, shape->height, shape->width);
	if (!call->probabilities && room)
		return err_set(err, ERR_INPUT,
			"%s: probability_floats = %zu: must be 0 where probabilities is NULL",
			call->function, room);
	if (call->probabilities && (room % classes || room / classes != call->count))
		return err_set(err, ERR_INPUT,
			"%s: probability_floats = %zu: must be count = %zu times %zu classes",
			call->function, room, call->count, classes);
	return 0;
}

/* One number that is none would spoil every weight once it is trained on. */
int serving_check(const struct serving_call *call, const struct retain_shape *shape, bool missing,
	struct err *err)
{
	const int code = check_lengths(call, shape, err);

	for (size_t i = 0; i < call->input_floats && !code && !missing; i++)
		if (!isfinite(call->inputs[i]))
			return err_set(err, ERR_INPUT, "%s: inputs: number %zu of input %zu is %f",
				call->function, i % shape->floats, i / shape->floats,
				(double)call->inputs[i]);
	return code;
}

/* Softmax, in double so that a sum of many classes stays a sum of 1. */
static void say(const float *logits, int classes, struct retain_prediction *prediction,
	float *probabilities)
{
	double sum = 0;
	int best = 0;

	for (int c = 1; c < classes; c++)
		if (logits[c] > logits[best])
			best = c;
	for (int c = 0; c < classes; c++)
		sum += exp((double)logits[c] - (double)logits[best]);
	*prediction = (struct retain_prediction){best, (float)(1 / sum)};
	for (int c = 0; probabilities && c < classes; c++)
		probabilities[c] = (float)(exp((double)logits[c] - (double)logits[best]) / sum);
}

void serving_say(const struct serving_call *call, int classes, const float *logits)
{
	const size_t width = (size_t)classes;

	for (size_t i = 0; i < call->count; i++)
		say(logits + i * width, classes, &call->predictions[i],
			call->probabilities ? call->probabilities + i * width : NULL);
}

int serving_new(struct serving **serving, const struct net *net,
	const struct predictor_config *config, const float *params, const float *stats,
	const struct scale *scale, struct err *err)
{
	struct serving *made = mem_new(1, sizeof(*made));
	int code;

	*serving = NULL;
	if (!made)
		return err_memory(err, "predictions", sizeof(*made));
	code = predictor_new(&made->predictor, net, config, params, stats, scale, err);
	if (code) {
		mem_free(made);
		return code;
	}
	made->classes = net_spec(net)->classes;
	pthread_mutex_init(&made->lock, NULL);
	*serving = made;
	return 0;
}

static void room_free(struct room *room)
{
	mem_free(room->logits);
	mem_free(room);
}

void serving_free(struct serving *serving)
{
	if (!serving)
		return;
	for (struct room *next, *at = serving->rooms; at; at = next) {
		next = at->next;
		room_free(at);
	}
	pthread_mutex_destroy(&serving->lock);
	predictor_free(serving->predictor);
	mem_free(serving);
}

int serving_publish(struct serving *serving, const float *params, const float *stats,
	const struct scale *scale, struct err *err)
{
	return predictor_publish(serving->predictor, params, stats, scale, err);
}

static struct room *take_room(struct serving *serving, size_t floats)
{
	struct room *room;

	pthread_mutex_lock(&serving->lock);
	room = serving->rooms;
	if (room)
		serving->rooms = room->next;
	pthread_mutex_unlock(&serving->lock);
	if (!room)
		room = mem_new(1, sizeof(*room));
	if (!room || floats <= room->floats)
		return room;
	mem_free(room->logits);
	room->logits = mem_new(floats, sizeof(*room->logits));
	room->floats = floats;
	if (room->logits)
		return room;
	room_free(room);
	return NULL;
}

static void give_back(struct serving *serving, struct room *room)
{
	pthread_mutex_lock(&serving->lock);
	room->next = serving->rooms;
	serving->rooms = room;
	pthread_mutex_unlock(&serving->lock);
}

int serving_predict(struct serving *serving, const struct serving_call *call, struct err *err)
{
	const size_t floats = call->count * (size_t)serving->classes;
	struct room *room = take_room(serving, floats);
	int code;

	if (!room)
		return err_memory(err, "predictions", floats * sizeof(*room->logits));
	code = predictor_predict(
		serving->predictor, call->inputs, (int)call->count, room->logits, err);
	if (!code)
		serving_say(call, serving->classes, room->logits);
	give_back(serving, room);
	return code;
}
