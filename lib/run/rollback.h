/*
 * What becomes of a run whose loss is no number any more, by run.on_nan:
 *
 * - stop: it ends with an error that names iteration and rate. Checkpoints stay as
 *   they are; none is ever made of weights that are no numbers.
 * - rollback: it becomes what it was at the last checkpoint that was due, all rates
 *   are halved from there on, a line in events.jsonl says so, and all of this is
 *   saved at once. Logs go back with it. When it happens several times without
 *   another checkpoint in between the run gives up.
 *
 * With checkpoints so many steps apart, a run that is rolled back is as repeatable
 * as any other, kills and stops included.
 */
#ifndef RETAIN_RUN_ROLLBACK_H
#define RETAIN_RUN_ROLLBACK_H

#include "base/err.h"

struct run;

/* Refuses rollback to a run that keeps no checkpoints. */
int rollback_check(const struct run *run, struct err *err);

/* Where a run may be rolled back, it begins with a checkpoint. */
int rollback_begin(struct run *run, struct err *err);

/* For a run that has diverged, with err as it was told. 0: the run stands earlier and may go on. */
int rollback(struct run *run, struct err *err);

#endif
