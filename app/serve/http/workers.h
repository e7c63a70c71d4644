/*
 * Threads for work that would block an HTTP thread's other connections: large requests, images,
 * pages. The HTTP threads stay free, so health checks are answered at once.
 */
#ifndef RETAIN_SERVE_WORKERS_H
#define RETAIN_SERVE_WORKERS_H

#include <stdbool.h>

#include "base/err.h"

struct work {
	struct work *next; /* used by the workers */
	/* Does the work; afterwards the workers no longer refer to it. */
	void (*go)(struct work *work);
};

struct workers;

/* With this many threads. */
int workers_open(struct workers **workers, int threads, struct err *err);

/* False: they have ended, or are NULL, and the caller must do it. */
bool workers_put(struct workers *workers, struct work *work);

/* Completes what is queued. Accepts NULL. */
void workers_end(struct workers *workers);
void workers_close(struct workers *workers);

#endif
