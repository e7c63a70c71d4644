/*
 * Samples that are told by their ids, so that any of them can be checked whatever
 * kind of store has it.
 */
#ifndef RETAIN_TESTS_DATA_STORE_CHECK_H
#define RETAIN_TESTS_DATA_STORE_CHECK_H

#include "../streams/check.h"

#include "../base/folder.h"
#include "base/rng.h"
#include "base/state.h"
#include "streams/source_store.h"
#include "store/store.h"
#include "cells.h"

/* Numbers of a sample, many or few, and samples of a call at most. */
enum { FLOATS = 700, SMALL = 5, BATCH = 200 };

static const struct rng draws = {11, RNG_TEST};

/* What was made or fetched last. */
static float inputs[BATCH * FLOATS];
static int32_t labels[BATCH];

static inline void sample_of(int64_t id, size_t floats, float *input, int32_t *label)
{
	for (size_t i = 0; i < floats; i++)
		input[i] = rng_float(draws, (uint64_t)id * floats + i);
	*label = (int32_t)(id * 7 % 1000);
}

static inline void samples_from(int64_t first, int n, size_t floats)
{
	for (int i = 0; i < n; i++)
		sample_of(first + i, floats, inputs + (size_t)i * floats, labels + i);
}

static inline void add_next(struct store *store, int n, size_t floats)
{
	struct err err;

	samples_from(store_count(store), n, floats);
	assert_ok(store_add(store, inputs, CELLS(labels), n, &err), err);
}

static inline void assert_kept(struct store *store, int64_t id, size_t floats, bool kept)
{
	float input[FLOATS], expected[FLOATS];
	int32_t label, expected_label;
	struct err err;
	const int code = store_fetch(store, &id, 1, input, CELLS(&label), &err);

	if (!kept) {
		assert_int_equal(code, ERR_INPUT);
		assert_says(err, "has been forgotten");
		return;
	}
	if (code)
		fail_msg("sample %d: %s", (int)id, err.message);
	sample_of(id, floats, expected, &expected_label);
	assert_memory_equal(input, expected, floats * sizeof(float));
	assert_int_equal(label, expected_label);
}

static inline void visit(void *object, struct state *state)
{
	store_state(object, state);
}

#endif
