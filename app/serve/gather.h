/*
 * Questions that arrive together are answered together. For one input a large net reads all of
 * its weights, as for thirty-two; so while some questions are computed, others gather, and
 * are next, in one go. Nobody waits for company: a question that finds a thread free is computed
 * at once, alone. Answers have the bits that they have alone (nn/predictor.h).
 *
 * A question is a job with inputs (serve/desk.h) and the copy that is asked.
 */
#ifndef RETAIN_SERVE_GATHER_H
#define RETAIN_SERVE_GATHER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "serve/desk.h"

struct gather;

/* With so many threads. */
int gather_open(struct gather **gather, int threads, struct err *err);
void gather_close(struct gather *gather);

/*
 * Whether handing a question over is worth it: less work than that is done sooner by whoever has
 * it.
 */
bool gather_helps(const struct copy *copy, int count);

/*
 * Has it computed: job->logits, which the caller has made room for, are filled in; then
 * job->done is called.
 */
void gather_put(struct gather *gather, struct job *job);

/* Computes what is there; who comes later computes for himself. */
void gather_end(struct gather *gather);

struct gather_counts {
	uint64_t inputs, batches;
};
void gather_counts(struct gather *gather, struct gather_counts *counts);

#endif
