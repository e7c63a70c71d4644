/*
 * Rows whose inputs come again, exactly or nearly: what was true then may be true now, whatever the
 * blend says. A row comes again if its nearest neighbour by inputs is far closer than rows usually
 * are to theirs; the answer it repeats is the mean of all neighbours that close.
 *
 * A record over such rows says how much better repeating was than blending, in mean errors of the
 * blend and clipped. As long as it is not, nothing is repeated.
 */
#ifndef RETAIN_LEARN_NUMBERS_AGAIN_H
#define RETAIN_LEARN_NUMBERS_AGAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/state.h"

struct again {
	int64_t seen;
	double usual;  /* running mean of distances to the nearest neighbour, squared */
	double record; /* decayed sum */
};

/* About a row: distance to its nearest neighbour, infinite without one. */
struct again_said {
	double distance, value;
	bool repeats;  /* the row comes again, and what was true then is `value` */
	double answer; /* the blend's, or nearer to `value` */
};

void again_init(struct again *again);

/* How close a neighbour has to be. */
double again_near(const struct again *again);

/* Fills in the answer, from the blend's. */
void again_ask(const struct again *again, double blended, struct again_said *said);

/* error: the blend's mean error; share: the sample's weight, up to 1. */
void again_learn(struct again *again, const struct again_said *said, double target, double blended,
	double error, double share);

void again_state(struct again *again, struct state *state);

#endif
