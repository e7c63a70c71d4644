/*
 * Whether one model is better than another, from paired losses that come one by one, with an answer
 * that may be looked at after every one of them.
 *
 * A bet against "it is not better by more than the margin": a fortune that begins at 1 and is
 * multiplied by 1 + bet * (difference - margin) for each pair, where the bet follows from earlier
 * pairs alone. As long as the mean of each difference, given all before, is at most the margin, the
 * fortune is a supermartingale: the probability that it ever reaches 1/p is at most p (Ville). So
 * the p below holds however often it was looked at, and for streams that drift.
 */
#ifndef RETAIN_EVAL_DUEL_H
#define RETAIN_EVAL_DUEL_H

#include <stdint.h>

#include "base/state.h"

/* Zeroed: no pair yet. */
struct duel {
	int64_t pairs;
	double sum, squares; /* of the differences */
	double fortune;      /* logarithms: now, */
	double most;         /* ... and the largest so far */
};

/* A difference in [-1, 1]: the loss of the one that is there minus that of the other. */
void duel_add(struct duel *duel, double difference, double margin);

double duel_mean(const struct duel *duel); /* of the differences; NAN without any */
double duel_p(const struct duel *duel);    /* 1 without any */

void duel_state(struct duel *duel, struct state *state);

#endif
