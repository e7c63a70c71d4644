/*
 * What happens to a run whose loss is no longer a number, by run.on_nan:
 *
 * - stop: it ends with an error that names iteration and rate. Checkpoints stay as
 *   they are; none is ever made of weights that are no numbers.
 * - rollback: it returns, with its logs, to the last checkpoint that was due or, where that
 *   was made right before the iteration that failed, to the one before it. All
 *   rates are halved from there on and momentum starts again, a line in events.jsonl
 *   says so, and the new state is saved at once. If this happens several times without
 *   another checkpoint in between, the run gives up.
 *
 * If run.checkpoint_every counts steps, a run that is rolled back is as repeatable
 * as any other, also through kills and stops.
 */
#ifndef RETAIN_SESSION_ROLLBACK_H
#define RETAIN_SESSION_ROLLBACK_H

#include "base/err.h"

struct run;

/* Refuses rollback to a run that keeps no checkpoints. */
int rollback_check(const struct run *run, struct err *err);

/* Where a run may be rolled back, it begins with a checkpoint. */
int rollback_begin(struct run *run, struct err *err);

/* For a run that has diverged; err says how. 0: the run has gone back and may go on. */
int rollback(struct run *run, struct err *err);

#endif
