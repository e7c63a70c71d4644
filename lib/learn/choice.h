/*
 * MIR's choice (maximally interfered retrieval, criterion s_MI-1): of as many
 * candidates from past tasks as a batch has samples, those become its second half
 * whose loss rises most by a virtual step, one of plain SGD without momentum or
 * decay, on its first half. Costs a gradient of the first half, a sweep over the
 * parameters, and all candidates forward twice.
 */
#ifndef RETAIN_LEARN_CHOICE_H
#define RETAIN_LEARN_CHOICE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct learner;

/* Room for batches of n samples, parameters and statistics of these numbers. */
struct choice;
int choice_new(struct choice **choice, int n, size_t params, size_t stats, struct err *err);
void choice_free(struct choice *choice);

/*
 * Replaces the second half of the learner's ids for iteration k. Without a past
 * they stay. What was computed is told to the learner's watch.
 */
int choice_replace(struct learner *learner, int64_t k, struct err *err);

/*
 * The positions of the `keep` greatest of n rises, in the order of positions; of
 * equal ones the first. A rise that is no number counts as the greatest. order has
 * room for n.
 */
struct choice_rise {
	float by;
	int position;
};
void choice_rank(struct choice_rise *rises, int n, int keep);

#endif
