/*
 * Batches concurrent queries. A large net reads all of its weights for one input as for
 * thirty-two; so while some queries are computed, others collect, and are next, in one batch. A
 * query never waits for others: if a thread is free it is computed at once, alone. Answers have
 * the same bits as alone (nn/predictor.h).
 *
 * A query is a job with inputs (serve/desk.h) and the copy that answers it.
 */
#ifndef RETAIN_SERVE_GATHER_H
#define RETAIN_SERVE_GATHER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "serve/desk/desk.h"

struct gather;

/* With this many threads. */
int gather_open(struct gather **gather, int threads, struct err *err);
void gather_close(struct gather *gather);

/* Whether batching is worthwhile: a small query is faster on the caller's thread. */
bool gather_helps(const struct copy *copy, int count);

/* Computes a query: fills in job->logits, allocated by the caller, then calls job->done. */
void gather_put(struct gather *gather, struct job *job);

/* Computes what is queued; later callers compute for themselves. */
void gather_end(struct gather *gather);

struct gather_counts {
	uint64_t inputs, batches;
};
void gather_counts(struct gather *gather, struct gather_counts *counts);

#endif
