/*
 * Where records of any length lie in a file: free places are kept by size, and given away again
 * to records of about that size. Sizes are rounded up to multiples of 32 bytes, and above 512
 * bytes by at most a sixteenth, so that records of similar length share a list. What no list has
 * is taken from the end; the file does not shrink.
 *
 * A function of its calls: whoever repeats them gets the same places. It knows nothing of files.
 */
#ifndef RETAIN_STORE_PLACES_H
#define RETAIN_STORE_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/state.h"

enum { PLACES_UNIT = 32, PLACES_LISTS = 400 };

/* The longest record. */
#define PLACES_MOST ((size_t)1 << 31)

struct places_list {
	int64_t *free; /* places, in units; the last is used first */
	int64_t count, room;
};

/* Zeroed: an empty file. */
struct places {
	struct places_list lists[PLACES_LISTS];
	int64_t end; /* in units */
};

void places_release(struct places *places);

/* A place for a record of `size` bytes, at most PLACES_MOST; in units from the file's begin. */
int64_t places_take(struct places *places, size_t size);

/* Makes room so that places of these sizes can be given back. */
int places_reserve(struct places *places, const size_t *sizes, size_t count, struct err *err);
void places_give(struct places *places, int64_t place, size_t size);

/* What was taken since can be undone, as long as nothing was given back. */
struct places_mark {
	int64_t counts[PLACES_LISTS], end;
};
void places_remember(const struct places *places, struct places_mark *mark);
void places_undo(struct places *places, const struct places_mark *mark);

void places_state(struct places *places, struct state *state);

#endif
