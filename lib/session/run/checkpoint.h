/*
 * Checkpoints: the complete state of a run in its folder, so that it can be killed at any moment
 * and continue bit for bit.
 *
 *	checkpoint/000007.state       the newest
 *	checkpoint/000006.state       the one before, in case the newest is damaged
 *	checkpoint/000008.stop.state  written because the run was stopped before one was due, or
 *	                              has ended, for queries that model.safetensors cannot answer
 *
 * If run.checkpoint_every counts time steps, the config alone decides when checkpoints are due,
 * however often a run was stopped in between. A rollback (session/run/rollback.h) returns to one that
 * was due, and the last of those is always kept; so it does not depend on stops either.
 */
#ifndef RETAIN_SESSION_RUN_CHECKPOINT_H
#define RETAIN_SESSION_RUN_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"
#include "base/state.h"

struct run;

/*
 * A failure leaves the older checkpoints intact. A diverged run is refused (ERR_STATE), to keep
 * the good checkpoints.
 */
int checkpoint_save(struct run *run, struct err *err);

/* The fields of a checkpoint, for a caller's own state file. */
void checkpoint_state(struct run *run, struct state *state);

/*
 * Loads the folder's newest intact checkpoint into a fresh run. Damaged ones are logged. *found:
 * whether there was any. A checkpoint of another config is an error, one of another instruction
 * set a warning.
 */
int checkpoint_load(struct run *run, bool *found, struct err *err);

/*
 * The same for a live run: returns it to the last due checkpoint of an earlier iteration than
 * `before` or, if there is none, to the last due one. *number identifies it for
 * checkpoint_save_back; -1: there is none.
 */
int checkpoint_back(struct run *run, int64_t before, int64_t *number, struct err *err);

/* Saves a run after checkpoint_back, and keeps the checkpoint before `from`. */
int checkpoint_save_back(struct run *run, int64_t from, struct err *err);

/*
 * Loads only the learner, from a folder's newest intact checkpoint; changes nothing in the
 * folder. *found as above.
 */
struct learner;
int checkpoint_load_learner(const char *folder, struct learner *learner, const struct log *log,
	bool *found, struct err *err);

/* Whether there is a due checkpoint; whether there is any. */
bool checkpoint_there(const struct run *run);
bool checkpoint_any(const char *folder);

/* Removes all of the folder's checkpoints. */
int checkpoint_clear(const char *folder, struct err *err);

#endif
