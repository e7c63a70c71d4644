/*
 * Stored logits by sample id; insert, find and delete take constant time. Rows have one logit per
 * class; classes added after a row was stored are NAN in it.
 */
#ifndef RETAIN_LEARN_LOSSES_KEPT_H
#define RETAIN_LEARN_LOSSES_KEPT_H

#include <stdint.h>

#include "base/err.h"
#include "base/state.h"

/* Zeroed: empty. */
struct kept {
	int64_t *ids; /* of rows; -1: free */
	float *rows;
	int64_t count, room; /* rows in use, and capacity */
	int64_t *slots;      /* hash table of 1 + row, or 0; at least twice as many as rows */
	int64_t slot_count;  /* a power of 2, or 0 */
	int64_t *spare;      /* free rows: room - count of them */
	int classes;
};

void kept_release(struct kept *kept);

/* Make room for more rows; for wider ones. A failure changes nothing. */
int kept_reserve(struct kept *kept, int64_t more, struct err *err);
int kept_widen(struct kept *kept, int classes, struct err *err);

/* Inserts a row for a new id, to be filled in by the caller; requires kept_reserve. */
float *kept_put(struct kept *kept, int64_t id);
/* NULL: not found. */
const float *kept_find(const struct kept *kept, int64_t id);
void kept_drop(struct kept *kept, int64_t id);

void kept_state(struct kept *kept, struct state *state);

#endif
