/*
 * Thread-safe predictions for public objects: arrays with checked lengths in, labels and
 * probabilities out.
 */
#ifndef RETAIN_API_SERVING_H
#define RETAIN_API_SERVING_H

#include <stdbool.h>

#include <retain.h>
#include "base/err.h"
#include "session/copy.h"

/* A caller's arguments. */
struct serving_call {
	const char *function; /* for messages */
	const float *inputs;
	size_t input_floats;
	struct retain_prediction *predictions;
	size_t count; /* of inputs; of a call for numbers, before serving_check, of numbers */
	float *probabilities; /* NULL: not wanted */
	size_t probability_floats;
	struct retain_number *numbers; /* in place of predictions and probabilities; else NULL */
	int width;                     /* of those, for each input; by serving_count */
};

struct retain_shape serving_shape(const struct net_spec *spec);

/* The limits of a call. */
struct serving_limits {
	struct retain_shape shape; /* floats of 0: any */
	size_t least;              /* inputs may be as short, if new fields came since; 0: not */
	bool missing;              /* missing values are allowed */
	bool grows; /* classes may grow: any number of probabilities may be requested */
};

/*
 * Makes the count that of inputs; refuses one that is not as many times shape.numbers. Call it once,
 * before serving_check, which checks lengths, and that numbers are finite unless missing values are
 * allowed.
 */
int serving_count(struct serving_call *call, const struct serving_limits *limits, struct err *err);
int serving_check(
	const struct serving_call *call, const struct serving_limits *limits, struct err *err);

/*
 * Fills in predictions and probabilities from logits (count, classes), using the first `known`
 * classes. If known is 0, labels are -1 and probabilities 0.
 */
void serving_say(const struct serving_call *call, int classes, int known, const float *logits);

/*
 * The inputs of a checked call with this many numbers each: the last ones left out, or NAN. They
 * are the call's own, or *made, for mem_free.
 */
int serving_inputs(const struct serving_call *call, size_t floats, const float **inputs,
	float **made, struct err *err);

/* Predicts a checked call with a copy that can answer it. */
int serving_predict(struct copy *copy, struct answers_wish wish, const struct serving_call *call,
	struct err *err);

#endif
