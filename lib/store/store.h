/*
 * A store keeps the revealed samples and returns them by id. Ids are 0, 1, 2, ... in the order of
 * revealing. Pools hold ids, stores hold samples. Two kinds are here; an owner may bring its own
 * (store/store_impl.h):
 *
 * - in memory, for samples that come from outside. Each is kept until it is forgotten.
 * - in a journal: the same on disk. A sample is durable when store_add returns.
 *
 * After a crash the journal is ahead of the learner. The learner starts without samples, or with
 * those of its last checkpoint: store_count. The journal has all that were ever added:
 * store_stored. The learner catches up by replaying the calls that it lacks:
 *
 *	store_in_journal, then state_load if there is a checkpoint
 *	for (store_pending(store, &n); n > 0; store_pending(store, &n)) {
 *		store_fetch the n samples from store_count on
 *		let the learner take a time step of them, store_add included
 *	}
 *
 * In this loop store_add writes nothing: it compares the samples with those of the journal and
 * counts them. Each call has its original size. After the loop store_add adds again.
 *
 * A checkpoint may need samples that the learner forgets later. So forgetting leaves them on
 * disk, and store_state records which are forgotten. Once a checkpoint is on disk,
 * store_checkpoint removes what the checkpoint before it had recorded:
 *
 *	state_save, then store_checkpoint
 *
 * So the last two checkpoints can be resumed from, in case the newer is damaged; older ones
 * cannot. A crash between the two calls is harmless: the next store_checkpoint does the work of
 * both.
 */
#ifndef RETAIN_STORE_STORE_H
#define RETAIN_STORE_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/state.h"
#include "target/target.h"

struct store;
struct journal;

/*
 * Samples of `floats` numbers each, with targets of `width` cells; all arrays of labels have
 * them.
 */
int store_in_memory(struct store **store, size_t floats, int width, struct err *err);

/*
 * The same in the journal of a folder (store/journal.h); creates both if needed. store_journal
 * returns that journal, for inputs that wait for their labels: inputs taken from it must be added
 * next. It lives as long as the store; NULL for other kinds.
 */
int store_in_journal(
	struct store **store, const char *folder, size_t floats, int width, struct err *err);
struct journal *store_journal(struct store *store);
void store_free(struct store *store);

/*
 * A store that only counts, for a process whose samples are held by another. store_stand sets the
 * count, for this kind or over a source.
 */
int store_elsewhere(struct store **store, size_t floats, int width, struct err *err);
void store_stand(struct store *store, int64_t count);

/*
 * A store that shows what another one, which outlives it, gets from now on, for a second learner of
 * the same stream. The other one must have added a sample before this one does, and forget none.
 */
int store_view(struct store **store, struct store *of, struct err *err);

/*
 * Gives samples more numbers from now on; those that are there have NAN in the new places. In
 * memory or a journal only.
 */
int store_widen(struct store *store, size_t floats, struct err *err);

/*
 * Adds n samples; the first gets the id store_count. Over a source, inputs and labels must be
 * what the source would give, and inputs
 * may be NULL. A failure adds nothing.
 */
int store_add(struct store *store, const float *inputs, const union target *labels, int n,
	struct err *err);
int64_t store_count(const struct store *store);

/* All samples, including those that an earlier process added to the journal. */
int64_t store_stored(const struct store *store);

/*
 * The size of the next call to replay, whose samples begin at store_count; 0 if none is left.
 * ERR_STATE if the journal no longer has what a learner at store_count needs.
 */
int store_pending(struct store *store, int *n, struct err *err);

/*
 * Fills in n samples. An id that was never added is an error; so is a forgotten one, except over
 * a source. Allocates nothing. One thread at a time, since fetching may fill the cache.
 */
int store_fetch(struct store *store, const int64_t *ids, int n, float *inputs, union target *labels,
	struct err *err);

/*
 * The same for positions [at, at + n) of an iteration's training batch: a source that augments
 * gives each position its own view. store_expect announces a probable request, so that it can be
 * prefetched.
 */
int store_draw(struct store *store, const int64_t *ids, int n, uint64_t iteration, int at,
	float *inputs, union target *labels, struct err *err);
void store_expect(struct store *store, const int64_t *ids, int n, uint64_t iteration, int at);
bool store_prepares(const struct store *store); /* whether it uses store_expect */

/*
 * The sample will not be requested again, and its place may be reused. Ignores missing ids. Does
 * nothing over a source.
 */
void store_forget(struct store *store, int64_t id);

/*
 * Call after the checkpoint written by store_state is on disk. Removes from the journal, in one
 * transaction, the samples forgotten in the checkpoint before that. May be retried after a
 * failure, but need not be. Does nothing for other kinds.
 */
int store_checkpoint(struct store *store, struct err *err);

/*
 * In memory: all samples. Over a source: the count; the cache refills. In a journal: the count,
 * and which samples are forgotten.
 */
void store_state(struct store *store, struct state *state);

#endif
