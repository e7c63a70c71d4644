/* A store that keeps samples as the one in memory does and remembers what it was asked for. */
#ifndef RETAIN_TESTS_LEARN_SPY_H
#define RETAIN_TESTS_LEARN_SPY_H

#include "check.h"
#include "store/store_impl.h"
#include "cells.h"

struct spy {
	struct store store;
	struct store *inner;
	void (*fetched)(void *context, const int64_t *ids, int n);
	void *context;
};

static inline void spy_free(struct store *store)
{
	store_free(((struct spy *)store)->inner);
	free(store);
}

static inline int spy_add(struct store *store, const float *inputs, const union target *labels,
	int n, struct err *err)
{
	return store_add(((struct spy *)store)->inner, inputs, labels, n, err);
}

static inline int spy_fetch(struct store *store, const int64_t *ids, int n, float *inputs,
	union target *labels, struct err *err)
{
	struct spy *spy = (struct spy *)store;

	spy->fetched(spy->context, ids, n);
	return store_fetch(spy->inner, ids, n, inputs, labels, err);
}

static inline void spy_forget(struct store *store, int64_t id)
{
	store_forget(((struct spy *)store)->inner, id);
}

static inline void spy_state(struct store *store, struct state *state)
{
	store_state(((struct spy *)store)->inner, state);
}

/* For vectors of DIM numbers; batches of at most STORE_BATCH samples come as one call. */
static inline struct store *spy_new(
	void (*fetched)(void *context, const int64_t *ids, int n), void *context)
{
	static const struct store_type type = {.free = spy_free,
		.add = spy_add,
		.fetch = spy_fetch,
		.forget = spy_forget,
		.state = spy_state};
	struct spy *spy = calloc(1, sizeof(*spy));
	struct err err;

	*spy = (struct spy){.store = {&type, DIM, 1}, .fetched = fetched, .context = context};
	assert_ok(store_in_memory(&spy->inner, DIM, 1, &err), err);
	return &spy->store;
}

#endif
