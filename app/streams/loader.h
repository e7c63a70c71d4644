/*
 * A loader has threads that make batches. All threads and the caller together make a requested
 * batch; in the background, threads prefetch those that will probably be requested next. A
 * prediction affects when a batch is made, never its content: it is used only if the same job is
 * then requested.
 *
 * A sample depends on its job and its position in it, never on the thread; so batches have the
 * same bits on any number of threads.
 */
#ifndef RETAIN_STREAMS_LOADER_H
#define RETAIN_STREAMS_LOADER_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct loader_job {
	int mode;           /* for the owner */
	uint64_t iteration; /* for the owner */
	const int64_t *ids;
	int n;
	int at; /* for the owner */
};

/*
 * Makes the sample at a position of the job into `out`. Workers count from 0: the threads, then
 * the caller. A worker makes one sample at a time.
 */
typedef int (*loader_make)(void *context, int worker, const struct loader_job *job, int place,
	float *out, struct err *err);

struct loader_config {
	int threads;   /* beside the caller; 0: none, and no prefetching */
	int ahead;     /* batches that may be prefetched */
	size_t floats; /* of a sample */
	loader_make make;
	void *context;
};

struct loader;

/* A number of threads as in stream.loaders: -1 is one per processor, up to a few. */
int loader_threads(int asked);

int loader_new(struct loader **loader, const struct loader_config *config, struct err *err);
void loader_free(struct loader *loader);

/* Announces a probable job. Ignored without room or memory; jobs of past iterations make room. */
void loader_expect(struct loader *loader, const struct loader_job *job);

/* Fills in the job's n samples. One caller at a time; others wait. */
int loader_get(struct loader *loader, const struct loader_job *job, float *out, struct err *err);

/* Total seconds that callers spent in loader_get. */
double loader_waited(const struct loader *loader);

#endif
