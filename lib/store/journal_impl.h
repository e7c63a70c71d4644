/*
 * Shared by the journal's files. Its tables, with keys and values:
 *
 *	about     "header": the header; a note's name: its words, with their NUL
 *	samples   id: input and trailer
 *	waiting   key: input and tail; an input beyond header.floats ends with no NAN
 *	arrivals  sequence number of a waiting input: its key, and behind a NUL when it came
 *	labelled  future id of a taken input: its label and key, and behind a NUL when it came
 *	keys      id of a sample that had waited: its key
 *	done      key of such a sample: its id and label, and what was predicted
 *	said      id of a sample: when, and its key, without a NUL. Nothing that is learned depends
 *	          on it; former versions neither have nor miss it
 *	weights   id of a sample, or of a taken input with its label: its weight, if it is not 1
 *
 * Targets of several cells need more room than the structs below have. In front of the trailer, and
 * behind `done`, stand `more` cells: those of the label behind its first, then those of the guess
 * between its first three and its last two; in front of the tail only the latter.
 *
 * Invariants: `header` equals the table's. arrivals has the key of every waiting input. keys and
 * done agree.
 */
#ifndef RETAIN_STORE_JOURNAL_IMPL_H
#define RETAIN_STORE_JOURNAL_IMPL_H

#include <string.h>

#include "store/journal.h"
#include "store/lmdb.h"

/* JOURNAL_BEFORE is the one earlier version that can be opened; see journal_upgrade.c. */
enum { JOURNAL_VERSION = 4, JOURNAL_BEFORE = 3 };

enum { ABOUT, SAMPLES, WAITING, ARRIVALS, LABELLED, KEYS, DONE, SAID, WEIGHTS };

struct header {
	char magic[8];
	uint32_t version;
	uint16_t width, unused; /* cells of a target; 0: 1 */
	uint64_t floats;
	int64_t added, trimmed;
	int64_t arrived, oldest; /* the next input's number; a lower bound of those waiting */
	int64_t remembered;      /* keys of samples below this id are forgotten */
};

struct trailer {
	struct journal_mark mark;
	union target label;
	int32_t follow; /* follow: samples after it in the same call */
	union target guesses[TARGET_GUESS];
	uint32_t checksum;
};

struct tail {
	int64_t arrival;
	double probability;
	union target guesses[TARGET_GUESS];
	uint32_t checksum;
};

struct done {
	int64_t id;
	double probability;
	union target label, prediction;
	uint32_t input, has_input; /* the input's checksum; whether it is known */
};

/* The head of a row of `said`. A negative `labelled`: see journal_amend.c. */
struct said {
	int64_t asked, labelled, corrected;
	double probability;
};

/* An input taken by journal_take. */
struct taken {
	char key[JOURNAL_KEY + 1];
	int64_t arrival;
	double probability;
	int64_t asked, labelled; /* when; 0: unknown */
};

struct note {
	char *name, *words;
};

struct journal {
	struct lmdb *lmdb;
	char *folder;
	size_t input; /* bytes, as callers have it */
	struct header header;
	int64_t waiting, remembered; /* limits */
	struct taken *taken;
	union target *taken_guesses; /* target_guess(width) for each */
	size_t taken_count, taken_room;
	size_t labelled;             /* how many of them have labels in the table */
	const union target *guesses; /* from journal_beside, as is the mark */
	const struct journal_mark *mark;
	const int64_t *whens; /* from journal_when */
	const float *weights; /* from journal_weigh */
	int weights_count;
	const char *const *leaving; /* from journal_leave */
	int leaving_count;
	struct note *notes; /* not yet written */
	size_t notes_count, notes_room;
};

static inline struct lmdb_key text_key(const char *text)
{
	return (struct lmdb_key){text, strlen(text)};
}

static inline struct lmdb_key id_key(const int64_t *id)
{
	return (struct lmdb_key){id, sizeof(*id)};
}

