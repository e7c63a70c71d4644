/*
 * A journal keeps samples that exist nowhere else, on disk in a folder. A call that changes it is
 * one transaction with one sync, unless it is held. Once it has returned 0, it survives a killed
 * process and a power cut; if it fails, nothing has changed. One call with many samples is far
 * cheaper than many calls.
 *
 * Samples have ids 0, 1, 2, ... in the order of adding; ids are never reused, even after removal.
 * Beside them, inputs may wait for their labels under keys that the caller chooses. The keys of
 * the latest samples are remembered, so that a sender that got no answer may send again.
 *
 * A journal is open in one process, and used by one thread at a time. Disk space of removed
 * samples is reused, but the file does not shrink (store/lmdb.h).
 */
#ifndef RETAIN_STORE_JOURNAL_H
#define RETAIN_STORE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "target/target.h"

struct journal;

/*
 * Opens the journal in the folder, or creates both. Samples have `floats` numbers; 0: as in the
 * existing journal, and as many if nothing was ever kept there. Refuses a journal with samples of another length (ERR_INPUT), a file that is
 * not a journal, has another version or is truncated (ERR_FORMAT), and a journal that is already
 * open (ERR_STATE). A journal of the previous version is upgraded. Targets have `width` cells, and
 * so have all labels here, and target_guess(width) all guesses; 0: as in the existing journal.
 *
 * journal_floats returns the length that the journal was created with. journal_widen makes inputs
 * longer from now on. Those that are there read back with NAN in the new places, and an input
 * that ends with NANs is the same input as one without them: neither is stored.
 */
int journal_open(
	struct journal **journal, const char *folder, size_t floats, int width, struct err *err);
void journal_close(struct journal *journal);

/*
 * The journal as it is at this moment, for the calls that only read, even while another process
 * has it open; not this process. One of a former version must have been opened once before.
 */
int journal_open_snapshot(struct journal **journal, const char *folder, struct err *err);
size_t journal_floats(const struct journal *journal);
int journal_width(const struct journal *journal);
void journal_widen(struct journal *journal, size_t floats);

/*
 * After journal_hold, calls that return 0 are visible to other calls but not synced;
 * journal_settle syncs them all at once and ends the hold. If the process ends before, none of it
 * is kept. If journal_settle fails, the journal must be reopened. journal_trim settles, and so
 * does saving the state of a store.
 */
void journal_hold(struct journal *journal);
int journal_settle(struct journal *journal, struct err *err);

/* Adds n samples, which end the waiting of taken inputs; see journal_take. */
int journal_add(struct journal *journal, const float *inputs, const union target *labels, int n,
	struct err *err);

/* The number of samples ever added, and of those still there. */
int64_t journal_added(const struct journal *journal);
int64_t journal_kept(const struct journal *journal);

/*
 * Fills in n samples. A missing sample is ERR_INPUT, a wrong checksum ERR_FORMAT. Allocates
 * nothing.
 */
int journal_read(struct journal *journal, const int64_t *ids, int n, float *inputs,
	union target *labels, struct err *err);
bool journal_has(struct journal *journal, int64_t id);

/* Finds the first sample whose id is not below *id. */
int journal_next(struct journal *journal, int64_t *id, bool *found, struct err *err);

/* How many samples the call that added sample id added from there on. */
int journal_call(struct journal *journal, int64_t id, int *n, struct err *err);

/*
 * Removes samples; missing ids are ignored. Afterwards the journal only serves a reader that is
 * past the first `needed` samples. journal_trimmed is the largest `needed` so far.
 */
int journal_trim(
	struct journal *journal, const int64_t *ids, size_t n, int64_t needed, struct err *err);
int64_t journal_trimmed(const struct journal *journal);

/* For lmdb_snapshot_open, while nothing else uses the journal; settles held calls. */
struct lmdb *journal_tables(struct journal *journal);

/*
 * Inputs whose labels are not known yet. journal_wait stores each under a key, text of 1 to
 * JOURNAL_KEY bytes, replacing what waited there. It also stores their guesses, as predicted
 * on arrival, and a number that says how sure the first is. Guesses stay with the sample that the input becomes, the probability as long as its key
 * is remembered. NULL: no guesses, or unknown probabilities.
 *
 * journal_take returns the input of a key whose label has come; an unknown key is ERR_INPUT. The
 * next journal_add must begin with the taken inputs, in order. On disk they wait until it has
 * returned: whatever happens, an input either waits or is a sample, never both, never neither.
 * Until then its key can be neither taken nor waited under.
 *
 * journal_label stores labels of taken inputs while there are too few for a journal_add:
 * labels[i] is that of the i-th input since the last one. After a crash journal_take_again takes
 * these inputs once more, one per call, in order, with their labels; *key is empty after the
 * last.
 */
enum { JOURNAL_KEY = 500 };

int journal_wait(struct journal *journal, const char *const *keys, const float *inputs,
	const union target *guesses, const double *probabilities, int n, struct err *err);
/* When the inputs of the next journal_wait came, borrowed; NULL, or 0 for one: now. */
void journal_when(struct journal *journal, const int64_t *whens);
int journal_take(struct journal *journal, const char *key, float *input, union target *guesses,
	struct err *err);
int journal_label(struct journal *journal, const union target *labels, int n, struct err *err);
int journal_take_again(struct journal *journal, char key[JOURNAL_KEY + 1], float *input,
	union target *guesses, union target *label, struct err *err);
