/*
 * ADRep adapts how far back mixed replay reaches. It compares two accuracies: of the model that
 * serves inference on a time step's new samples, before training on them, and on the replayed
 * samples of the step's first iteration. At the end of each part of the stream, replay reaches
 * twice as far (at most everything seen) if replayed samples did better by more than half a
 * percentage point, and half as far if they did worse by more than that.
 */
#ifndef RETAIN_LEARN_EXTRAS_ADAPT_H
#define RETAIN_LEARN_EXTRAS_ADAPT_H

#include <stdint.h>

#include "base/state.h"

struct adapt {
	int64_t reach; /* in samples */
	int64_t least; /* lower bound of the reach */
	/* Counts of the current part: */
	int64_t fresh, fresh_hits, replayed, replayed_hits;
};

/* Counts a time step's new samples; counts a replayed one. */
void adapt_fresh_hits(struct adapt *adapt, int64_t samples, int64_t hits);
void adapt_replay_hit(struct adapt *adapt, int hit);

/* The accuracies in the part so far; NAN without samples. */
double adapt_fresh(const struct adapt *adapt);
double adapt_replayed(const struct adapt *adapt);

/* Ends a part after `seen` samples of the stream: moves the reach and resets the counts. */
void adapt_part(struct adapt *adapt, int64_t seen);

/* The value for objective_reach: the reach, or 0 (all) while no more than that was seen. */
int64_t adapt_history(const struct adapt *adapt, int64_t seen);

#endif