/* Copies a record's key as NUL-terminated text; false if it cannot be one. */
static inline bool key_copy(char out[JOURNAL_KEY + 1], const void *record, size_t size)
{
	const size_t length = record ? strnlen(record, size) : 0;

	if (!record || length > JOURNAL_KEY)
		return false;
	memcpy(out, record, length);
	out[length] = '\0';
	return true;
}

/* A time behind a key. Former versions read such a record as the key alone. */
enum { KEY_TIME = 1 + sizeof(int64_t) };
static inline void key_put(void *record, const char *key, size_t size, int64_t time)
{
	memcpy(record, key, size + 1);
	memcpy((char *)record + size + 1, &time, sizeof(time));
}

/* 0: there is none. */
static inline int64_t key_time(const void *record, size_t size)
{
	const size_t length = record ? strnlen(record, size) : 0;
	int64_t time = 0;

	if (size == length + KEY_TIME)
		memcpy(&time, (const char *)record + length + 1, sizeof(time));
	return time;
}

/* The cells of targets that stand beside the structs above. */
enum { MORE_GUESS_MOST = NUMBER_OUTPUTS * (TARGET_WIDTH - 1) };
static inline size_t more_label(const struct journal *journal)
{
	return (size_t)journal_width(journal) - 1;
}

static inline size_t more_guess(const struct journal *journal)
{
	return NUMBER_OUTPUTS * more_label(journal);
}

static inline union target *taken_guess(const struct journal *journal, size_t i)
{
	return journal->taken_guesses + i * target_guess(journal_width(journal));
}

/* Parts a guess into its first three and last two cells and the others; and puts it together. */
void journal_part_guess(const struct journal *journal, const union target *guess,
	union target ends[TARGET_GUESS], union target *more);
void journal_join_guess(const struct journal *journal, const union target ends[TARGET_GUESS],
	const void *more, union target *guess);

/* The bytes of an input that are stored. */
size_t journal_stored(const struct journal *journal, const void *input);
/* Whether a record may be an input and `behind` bytes; if so, *stored is the input's length. */
bool journal_fits(const struct journal *journal, size_t record, size_t behind, size_t *stored);
/* Makes an input of what is stored. */
void journal_fill(const struct journal *journal, const void *record, size_t stored, void *input);

/* Covers the id, to detect a sample in another's place. `size` is what is stored of the input. */
uint32_t journal_sample_checksum(
	int64_t id, const void *input, size_t size, const struct trailer *trailer);
/* Covers a waiting input and its tail. */
uint32_t journal_input_checksum(const void *input, size_t size, const struct tail *tail);
/* NULL: not taken. */
const struct taken *journal_find_taken(const struct journal *journal, const char *key);

/* Upgrades a journal of version JOURNAL_BEFORE with a valid header. */
int journal_upgrade(struct journal *journal, struct err *err);

/* Frees the notes that were written. */
void journal_drop_notes(struct journal *journal);

/* For transaction bodies; they return LMDB's status. */
int journal_put_weights(struct journal *journal, int n);
int journal_copy_weight(struct journal *journal, int64_t from, int64_t to);
int journal_put_header(struct journal *journal, const struct header *header);
int journal_put_notes(struct journal *journal);
/* Keeps what stands beside the i-th sample of a call; removes it. */
int journal_say(struct journal *journal, int i, int n, int64_t id);
int journal_unsay(struct journal *journal, int64_t id);
/* Removes those of journal_leave. */
int journal_unwait_all(struct journal *journal, const char *const *keys, int n);
/* Removes a waiting input. */
int journal_unwait(struct journal *journal, const char *key, int64_t arrival);
/* Remembers the key of a sample; forgets keys that are too old. */
int journal_remember(struct journal *journal, const char *key, const struct done *done,
	const union target *more);
int journal_unremember(struct journal *journal, struct header *header);
/* Forgets the key of a sample, or gives it another label. */
int journal_forget_key(struct journal *journal, int64_t id);
int journal_relabel_key(struct journal *journal, int64_t id, const union target *label);

#endif
