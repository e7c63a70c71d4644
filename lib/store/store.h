/*
 * The store keeps the samples that were revealed, and gives them back by id:
 * the number of a sample in the order of revealing, 0, 1, 2, ... Pools hold
 * ids, the store holds bytes. Two kinds are here, and an owner may bring its own
 * (store/store_impl.h):
 *
 * - in memory: samples that come from outside, kept until they are forgotten.
 * - in a journal: likewise, on disk, and safe there when store_add returns.
 *
 * A journal outlives the process, and is ahead of the learner that comes after
 * a crash: the learner starts at sample 0 or where its checkpoint stood, which
 * is what store_count says; the journal has store_stored. So that nothing that
 * was added is lost, and the learner becomes what it was:
 *
 *	store_in_journal, then state_load if there is a checkpoint
 *	for (store_pending(store, &n); n > 0; store_pending(store, &n)) {
 *		store_fetch the n samples from store_count on
 *		let the learner go through a step with them, store_add included
 *	}
 *
 * Here store_add finds the samples in the journal, compares and counts them,
 * and writes nothing. Calls come back in their former sizes. After that it adds.
 *
 * A checkpoint needs samples that the learner forgets only later. So forgetting
 * leaves the sample on disk; store_state keeps what is forgotten by then; and
 * store_checkpoint, called when the checkpoint is safely on disk, removes what
 * the one before it had already:
 *
 *	state_save, then store_checkpoint
 *
 * So the last two checkpoints can both be resumed, should the newer be damaged;
 * older ones cannot. A crash in between costs nothing, the next store_checkpoint
 * removes it.
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
 * Likewise, in a folder that is made if need be (store/journal.h). The journal
 * lives as long as the store; it is for inputs that wait for their labels:
 * those that were taken from it are the next to be added. NULL for other kinds.
 */
int store_in_journal(struct store **store, const char *folder, size_t floats, struct err *err);
struct journal *store_journal(struct store *store);
void store_free(struct store *store);

/*
 * Adds the next n samples, whose labels are known now; the first gets id
 * store_count. Labels are not negative. Over a source inputs and labels must be
 * what the source gives: they are kept as they are; inputs may be NULL there. A
 * failure adds nothing.
 */
int store_add(
	struct store *store, const float *inputs, const int32_t *labels, int n, struct err *err);
int64_t store_count(const struct store *store);

/* How many samples there are with those that a former process added to the journal. */
int64_t store_stored(const struct store *store);

/*
 * How many samples, from store_count on, the next call that is to be repeated
 * has added; 0 when there is none. ERR_STATE if the journal no longer has what
 * a learner at store_count would need.
 */
int store_pending(struct store *store, int *n, struct err *err);

/*
 * Ids that were never added are errors, and so are, except over a source, those
 * that have been forgotten. Allocates nothing. One caller at a time: fetching may fill the
 * cache.
 */
int store_fetch(struct store *store, const int64_t *ids, int n, float *inputs, int32_t *labels,
	struct err *err);

/*
 * The same for the training batch of an iteration: a source that augments gives
 * each place of the batch its own view of its sample. store_expect says that this
 * will probably be asked for soon, so that it can be made ready.
 */
int store_draw(struct store *store, const int64_t *ids, int n, uint64_t iteration, float *inputs,
	int32_t *labels, struct err *err);
void store_expect(struct store *store, const int64_t *ids, int n, uint64_t iteration);
bool store_prepares(const struct store *store); /* whether it has use for store_expect */

/*
 * The sample will not be asked for again; its place may be used for another.
 * Ids that are not there are ignored. Over a source this does nothing.
 */
void store_forget(struct store *store, int64_t id);

/*
 * Removes from the journal, in one transaction, what was forgotten in the
 * checkpoint before the one that store_state saw last. To be called after what it
 * saw was saved. A failure may be followed by another try, or by none. Nothing
 * for other kinds.
 */
int store_checkpoint(struct store *store, struct err *err);

/*
 * In memory: all samples. Over a source: only how many there were; the cache
 * fills again. In a journal: how many, and which of them are to be removed.
 */
void store_state(struct store *store, struct state *state);

#endif
