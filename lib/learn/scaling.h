/*
 * Running standardisation of inputs: the mean and the spread of every number over all
 * samples that were revealed, and the scale (nn/scale.h) that follows from them. It
 * belongs to the model: all inputs pass it on their way to the net, those that are
 * predicted and those that are replayed, by the statistics of the moment.
 *
 * A number that is not finite is a missing value and does not count. A number that
 * never changed gets the factor 0. One value cannot spoil a scale: beyond SCALING_REACH
 * spreads from the mean it counts as if it were no further; while only n values were
 * seen, fewer than SCALING_SETTLED, this is SCALING_SETTLED / n times as far. A scale that
 * really grows is followed all the same, since every such value widens the spread: a
 * thousandfold takes 15 % more samples than were seen.
 *
 * What it becomes is a function of the samples in their order.
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
 * What a word of model.scale stands for. `auto` scales vectors, unless their maker says
 * that their numbers are fit for a net as they are. Images have a scale of their own.
 */
bool scaling_wanted(const char *word, bool vectors, bool fit);

struct scaling;

/* Of inputs of so many numbers. */
int scaling_new(struct scaling **scaling, size_t floats, struct err *err);
void scaling_free(struct scaling *scaling);

/* Counts the samples that were revealed. */
void scaling_see(struct scaling *scaling, const float *inputs, int n);

/* The scale of the moment; lives as long as the scaling and moves with it. */
const struct scale *scaling_scale(const struct scaling *scaling);

/* Of each number, how many values counted; lives as long as the scaling. */
const int64_t *scaling_seen(const struct scaling *scaling);

/* Goes on from the scale that a model had after so many values of each number. */
void scaling_set(struct scaling *scaling, const struct scale *scale, const int64_t *seen);

void scaling_state(struct scaling *scaling, struct state *state);

#endif
