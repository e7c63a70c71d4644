/*
 * Learning efficacy by albums. Consecutive photos by one user are alike, so a learner that has
 * just seen some of an album gets the rest right cheaply. This is the measure of Cai et al.
 * (Online Continual Learning with Natural Distribution Shifts, 2021), as their program computes
 * it: a time step counts by its first album of a user other than the one of the previous step's
 * last sample.
 *
 * Precisely: from the step's samples in time order, those of that last user are dropped. The
 * album is the first remaining sample and those that follow it, up to the first of another user.
 * Its accuracy is averaged over the steps that have an album, with equal weight. The first step
 * has no previous user.
 */
#ifndef RETAIN_EVAL_ALBUM_H
#define RETAIN_EVAL_ALBUM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/state.h"
#include "target/target.h"

/* Zeroed: no step yet. */
struct album {
	bool begun;
	int64_t last;  /* the user of the latest sample */
	int64_t steps; /* with an album */
	double right;  /* the sum of their accuracies */
};

/* Counts a time step; users are identified by distinct numbers. */
void album_step(struct album *album, const int64_t *users, const union target *guesses,
	const union target *labels, int n);

/* In [0, 1]; NAN before the first album. */
double album_top1(const struct album *album);

void album_state(struct album *album, struct state *state);

#endif
