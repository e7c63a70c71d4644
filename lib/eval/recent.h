/* Accuracy over the latest labelled predictions, as opposed to the whole run. */
#ifndef RETAIN_EVAL_RECENT_H
#define RETAIN_EVAL_RECENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/state.h"

enum { RECENT_SAMPLES = 1000 };

/* Zeroed: empty. */
struct recent {
	int64_t seen;
	int right;                    /* of those in the ring */
	uint8_t ring[RECENT_SAMPLES]; /* 1: right; the next one goes to seen % RECENT_SAMPLES */
};

void recent_add(struct recent *recent, bool right);

/* In [0, 1]; NAN before the first; over the available ones while there are fewer. */
double recent_accuracy(const struct recent *recent);

void recent_state(struct recent *recent, struct state *state);

#endif
