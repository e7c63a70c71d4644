/*
 * A journal: samples that came from outside and exist nowhere else, on disk in
 * a folder. What a call that changes it has returned for is synced: neither a
 * killed process nor a power cut takes it away. A call is one transaction with
 * one sync, all of it or nothing, so many samples per call are far cheaper
 * than many calls.
 *
 * Samples have ids 0, 1, 2, ... in the order of adding; an id is never given
 * twice, whatever is removed. Beside them inputs may wait for their labels
 * under keys that the caller chooses. The keys of the latest samples are
 * remembered, so that a sender who got no answer may send again.
 *
 * A journal belongs to one process and to one caller at a time. The disk space
 * of what was removed is used again, but the file does not shrink (see
 * store/tables.h).
 */
#ifndef RETAIN_STORE_JOURNAL_H
#define RETAIN_STORE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct journal;

/*
 * Opens the journal in folder, or makes it, and the folder. Samples have
 * `floats` numbers; a journal of others is refused (ERR_INPUT), and so are
 * files that are no journals, of another version, or cut off (ERR_FORMAT), and
 * a journal that is open already (ERR_STATE).
 */
int journal_open(struct journal **journal, const char *folder, size_t floats, struct err *err);
void journal_close(struct journal *journal);

/* Adds n samples and removes, in the same transaction, the inputs that were taken. */
int journal_add(struct journal *journal, const float *inputs, const int32_t *labels, int n,
	struct err *err);

/* How many samples were ever added; how many of them are there. */
int64_t journal_added(const struct journal *journal);
int64_t journal_kept(const struct journal *journal);

/*
 * Samples that are not there are ERR_INPUT, damaged ones ERR_FORMAT: each has a
 * checksum. Allocates nothing.
 */
int journal_read(struct journal *journal, const int64_t *ids, int n, float *inputs, int32_t *labels,
	struct err *err);
bool journal_has(struct journal *journal, int64_t id);

/* How many samples, from id on, the call that added id has added. */
int journal_call(struct journal *journal, int64_t id, int *n, struct err *err);

/*
 * Removes samples, those that are not there excepted. `needed` says how far a
 * reader of the journal must have come to do without them; it is kept, and the
 * largest is journal_trimmed.
 */
int journal_trim(
	struct journal *journal, const int64_t *ids, size_t n, int64_t needed, struct err *err);
int64_t journal_trimmed(const struct journal *journal);

/*
 * Inputs whose labels are not known yet. A key is text of 1 to JOURNAL_KEY
 * bytes; an input replaces what waited under its key. With an input its guesses
 * are kept: what was predicted when it came, the best first, -1 for none. They
 * stay with the sample that it becomes. Where they are NULL there are none.
 *
 * Taking gives the input of a key; it goes on waiting on disk until the next
 * journal_add has returned, which is to add the inputs that were taken, in
 * their order, before others: whatever happens, an input is in one place or the
 * other, never in both. Until then the key can be neither taken nor waited under
 * again. Unknown keys are ERR_INPUT.
 *
 * Labels may be kept before there are enough of them for a call that adds:
 * labels[i] is that of the input that was taken as the i-th since the last
 * journal_add. A later process takes those inputs again, one by one, in their
 * order, with their labels; *key is empty after the last.
 */
enum { JOURNAL_KEY = 500, JOURNAL_GUESSES = 5 };

int journal_wait(struct journal *journal, const char *const *keys, const float *inputs,
	const int32_t *guesses, int n, struct err *err);
int journal_take(
	struct journal *journal, const char *key, float *input, int32_t *guesses, struct err *err);
int journal_label(struct journal *journal, const int32_t *labels, int n, struct err *err);
int journal_take_again(struct journal *journal, char key[JOURNAL_KEY + 1], float *input,
	int32_t *guesses, int32_t *label, struct err *err);
int64_t journal_waiting(const struct journal *journal);

/* The guesses of samples, JOURNAL_GUESSES each. Errors as of journal_read. */
int journal_guesses(
	struct journal *journal, const int64_t *ids, int n, int32_t *guesses, struct err *err);

/*
 * What the next journal_add keeps with its samples: guesses of those that did not
 * wait, and a mark of where the learner stood that was about to be shown them. Both
 * are borrowed until then, and may be NULL: no guesses, and a mark of zeros.
 */
struct journal_mark {
	int64_t iteration;
	double credit; /* what was left of a budget, */
	int64_t left;  /* ... and of the iterations it paid for */
};
void journal_beside(
	struct journal *journal, const int32_t *guesses, const struct journal_mark *mark);
int journal_marked(struct journal *journal, int64_t id, struct journal_mark *mark, struct err *err);

/*
 * How many inputs may wait, the oldest giving way to new ones, and of how many
 * of the latest samples the keys are remembered. Holds from the next call on;
 * without it JOURNAL_WAITING and JOURNAL_REMEMBERED.
 */
enum { JOURNAL_WAITING = 1 << 20, JOURNAL_REMEMBERED = 1 << 16 };
void journal_bound(struct journal *journal, int64_t waiting, int64_t remembered);

/* What became of a key. */
enum journal_place {
	JOURNAL_UNKNOWN, /* nothing, or it was long ago */
	JOURNAL_WAITS,
	JOURNAL_TAKEN,
	JOURNAL_ADDED,
};

struct journal_found {
	enum journal_place place;
	int64_t id; /* of the sample, where it was added, */
	int32_t label;
};
int journal_find(
	struct journal *journal, const char *key, struct journal_found *found, struct err *err);

#endif
