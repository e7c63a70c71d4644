/*
 * What the journal's files share. Its tables, and what each has under which key:
 *
 *	about     "header": the header; a note's name: its words, with their NUL
 *	samples   id: input and trailer
 *	waiting   key: input and tail
 *	arrivals  number of an input that waits, in the order of coming: its key
 *	labelled  id that a taken input will have: its label and key
 *	keys      id of a sample that had waited: its key
 *	done      key of such a sample: its id and label, and what was predicted
 *
 * Invariants: `header` is what the table has. arrivals has the key of every input that
 * waits. keys and done say the same.
 */
#ifndef RETAIN_STORE_JOURNAL_IMPL_H
#define RETAIN_STORE_JOURNAL_IMPL_H

#include <string.h>

#include "store/journal.h"
#include "store/lmdb.h"

/* JOURNAL_BEFORE is the one earlier version that can be opened; see journal_upgrade.c. */
enum { JOURNAL_VERSION = 4, JOURNAL_BEFORE = 3 };

enum { ABOUT, SAMPLES, WAITING, ARRIVALS, LABELLED, KEYS, DONE };

struct header {
	char magic[8];
	uint32_t version, unused;
	uint64_t floats;
	int64_t added, trimmed;
	int64_t arrived, oldest; /* the next input's number; the least that one may still have */
	int64_t remembered;      /* keys of samples below are forgotten */
};

struct trailer {
	struct journal_mark mark;
	int32_t label, follow; /* follow: how many samples of the same call come after it */
	int32_t guesses[JOURNAL_GUESSES];
	uint32_t checksum;
};

struct tail {
	int64_t arrival;
	double probability;
	int32_t guesses[JOURNAL_GUESSES];
	uint32_t checksum;
};

struct labelled {
	int32_t label;
	char key[]; /* without a NUL */
};

struct done {
	int64_t id;
	double probability;
	int32_t label, prediction;
	uint32_t input, has_input; /* the input's checksum; whether it is known */
};

/* An input that was taken. */
struct taken {
	char key[JOURNAL_KEY + 1];
	int64_t arrival;
	double probability;
	int32_t guesses[JOURNAL_GUESSES];
};

struct note {
	char *name, *words;
};

struct journal {
	struct lmdb *lmdb;
	char *folder;
	size_t input; /* bytes */
	struct header header;
	int64_t waiting, remembered; /* how many at most */
	struct taken *taken;
	size_t taken_count, taken_room;
	size_t labelled;        /* how many of them have labels in the table */
	const int32_t *guesses; /* what journal_beside said, as is the mark */
	const struct journal_mark *mark;
	const char *const *leaving; /* what journal_leave said */
	int leaving_count;
	struct note *notes; /* that wait to be written */
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

/* The text of a record, with a NUL behind it; whether it can be a key. */
static inline bool key_copy(char out[JOURNAL_KEY + 1], const void *record, size_t size)
{
	if (!record || size > JOURNAL_KEY)
		return false;
	memcpy(out, record, size);
	out[size] = '\0';
	return true;
}

/* Covers the id, so that a sample in another's place is found out, too. */
uint32_t journal_sample_checksum(const struct journal *journal, int64_t id, const void *input,
	const struct trailer *trailer);
/* Covers an input that waits, and its tail. */
uint32_t journal_input_checksum(
	const struct journal *journal, const void *input, const struct tail *tail);
/* NULL: the key was not taken. */
const struct taken *journal_find_taken(const struct journal *journal, const char *key);

/* Makes a journal of JOURNAL_BEFORE, whose header is sound, one of this version. */
int journal_upgrade(struct journal *journal, struct err *err);

/* Notes that were written wait no longer. */
void journal_drop_notes(struct journal *journal);

/* For bodies; they return LMDB's status. */
int journal_put_header(struct journal *journal, const struct header *header);
int journal_put_notes(struct journal *journal);
/* The input no longer waits. */
/* Those of journal_leave. */
int journal_unwait_all(struct journal *journal, const char *const *keys, int n);
int journal_unwait(struct journal *journal, const char *key, int64_t arrival);
/* Remembers the key of a sample; forgets keys that are too old. */
int journal_remember(struct journal *journal, const char *key, const struct done *done);
int journal_unremember(struct journal *journal, struct header *header);

#endif