int64_t journal_waiting(const struct journal *journal);
/* Whether the input that arrived so many inputs ago (1: the newest) still waits. */
bool journal_waits(struct journal *journal, int64_t ago);
/* The newest, which must wait. */
int journal_newest(struct journal *journal, float *input, union target *guesses, struct err *err);

/*
 * For a caller that has the inputs of several keys at hand: journal_look reads what waits under a
 * key and leaves it there; *found is false if nothing does. journal_leave names waiting keys that
 * the next journal_add removes in its transaction; borrowed until then, n 0: none. journal_drop
 * removes them at once.
 */
int journal_look(struct journal *journal, const char *key, float *input, union target *guesses,
	bool *found, struct err *err);
void journal_leave(struct journal *journal, const char *const *keys, int n);
int journal_drop(struct journal *journal, const char *const *keys, int n, struct err *err);

/* Fills in the guesses of n samples. Errors are those of journal_read. */
int journal_guesses(
	struct journal *journal, const int64_t *ids, int n, union target *guesses, struct err *err);

/*
 * What is kept of a sample beside what is learned from: times in milliseconds since 1970 (0:
 * unknown), its key (empty: it had none, or came to a former version and is no longer remembered),
 * and what journal_wait was given as its probability. journal_next_waiting has the same of the
 * first waiting input whose number is not below *arrival; its key is empty after the last.
 */
struct journal_said {
	int64_t asked, labelled;
	int64_t corrected; /* 0: its label is the first one */
	double probability;
	char key[JOURNAL_KEY + 1];
};
int journal_said(struct journal *journal, int64_t id, struct journal_said *said, struct err *err);
int journal_next_waiting(
	struct journal *journal, int64_t *arrival, struct journal_said *said, struct err *err);

/*
 * Changes of samples that are there; notes are written in their transaction. journal_correct gives
 * one another label. journal_forget puts copies of samples `from` in the place of others, whose
 * keys, times and guesses go, and drops waiting inputs. Old bytes may stay in free pages of the file
 * until journal_compact has written a new one; readers of snapshots are waited for, up to a minute.
 *
 * journal_ids finds all samples of a key, in order, for mem_free; journal_copies those that are
 * copies of one; journal_copy_of says of which, -1: it is none.
 */
int journal_correct(
	struct journal *journal, int64_t id, const union target *label, struct err *err);
int journal_forget(struct journal *journal, const int64_t *ids, const int64_t *from, size_t n,
	const char *const *waiting, int waiting_count, struct err *err);
int journal_compact(struct journal *journal, struct err *err);
int journal_ids(
	struct journal *journal, const char *key, int64_t **ids, size_t *count, struct err *err);
int journal_copies(
	struct journal *journal, int64_t of, int64_t **ids, size_t *count, struct err *err);
int64_t journal_copy_of(const struct journal_said *said);

/*
 * journal_beside sets what the next journal_add stores with its samples: guesses for those that
 * did not wait, and a mark of the learner's position before it saw them. Both are borrowed until
 * then. NULL: no guesses, and a zero mark. journal_marked returns the mark of a sample.
 */
struct journal_mark {
	int64_t iteration;
	double credit; /* unused budget */
	int64_t left;  /* iterations paid for but not made */
};
void journal_beside(
	struct journal *journal, const union target *guesses, const struct journal_mark *mark);
int journal_marked(struct journal *journal, int64_t id, struct journal_mark *mark, struct err *err);

/*
 * journal_weigh sets the weights of the next n samples to be added, borrowed; n 0: all are 1.
 * journal_label and journal_add write them in their transactions. journal_weights fills in those of
 * samples with ids from `first` on, added or labelled; what has none weighs 1.
 */
void journal_weigh(struct journal *journal, const float *weights, int n);
int journal_weights(struct journal *journal, int64_t first, int n, float *weights, struct err *err);

/*
 * Notes are named strings with information needed to interpret the samples, such as class names.
 * journal_note copies a note; the next journal_add, journal_wait or journal_label writes it in
 * its transaction, replacing one of the same name. journal_noted does not find it before. Free
 * *words with mem_free; NULL if there is no such note.
 */
int journal_note(struct journal *journal, const char *name, const char *words, struct err *err);
int journal_noted(struct journal *journal, const char *name, char **words, struct err *err);
int journal_write_notes(struct journal *journal, struct err *err); /* at once */

/*
 * Sets, from the next call on, how many inputs may wait (new ones replace the oldest) and for how
 * many of the latest samples keys are remembered. The defaults are JOURNAL_WAITING and
 * JOURNAL_REMEMBERED.
 */
enum { JOURNAL_WAITING = 1 << 20, JOURNAL_REMEMBERED = 1 << 16 };
void journal_bound(struct journal *journal, int64_t waiting, int64_t remembered);

/*
 * The state of a key, and what was predicted for its input. `input`, if not NULL, is compared
 * with the key's; with an added sample's by checksum.
 */
enum journal_place {
	JOURNAL_UNKNOWN, /* it never came, or is no longer remembered */
	JOURNAL_WAITS,
	JOURNAL_TAKEN,
	JOURNAL_ADDED,
};

struct journal_found {
	enum journal_place place;
	int64_t id; /* of an added sample; so is the label */
	union target label[TARGET_WIDTH];
	/*
	 * The guess, TARGET_NONE: unknown. Of an added sample with a target of one cell only the
	 * first cell is kept.
	 */
	union target guess[TARGET_GUESS_MOST];
	double probability; /* as journal_wait was given it; NAN: unknown */
	bool differs;       /* the key's input is known to differ, or waits and is damaged */
};
int journal_find(struct journal *journal, const char *key, const float *input,
	struct journal_found *found, struct err *err);

#endif
