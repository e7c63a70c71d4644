/*
 * Predictions for public objects, from any number of threads at a time: arrays whose
 * lengths are checked in; labels and probabilities out.
 */
#ifndef RETAIN_API_SERVING_H
#define RETAIN_API_SERVING_H

#include <stdbool.h>

#include <retain.h>
#include "base/err.h"
#include "session/copy.h"

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

/* What a call must fit. */
struct serving_limits {
	struct retain_shape shape; /* floats of 0: any */
	bool missing;              /* values may be */
	bool grows;                /* classes may come: so many probabilities as are asked for */
};

/* Lengths that fit, and numbers that are finite unless values may be missing. */
int serving_check(
	const struct serving_call *call, const struct serving_limits *limits, struct err *err);

/*
 * Fills in predictions and probabilities from logits (count, classes), of which the first
 * `known` count. If known is 0, labels are -1 and probabilities 0.
 */
void serving_say(const struct serving_call *call, int classes, int known, const float *logits);

/* A call that was checked, by a copy that knows the answer. */
int serving_predict(struct copy *copy, struct answers_wish wish, const struct serving_call *call,
	struct err *err);

#endif
