/*
 * What happens to a run whose loss becomes NaN, by run.on_nan:
 *
 * - stop: it ends with an error that names iteration and rate. Checkpoints stay as they are; none
 *   is ever written from NaN weights.
 * - rollback: it returns, with its logs, to the last due checkpoint or, if that was made right
 *   before the failing iteration, to the one before it. All rates are halved from there on,
 *   momentum restarts, events.jsonl gets a line, and the new state is saved at once. The run
 *   gives up if this happens several times without another checkpoint in between.
 *
 * If run.checkpoint_every counts steps, a run with rollbacks is as repeatable as any other, even
 * across kills and stops.
 */
#ifndef RETAIN_SESSION_RUN_ROLLBACK_H
#define RETAIN_SESSION_RUN_ROLLBACK_H

#include "base/err.h"

struct run;

/* Rejects rollback for a run that keeps no checkpoints. */
int rollback_check(const struct run *run, struct err *err);

/* Writes a first checkpoint if the run may be rolled back. */
int rollback_begin(struct run *run, struct err *err);

/* For a diverged run; err says how. 0: the run was rolled back and may continue. */
int rollback(struct run *run, struct err *err);

#endif
