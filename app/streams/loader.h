/*
 * A loader has threads that make batches. All threads and the caller together make a
 * batch that is asked for; in the background, threads make those that will probably be
 * asked for next. A guess changes when a batch is made, never what is in it: it is
 * used only if the same job is then asked for.
 *
 * What a sample becomes depends on its job and its place in it, never on the
 * thread; so batches are the same bits on any number of threads.
 */
#ifndef RETAIN_STREAMS_LOADER_H
#define RETAIN_STREAMS_LOADER_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct loader_job {
	int mode;           /* the owner's */
	uint64_t iteration; /* the owner's */
	const int64_t *ids;
	int n;
	int at; /* the owner's */
};

/*
 * Makes the sample at a place of the job into `out`. Workers count from 0: the
 * threads, and behind them the caller. A worker makes one sample at a time.
 */
typedef int (*loader_make)(void *context, int worker, const struct loader_job *job, int place,
	float *out, struct err *err);

struct loader_config {
	int threads;   /* beside the caller; 0: none, and nothing is made ahead */
	int ahead;     /* batches that may be made ahead */
	size_t floats; /* of a sample */
	loader_make make;
	void *context;
};

struct loader;

int loader_new(struct loader **loader, const struct loader_config *config, struct err *err);
void loader_free(struct loader *loader);

/*
 * The job will probably be asked for. Without room for it, or memory, nothing
 * happens; guesses for iterations that passed make room.
 */
void loader_expect(struct loader *loader, const struct loader_job *job);

/* Fills in the job's n samples. One caller at a time; others wait. */
int loader_get(struct loader *loader, const struct loader_job *job, float *out, struct err *err);

/* Seconds that callers of loader_get spent in it. */
double loader_waited(const struct loader *loader);

#endif
