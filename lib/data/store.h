/*
 * The store keeps the samples that were revealed, and gives them back by id:
 * the number of a sample in the order of revealing, 0, 1, 2, ... Pools hold
 * ids, the store holds bytes. Two kinds:
 *
 * - over a source: the source can make any sample again, so nothing need be
 *   kept; up to `cache` bytes of inputs and labels are, so that drawing them
 *   again is a copy. Which ones are kept never changes what is fetched.
 * - in memory: samples that come from outside, kept until they are forgotten.
 */
#ifndef RETAIN_DATA_STORE_H
#define RETAIN_DATA_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/state.h"
#include "data/source.h"

struct store;

/* The source is borrowed; the id of a sample is its id in the stream. */
int store_over_source(struct store **store, struct source *source, size_t cache, struct err *err);

/* Samples of `floats` numbers each. */
int store_in_memory(struct store **store, size_t floats, struct err *err);
void store_free(struct store *store);

/*
 * Adds the next n samples, whose labels are known now; the first gets id
 * store_count. Labels are not negative. Over a source inputs and labels must be
 * what the source gives: they are kept as they are. A failure adds nothing.
 */
int store_add(
	struct store *store, const float *inputs, const int32_t *labels, int n, struct err *err);
int64_t store_count(const struct store *store);

/*
 * Ids that were never added are errors, and so are, in memory, those that have
 * been forgotten. Allocates nothing. One caller at a time: fetching may fill the
 * cache.
 */
int store_fetch(struct store *store, const int64_t *ids, int n, float *inputs, int32_t *labels,
	struct err *err);

/*
 * The sample will not be asked for again; its place may be used for another.
 * Ids that are not there are ignored. Over a source this does nothing.
 */
void store_forget(struct store *store, int64_t id);

/* The bytes that samples take. */
size_t store_bytes(const struct store *store);

/* In memory: all samples. Over a source: only how many there were; the cache fills again. */
void store_state(struct store *store, struct state *state);

#endif
