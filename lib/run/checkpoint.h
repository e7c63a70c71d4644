/*
 * Checkpoints: the whole state of a run in its folder, so that it can be killed
 * at any moment and go on as if nothing had happened, to the last bit.
 *
 *	checkpoint/000007.state  the newest, and
 *	checkpoint/000006.state  the one before, should the newest be damaged
 */
#ifndef RETAIN_RUN_CHECKPOINT_H
#define RETAIN_RUN_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct run;

/* How often: so many time steps, or so many seconds; the other one is 0. */
struct checkpoint_interval {
	int64_t steps;
	double seconds;
};

/* From "500 steps", "90s", "10m", "2h" or "never"; where says what key it is for messages. */
int checkpoint_interval(
	struct checkpoint_interval *interval, const char *words, const char *where, struct err *err);

/* After a failure the older checkpoints are as they were. */
int checkpoint_save(struct run *run, struct err *err);

/*
 * Fills a fresh run from its folder's newest checkpoint that is whole; one that is
 * damaged is told to the run's log. *found: whether there was any. A checkpoint of
 * another config is an error, of another instruction set a warning.
 */
int checkpoint_load(struct run *run, bool *found, struct err *err);

/* Removes all of the folder's checkpoints. */
int checkpoint_clear(const char *folder, struct err *err);

#endif
