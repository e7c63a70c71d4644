/*
 * ADRep: how far back mixed replay reaches. In the first iteration of every time
 * step one forward pass shows how many of the new samples, which were never trained
 * on, and how many of the replayed ones the model that serves inference gets right.
 * Once per part of the stream: if replayed samples do better by more than half a
 * point, replay reaches twice as far from then on; if they do worse by more than
 * that, half as far; never further than what was seen.
 */
#ifndef RETAIN_LEARN_ADAPT_H
#define RETAIN_LEARN_ADAPT_H

#include <stdint.h>

#include "base/state.h"

struct adapt {
	int64_t reach; /* in samples */
	int64_t least; /* it never becomes less */
	/* Of the part that goes on: */
	int64_t fresh, fresh_hits, replayed, replayed_hits;
};

/* Counts one sample. */
void adapt_count(struct adapt *adapt, int fresh, int hit);

/* The shares of hits in the part so far; NAN without samples. */
double adapt_fresh(const struct adapt *adapt);
double adapt_replayed(const struct adapt *adapt);

/* The end of a part, after so many samples of the stream: moves the reach and starts counting again. */
void adapt_part(struct adapt *adapt, int64_t seen);

/* What mixed replay is told: the reach, or 0 for all while less than that was seen. */
int64_t adapt_history(const struct adapt *adapt, int64_t seen);

void adapt_state(struct adapt *adapt, struct state *state);

#endif
