/*
 * A store (store/store.h) over a source, which can reproduce any sample, so it need not keep any.
 * It caches up to `cache` bytes of inputs and labels, because copying is faster. The cache never
 * changes what is fetched.
 *
 * A sample's id is its id in the stream. store_add takes what the source gives, or NULL for
 * inputs. store_forget does nothing.
 */
#ifndef RETAIN_STREAMS_SOURCE_STORE_H
#define RETAIN_STREAMS_SOURCE_STORE_H

#include "store/store.h"
#include "streams/source.h"

/* The source is borrowed. */
int source_store_new(struct store **store, struct source *source, size_t cache, struct err *err);

/* Offers samples to the cache, before they are added, so that they are not read again. */
void source_store_keep(struct store *store, const int64_t *ids, const float *inputs,
	const union target *labels, int n);

#endif
