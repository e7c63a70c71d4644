/*
 * Learning efficacy by albums. Photos that one user took one after the other are alike, so a
 * learner that has just seen some of an album gets the rest of it right for little. The
 * measure of Cai et al. (Online Continual Learning with Natural Distribution Shifts, 2021), as
 * their program computes it: a time step counts by its first album of another user than the
 * one whose sample ended the step before.
 *
 * Precisely: of the step's samples in the order of time, those of that last user are left
 * out; of the rest the first sample and those that follow it, up to the first of another
 * user, are the album. The share of them that was right is averaged over the steps that have
 * an album, each counting the same. The first step has no user before it.
 */
#ifndef RETAIN_EVAL_ALBUM_H
#define RETAIN_EVAL_ALBUM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/state.h"

/* Zeroed: no step yet. */
struct album {
	bool begun;
	int64_t last;  /* the user of the latest sample */
	int64_t steps; /* that had an album */
	double right;  /* the sum of their shares */
};

/* Counts a time step; users are numbers that differ where users do. */
void album_step(struct album *album, const int64_t *users, const int32_t *predicted,
	const int32_t *labels, int n);

/* In [0, 1]; NAN before the first album. */
double album_top1(const struct album *album);

void album_state(struct album *album, struct state *state);

#endif
