/*
 * ADRep adapts how far back mixed replay reaches. It is told how many of a time step's new
 * samples the model that serves inference predicts before it trains on any of them, and how
 * many of the replayed ones it gets right in the step's first iteration. At the end
 * of each part of the stream: if replayed samples did better by more than half a
 * percentage point, replay reaches twice as far from then on, but not beyond what was
 * seen; if they did worse by more than that, half as far.
 */
#ifndef RETAIN_LEARN_EXTRAS_ADAPT_H
#define RETAIN_LEARN_EXTRAS_ADAPT_H

#include <stdint.h>

#include "base/state.h"

struct adapt {
	int64_t reach; /* in samples */
	int64_t least; /* the reach never becomes less */
	/* Counts of the current part: */
	int64_t fresh, fresh_hits, replayed, replayed_hits;
};

/* Counts a time step's new samples, and a replayed one. */
void adapt_fresh_hits(struct adapt *adapt, int64_t samples, int64_t hits);
void adapt_replay_hit(struct adapt *adapt, int hit);

/* The shares of hits in the part so far; NAN without samples. */
double adapt_fresh(const struct adapt *adapt);
double adapt_replayed(const struct adapt *adapt);

/* Ends a part, after so many samples of the stream: moves the reach, starts counting again. */
void adapt_part(struct adapt *adapt, int64_t seen);

/* What objective_reach is told: the reach, or 0 (all) while no more than that was seen. */
int64_t adapt_history(const struct adapt *adapt, int64_t seen);

#endif
