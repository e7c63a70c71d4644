/*
 * A journal keeps samples that come from outside and exist nowhere else, on disk in
 * a folder. A call that changes it is one transaction with one sync, unless it is held. When it has
 * returned 0, neither a killed process nor a power cut undoes it; when it fails,
 * nothing has changed. One call with many samples is far cheaper than many calls.
 *
 * Samples have ids 0, 1, 2, ... in the order of adding; no id is used twice, whatever
 * is removed. Beside them, inputs may wait for their labels under keys that the
 * caller chooses. The keys of the latest samples are remembered, so that a sender who
 * got no answer may send again.
 *
 * One process has a journal, and one thread uses it at a time. Disk space of what was
 * removed is used again, but the file does not shrink (store/lmdb.h).
 */
#ifndef RETAIN_STORE_JOURNAL_H
#define RETAIN_STORE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct journal;

/*
 * Opens the journal in the folder, or makes both. Samples have `floats` numbers; 0: as many
 * as they have in a journal that is there. Refuses a journal of samples of another length
 * (ERR_INPUT), a file that is no journal, of another version or cut off (ERR_FORMAT), and a
 * journal that is open already (ERR_STATE). A journal of the version before becomes one of this
 * version.
 */
int journal_open(struct journal **journal, const char *folder, size_t floats, struct err *err);
void journal_close(struct journal *journal);
size_t journal_floats(const struct journal *journal);

/*
 * From journal_hold on a call that has returned 0 is not synced, but seen by all others;
 * journal_settle syncs what was held, in one go, and ends the holding. A process that ends
 * before leaves none of it. When journal_settle fails, the journal must be opened again.
 * journal_trim settles, and so does a store whose state is saved.
 */
void journal_hold(struct journal *journal);
int journal_settle(struct journal *journal, struct err *err);

/* Adds n samples. The inputs that were taken wait no longer; see journal_take. */
int journal_add(struct journal *journal, const float *inputs, const int32_t *labels, int n,
	struct err *err);

/* How many samples were ever added, and how many of them are still there. */
int64_t journal_added(const struct journal *journal);
int64_t journal_kept(const struct journal *journal);

/*
 * Fills in n samples. One that is not there is ERR_INPUT, one that does not fit its
 * checksum ERR_FORMAT. Allocates nothing.
 */
int journal_read(struct journal *journal, const int64_t *ids, int n, float *inputs, int32_t *labels,
	struct err *err);
bool journal_has(struct journal *journal, int64_t id);

/* How many samples the call that added sample id added from there on. */
int journal_call(struct journal *journal, int64_t id, int *n, struct err *err);

/*
 * Removes samples; ids that are not there are ignored. Only a reader that is past the
 * first `needed` samples can do without them. journal_trimmed is the largest `needed`
 * there ever was.
 */
int journal_trim(
	struct journal *journal, const int64_t *ids, size_t n, int64_t needed, struct err *err);
int64_t journal_trimmed(const struct journal *journal);

/* For lmdb_snapshot_open, while nobody uses the journal; what is held is settled. */
struct lmdb *journal_tables(struct journal *journal);

/*
 * Inputs whose labels are not known yet. journal_wait has each wait under a key, text
 * of 1 to JOURNAL_KEY bytes, in place of what waited there. It keeps their guesses, too:
 * JOURNAL_GUESSES classes for each, as predicted when it came, the best first, -1 for
 * none, and the probability of the first. They stay with the sample that the input
 * becomes, the probability as long as its key is remembered. NULL: no guesses, or
 * probabilities that are not known.
 *
 * journal_take gives the input of a key whose label has come; a key that nothing waits
 * under is ERR_INPUT. The next journal_add must begin with the inputs that were taken,
 * in their order. On disk they wait until it has returned: whatever happens, an input
 * either waits or is a sample, never both, never neither. Until then its key can be
 * neither taken nor waited under.
 *
 * journal_label keeps labels of inputs that were taken while there are too few for a
 * journal_add: labels[i] is that of the i-th input since the last one. After a crash
 * journal_take_again takes these inputs once more, one per call, in their order, with
 * their labels; *key is empty after the last.
 */
