/*
 * Buffers that share one block of memory: each is alive from one moment to
 * another, and two buffers overlap only if they are never alive together.
 */
#ifndef RETAIN_NN_PLAN_LIFETIMES_H
#define RETAIN_NN_PLAN_LIFETIMES_H

#include <stddef.h>
#include "base/err.h"

struct lifetime {
	size_t floats;
	int begin, end; /* both moments included */
	size_t offset;  /* in floats, a multiple of 16, once assigned */
};

struct lifetimes {
	struct lifetime *rows;
	int count, room;
	size_t floats; /* length of the block, once assigned */
};

/* A buffer alive at `moment`; returns its row or a negative error code. */
int lifetimes_add(struct lifetimes *l, size_t floats, int moment, struct err *err);
/* Keeps a buffer alive until `moment` at least. */
void lifetimes_extend(struct lifetimes *l, int row, int moment);
/* Gives every buffer its offset. */
int lifetimes_assign(struct lifetimes *l, struct err *err);
void lifetimes_release(struct lifetimes *l);

#endif
