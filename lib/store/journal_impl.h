/*
 * What the journal's files share. Its tables:
 *
 *	about     one record, the header
 *	samples   id: the input, a trailer
 *	waiting   key: the input, a tail
 *	arrivals  number of an input that came under a new key: the key
 *	labelled  id that an input which waits will have: its label and key
 *	keys      id of a sample that had waited: its key
 *	done      such a key: id and label
 *
 * Invariants: `header` is what the table has. An input that waits has its key
 * under its number in arrivals, and keys and done say the same.
 */
#ifndef RETAIN_STORE_JOURNAL_IMPL_H
#define RETAIN_STORE_JOURNAL_IMPL_H

#include <string.h>

#include "store/journal.h"
#include "store/lmdb.h"

enum { ABOUT, SAMPLES, WAITING, ARRIVALS, LABELLED, KEYS, DONE };

struct header {
	char magic[8];
	uint32_t version, unused;
	uint64_t floats;
	int64_t added, trimmed;
	int64_t arrived, oldest; /* the next number of an input; no input has one below oldest */
	int64_t remembered;      /* no sample below has its key remembered */
};

struct trailer {
	struct journal_mark mark;
	int32_t label, follow; /* so many samples of the same call come after it */
	int32_t guesses[JOURNAL_GUESSES];
	uint32_t checksum;
};

struct tail {
	int64_t arrival;
	int32_t guesses[JOURNAL_GUESSES];
	uint32_t checksum;
};

struct labelled {
	int32_t label;
	char key[]; /* without a NUL */
};

struct done {
	int64_t id;
	int32_t label, unused;
};

/* An input that was taken. */
struct taken {
	char key[JOURNAL_KEY + 1];
	int64_t arrival;
	int32_t guesses[JOURNAL_GUESSES];
};

struct journal {
	struct lmdb *lmdb;
	char *folder;
	size_t input; /* bytes */
	struct header header;
	int64_t waiting, remembered; /* how many at most */
	struct taken *taken;
	size_t taken_count, taken_room;
	size_t labelled;        /* so many of them have their labels in the table */
	const int32_t *guesses; /* these two for the next call that adds; NULL: none */
	const struct journal_mark *mark;
};

static inline struct lmdb_key text_key(const char *text)
{
	return (struct lmdb_key){text, strlen(text)};
}

static inline struct lmdb_key id_key(const int64_t *id)
{
	return (struct lmdb_key){id, sizeof(*id)};
}

/* For bodies. */
int journal_put_header(struct journal *journal, const struct header *header);
/* An input is no longer one that waits. */
int journal_unwait(struct journal *journal, const char *key, int64_t arrival);
/* The taken input i becomes the sample id; and what goes too far back is no longer remembered. */
int journal_remember(struct journal *journal, size_t i, int64_t id, int32_t label);
int journal_unremember(struct journal *journal, struct header *header);

#endif
