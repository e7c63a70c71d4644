/*
 * A store keeps the samples that were revealed and gives them back by id. Ids are
 * 0, 1, 2, ... in the order of revealing. Pools hold ids, stores hold samples. Two
 * kinds are here; an owner may bring its own (store/store_impl.h):
 *
 * - in memory, for samples that come from outside. Each is kept until it is
 *   forgotten.
 * - in a journal: the same on disk. A sample is safe there when store_add returns.
 *
 * After a crash the journal is ahead of the learner. The learner starts without
 * samples, or with those of its last checkpoint: store_count. The journal has all
 * that were ever added: store_stored. The learner becomes what it was by going
 * through the calls that it lacks:
 *
 *	store_in_journal, then state_load if there is a checkpoint
 *	for (store_pending(store, &n); n > 0; store_pending(store, &n)) {
 *		store_fetch the n samples from store_count on
 *		let the learner take a time step of them, store_add included
 *	}
 *
 * In this loop store_add writes nothing: it compares the samples with those of the
 * journal and counts them. Each call has its former size. After the loop store_add
 * adds again.
 *
 * A checkpoint needs samples that the learner forgets only later. So forgetting
 * leaves them on disk, and store_state notes which are forgotten. When a checkpoint
 * is safe on disk, store_checkpoint removes what the checkpoint before it had noted:
 *
 *	state_save, then store_checkpoint
 *
 * So the last two checkpoints can be resumed from, should the newer be damaged;
 * older ones cannot. A crash between the two calls costs nothing: the next
 * store_checkpoint does the work of both.
 */
#ifndef RETAIN_STORE_STORE_H
#define RETAIN_STORE_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/state.h"

struct store;
struct journal;

/* Samples of `floats` numbers each. */
int store_in_memory(struct store **store, size_t floats, struct err *err);

/*
 * The same in the journal of a folder (store/journal.h); both are made if need be.
 * store_journal gives that journal, for inputs that wait for their labels: what is
 * taken from it must be added next. It lives as long as the store; other kinds
 * have none (NULL).
 */
int store_in_journal(struct store **store, const char *folder, size_t floats, struct err *err);
struct journal *store_journal(struct store *store);
void store_free(struct store *store);

/*
 * One that only counts, for a process whose samples another one has. store_stand says how
 * many there are, of this kind or over a source.
 */
int store_elsewhere(struct store **store, size_t floats, struct err *err);
void store_stand(struct store *store, int64_t count);

/*
 * Adds n samples; the first gets the id store_count. Labels must not be negative.
 * Over a source, inputs and labels must be what the source would give, and inputs
 * may be NULL. A failure adds nothing.
 */
int store_add(
	struct store *store, const float *inputs, const int32_t *labels, int n, struct err *err);
int64_t store_count(const struct store *store);

/* All samples, including those that a former process added to the journal. */
int64_t store_stored(const struct store *store);

/*
 * The size of the next call to go through, whose samples begin at store_count; 0 if
 * none is left. ERR_STATE if the journal no longer has what a learner at store_count
 * needs.
 */
int store_pending(struct store *store, int *n, struct err *err);

/*
 * Fills in n samples. An id that was never added is an error; so is a forgotten one,
 * except over a source. Allocates nothing. One thread at a time, since fetching may
 * fill the cache.
 */
int store_fetch(struct store *store, const int64_t *ids, int n, float *inputs, int32_t *labels,
	struct err *err);

/*
 * The same for places [at, at + n) of the training batch of an iteration: a source that
 * augments gives each place of the batch a view of its own. store_expect says what will
 * probably be asked for soon, so that it can be made ready.
 */
int store_draw(struct store *store, const int64_t *ids, int n, uint64_t iteration, int at,
	float *inputs, int32_t *labels, struct err *err);
void store_expect(struct store *store, const int64_t *ids, int n, uint64_t iteration, int at);
bool store_prepares(const struct store *store); /* whether it has use for store_expect */

/*
 * The sample will not be asked for again, and its place may be used for another.
 * Ignores ids that are not there. Does nothing over a source.
 */
void store_forget(struct store *store, int64_t id);

/*
 * Call after the checkpoint written by store_state is on disk. Removes from the journal, in
 * one transaction, what was forgotten in the checkpoint before that. After a failure
 * it may be called again, or not. Does nothing for other kinds.
 */
int store_checkpoint(struct store *store, struct err *err);

/*
 * In memory: all samples. Over a source: how many there are; the cache fills again.
 * In a journal: how many there are, and which of them are forgotten.
 */
void store_state(struct store *store, struct state *state);

#endif
