/*
 * Running standardisation of inputs: mean and spread of every number over all revealed samples,
 * and the scale (nn/scale.h) derived from them. It is part of the model: all inputs, predicted
 * and replayed, pass it on their way to the net, with the current statistics.
 *
 * NaN and infinities are missing values and do not count; what is below FLT_MIN is 0. A constant number gets the factor 0.
 * Outliers are clipped: beyond SCALING_REACH spreads from the mean a value counts as if it were
 * no further. While only n values were seen, fewer than SCALING_SETTLED, the limit is
 * SCALING_SETTLED / n times as far. A scale that really grows is still followed, since every
 * clipped value widens the spread: a thousandfold growth takes 15 % more samples than were seen. A
 * first value that is beyond REACH^2 spreads of the next ones, up to SETTLED, does not count.
 *
 * The result is a function of the samples in their order.
 */
#ifndef RETAIN_LEARN_SCALING_H
#define RETAIN_LEARN_SCALING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/state.h"
#include "nn/scale.h"

enum { SCALING_REACH = 10, SCALING_SETTLED = 32 };

/*
 * Interprets model.scale. `auto` scales vectors, unless their source says that they suit a net as
 * they are. Images have their own scale.
 */
bool scaling_wanted(const char *word, bool vectors, bool fit);

struct scaling;

/* For inputs of this many floats. */
int scaling_new(struct scaling **scaling, size_t floats, struct err *err);
/* A copy for inputs of this many floats: the first ones of the other, or new ones behind them. */
int scaling_copy(
	struct scaling **scaling, const struct scaling *other, size_t floats, struct err *err);
void scaling_free(struct scaling *scaling);

/* Counts revealed samples. */
void scaling_see(struct scaling *scaling, const float *inputs, int n);

/* The current scale; lives as long as the scaling and changes with it. */
const struct scale *scaling_scale(const struct scaling *scaling);

/* The number of values counted for each input number; lives as long as the scaling. */
const int64_t *scaling_seen(const struct scaling *scaling);

/* Continues from a model's scale after this many values of each number. */
void scaling_set(struct scaling *scaling, const struct scale *scale, const int64_t *seen);

void scaling_state(struct scaling *scaling, struct state *state);

#endif