enum { JOURNAL_KEY = 500, JOURNAL_GUESSES = 5 };

int journal_wait(struct journal *journal, const char *const *keys, const float *inputs,
	const int32_t *guesses, const double *probabilities, int n, struct err *err);
int journal_take(
	struct journal *journal, const char *key, float *input, int32_t *guesses, struct err *err);
int journal_label(struct journal *journal, const int32_t *labels, int n, struct err *err);
int journal_take_again(struct journal *journal, char key[JOURNAL_KEY + 1], float *input,
	int32_t *guesses, int32_t *label, struct err *err);
int64_t journal_waiting(const struct journal *journal);

/*
 * For a caller that has the inputs of several keys at hand: journal_look reads what waits under a
 * key and leaves it there; *found is false if nothing does. journal_leave says which keys, those
 * that something waits under, the next journal_add ends the waiting of, in its transaction;
 * borrowed until then, n 0: none. journal_drop ends it at once.
 */
int journal_look(struct journal *journal, const char *key, float *input, int32_t *guesses,
	bool *found, struct err *err);
void journal_leave(struct journal *journal, const char *const *keys, int n);
int journal_drop(struct journal *journal, const char *const *keys, int n, struct err *err);

/* Fills in the guesses of n samples, JOURNAL_GUESSES each. Errors are those of journal_read. */
int journal_guesses(
	struct journal *journal, const int64_t *ids, int n, int32_t *guesses, struct err *err);

/*
 * journal_beside says what the next journal_add keeps with its samples: guesses for
 * those that did not wait, and a mark of where the learner stood before it was shown
 * them. Both are borrowed until then. NULL: no guesses, and a mark of zeros.
 * journal_marked gives the mark of a sample.
 */
struct journal_mark {
	int64_t iteration;
	double credit; /* what was left of a budget */
	int64_t left;  /* iterations that were paid for and not made */
};
void journal_beside(
	struct journal *journal, const int32_t *guesses, const struct journal_mark *mark);
int journal_marked(struct journal *journal, int64_t id, struct journal_mark *mark, struct err *err);

/*
 * Notes are words under names, for what must be known of samples to understand them: the
 * names of their classes, for one. A note, copied, is kept in place of one of that name by
 * the next journal_add, journal_wait or journal_label, in its transaction; journal_noted
 * does not find it before. *words is for mem_free, and NULL if there is no such note.
 */
int journal_note(struct journal *journal, const char *name, const char *words, struct err *err);
int journal_noted(struct journal *journal, const char *name, char **words, struct err *err);

/*
 * Sets, from the next call on, how many inputs may wait (the oldest give way to new
 * ones) and of how many of the latest samples the keys are remembered. Otherwise they
 * are JOURNAL_WAITING and JOURNAL_REMEMBERED.
 */
enum { JOURNAL_WAITING = 1 << 20, JOURNAL_REMEMBERED = 1 << 16 };
void journal_bound(struct journal *journal, int64_t waiting, int64_t remembered);

/*
 * What became of a key, and what was predicted for its input. `input` may be NULL;
 * otherwise it is compared with the key's. An added sample's is known by a checksum.
 */
enum journal_place {
	JOURNAL_UNKNOWN, /* it never came, or is no longer remembered */
	JOURNAL_WAITS,
	JOURNAL_TAKEN,
	JOURNAL_ADDED,
};

struct journal_found {
	enum journal_place place;
	int64_t id; /* of the sample, if it was added; so is the label */
	int32_t label;
	int32_t prediction; /* the first guess; -1: there was none, or it is not known */
	double probability; /* NAN: not known */
	bool differs;       /* the key's input is known to be another, or waits and is damaged */
};
int journal_find(struct journal *journal, const char *key, const float *input,
	struct journal_found *found, struct err *err);

#endif
