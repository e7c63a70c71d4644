/*
 * A predictor, and room for logits. Rooms are kept for the next calls: there are as
 * many as calls ever ran at a time.
 */
#include "api/serving.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include "eval/guess.h"
#include "base/mem.h"

struct room {
	struct room *next;
	size_t floats;
	float *logits;
};

struct serving {
	atomic_int holders;
	struct net *net;
	struct predictor *predictor;
	int classes, known;
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

	guess_most(logits, classes, &best, 1);
	if (width)
		guess_probabilities(logits, classes, width, probabilities);
	*prediction = (struct retain_prediction){best, 0};
	if (classes)
		prediction->probability = width ? probabilities[best]
						: (float)guess_probability(logits, classes, best);
}

void serving_say(const struct serving_call *call, int classes, int known, const float *logits)
{
	const size_t width = call->probability_floats / call->count;

	for (size_t i = 0; i < call->count; i++)
		say(logits + i * (size_t)classes, known, &call->predictions[i],
			width ? call->probabilities + i * width : NULL, (int)width);
}

bool serving_fits(const struct serving *serving, const struct net *net, int known)
{
	return serving->classes == net_spec(net)->classes && serving->known == known;
}

void serving_hold(struct serving *serving)
{
	atomic_fetch_add(&serving->holders, 1);
}

int serving_new(struct serving **serving, const struct net *net, int known,
	const struct predictor_config *config, const float *params, const float *stats,
	const struct scale *scale, struct err *err)
{
	struct serving *made = mem_new(1, sizeof(*made));
	int code;

	*serving = NULL;
	if (!made)
		return err_memory(err, "predictions", sizeof(*made));
	code = net_new(&made->net, net_spec(net), err);
	if (!code)
		code = predictor_new(
			&made->predictor, made->net, config, params, stats, scale, err);
	if (code) {
		net_free(made->net);
		mem_free(made);
		return code;
	}
	made->holders = 1;
	made->classes = net_spec(net)->classes;
	made->known = known;
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
	if (!serving || atomic_fetch_sub(&serving->holders, 1) > 1)
		return;
	for (struct room *next, *at = serving->rooms; at; at = next) {
		next = at->next;
		room_free(at);
	}
	pthread_mutex_destroy(&serving->lock);
	predictor_free(serving->predictor);
	net_free(serving->net);
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
		serving_say(call, serving->classes, serving->known, room->logits);
	give_back(serving, room);
	return code;
}
