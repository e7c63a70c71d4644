/*
 * Logits by sample id: put, found, dropped, all in constant time. Rows are as wide as there
 * are classes; those of classes that came after a row was put are NAN.
 */
#ifndef RETAIN_LEARN_LOSSES_KEPT_H
#define RETAIN_LEARN_LOSSES_KEPT_H

#include <stdint.h>

#include "base/err.h"
#include "base/state.h"

/* Zeroed, it is empty. */
struct kept {
	int64_t *ids; /* of rows; -1: free */
	float *rows;
	int64_t count, room; /* rows in use, and rows */
	int64_t *slots;      /* by hash of the id: 1 + row, or 0; twice as many as rows or more */
	int64_t slot_count;  /* a power of 2, or 0 */
	int64_t *spare;      /* rows that are free: room - count of them */
	int classes;
};

void kept_release(struct kept *kept);

/* Room for so many more rows; for wider ones. A failure changes nothing. */
int kept_reserve(struct kept *kept, int64_t more, struct err *err);
int kept_widen(struct kept *kept, int classes, struct err *err);

/* A row for an id that has none, to be filled in; there is room. */
float *kept_put(struct kept *kept, int64_t id);
/* NULL: there is none. */
const float *kept_find(const struct kept *kept, int64_t id);
void kept_drop(struct kept *kept, int64_t id);

void kept_state(struct kept *kept, struct state *state);

#endif
