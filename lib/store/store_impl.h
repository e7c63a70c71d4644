/*
 * Shared by the kinds of stores. A row is a sample's input followed by its target, so that
 * fetching a sample touches as few cache lines as possible.
 */
#ifndef RETAIN_STORE_STORE_IMPL_H
#define RETAIN_STORE_STORE_IMPL_H

#include <string.h>

#include "store/store.h"

struct store_type {
	void (*free)(struct store *store);
	int (*add)(struct store *store, const float *inputs, const union target *labels, int n,
		struct err *err);
	int (*fetch)(struct store *store, const int64_t *ids, int n, float *inputs,
		union target *labels, struct err *err);
	/* NULL: draw is fetch, and nothing is prefetched. */
	int (*draw)(struct store *store, const int64_t *ids, int n, uint64_t iteration, int at,
		float *inputs, union target *labels, struct err *err);
	void (*expect)(struct store *store, const int64_t *ids, int n, uint64_t iteration, int at);
	bool (*prepares)(const struct store *store);
	void (*forget)(struct store *store, int64_t id);
	void (*state)(struct store *store, struct state *state);
	/* NULL if samples do not outlive the process. */
	int64_t (*stored)(const struct store *store);
	int (*pending)(struct store *store, int *n, struct err *err);
	int (*checkpoint)(struct store *store, struct err *err);
	/* See store_widen; `floats` is still the former number. NULL: it cannot. */
	int (*widen)(struct store *store, size_t floats, struct err *err);
};

/* The head of every store. */
struct store {
	const struct store_type *type;
	size_t floats;
	int width; /* cells of a target */
	int64_t count;
};

/* Fetching looks up this many rows and prefetches their cache lines, then copies them. */
enum { STORE_BATCH = 64, STORE_LINE = 64, STORE_LINES_AHEAD = 8 };

static inline size_t store_row(const struct store *store)
{
	return store->floats * sizeof(float) + (size_t)store->width * sizeof(union target);
}

static inline void store_row_put(
	const struct store *store, char *row, const float *input, const union target *label)
{
	const size_t size = store->floats * sizeof(float);

	memcpy(row, input, size);
	memcpy(row + size, label, (size_t)store->width * sizeof(*label));
}

static inline void store_row_get(
	const struct store *store, const char *row, float *input, union target *label)
{
	const size_t size = store->floats * sizeof(float);

	memcpy(input, row, size);
	memcpy(label, row + size, (size_t)store->width * sizeof(*label));
}

/* The first cell of a row's target. */
static inline union target store_row_first(const struct store *store, const char *row)
{
	union target label;

	memcpy(&label, row + store->floats * sizeof(float), sizeof(label));
	return label;
}

/* Prefetches the row's cache lines; the hardware prefetcher handles the rest of a long row. */
static inline void store_row_prefetch(const struct store *store, const char *row)
{
	const size_t size = store_row(store);
	const size_t most = STORE_LINE * STORE_LINES_AHEAD;

	for (size_t at = 0; at < size && at < most; at += STORE_LINE)
		__builtin_prefetch(row + at);
	__builtin_prefetch(row + size - 1);
}

#endif
