/*
 * Predictions for public objects, from any number of threads at a time: arrays whose
 * lengths are checked in; labels and probabilities out.
 */
#ifndef RETAIN_API_SERVING_H
#define RETAIN_API_SERVING_H

#include <retain.h>
#include "base/err.h"
#include "nn/predictor.h"

/* What a caller gave. */
struct serving_call {
	const char *function; /* for messages */
	const float *inputs;
	size_t input_floats;
	struct retain_prediction *predictions;
	size_t count;
	float *probabilities; /* NULL: not wanted */
	size_t probability_floats;
};

struct retain_shape serving_shape(const struct net_spec *spec);

/* Lengths that fit the shape, and numbers that are finite unless values may be missing. */
int serving_check(const struct serving_call *call, const struct retain_shape *shape, bool missing,
	struct err *err);

/* Fills in predictions and probabilities from logits (count, classes). */
void serving_say(const struct serving_call *call, int classes, const float *logits);

struct serving;

/* As predictor_new. */
int serving_new(struct serving **serving, const struct net *net,
	const struct predictor_config *config, const float *params, const float *stats,
	const struct scale *scale, struct err *err);
void serving_free(struct serving *serving);

/* Other weights from now on, as predictor_publish. */
int serving_publish(struct serving *serving, const float *params, const float *stats,
	const struct scale *scale, struct err *err);

/* A call that was checked. Allocates nothing once calls of this count were made. */
int serving_predict(struct serving *serving, const struct serving_call *call, struct err *err);

#endif
