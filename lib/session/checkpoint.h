/*
 * Checkpoints: the whole state of a run in its folder, so that it can be killed
 * at any moment and go on as if nothing had happened, to the last bit.
 *
 *	checkpoint/000007.state       the newest, and
 *	checkpoint/000006.state       the one before, should the newest be damaged
 *	checkpoint/000008.stop.state  made because the run was stopped, not because it was due, or
 *	                              has ended, for questions that model.safetensors cannot answer
 *
 * If run.checkpoint_every counts time steps, the config alone decides when checkpoints
 * are due, however often a run was stopped in between. A rollback (session/rollback.h) goes
 * back to one that was due, the last of which is always kept; so it does not depend on
 * stops either.
 */
#ifndef RETAIN_SESSION_CHECKPOINT_H
#define RETAIN_SESSION_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"
#include "base/state.h"

struct run;

/* How often, in time steps or in seconds; the other one is 0. */
struct checkpoint_interval {
	int64_t steps;
	double seconds;
};

/* From "500 steps", "90s", "10m", "2h" or "never"; where says what key it is for messages. */
int checkpoint_interval(struct checkpoint_interval *interval, const char *words, const char *where,
	struct err *err);

/*
 * After a failure the older checkpoints are as they were. A run that has diverged
 * is refused (ERR_STATE): what was saved before is worth more.
 */
int checkpoint_save(struct run *run, struct err *err);

/* What a checkpoint holds, for a state file of the caller's own. */
void checkpoint_state(struct run *run, struct state *state);

/*
 * Fills a fresh run from its folder's newest whole checkpoint. The run's log is told of
 * damaged ones. *found: whether there was any. A checkpoint of another config is an
 * error, one of another instruction set a warning.
 */
int checkpoint_load(struct run *run, bool *found, struct err *err);

/*
 * The same for a run that is going on: it becomes what it was at the last checkpoint that was
 * due and is of an iteration before this one or, if none is, at the last that was due. *number
 * says which, for checkpoint_save_back; -1: there is none.
 */
int checkpoint_back(struct run *run, int64_t before, int64_t *number, struct err *err);

/* Saves a run that went back to a checkpoint, and keeps the one before that. */
int checkpoint_save_back(struct run *run, int64_t from, struct err *err);

/*
 * Fills a fresh learner, and nothing else, from the newest whole checkpoint of a folder, in
 * which nothing changes. *found as above.
 */
struct learner;
int checkpoint_load_learner(const char *folder, struct learner *learner, const struct log *log,
	bool *found, struct err *err);

/* Whether there is one that was due; whether there is any. */
bool checkpoint_there(const struct run *run);
bool checkpoint_any(const char *folder);

/* Removes all of the folder's checkpoints. */
int checkpoint_clear(const char *folder, struct err *err);

#endif
