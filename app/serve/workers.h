/*
 * Threads for work that would keep an HTTP thread from its other connections: large requests,
 * images, pages. Whatever they do, the HTTP threads are free, so health is answered at once.
 */
#ifndef RETAIN_SERVE_WORKERS_H
#define RETAIN_SERVE_WORKERS_H

#include <stdbool.h>

#include "base/err.h"

struct work {
	struct work *next; /* the workers' */
	/* After which the workers know nothing of it. */
	void (*go)(struct work *work);
};

struct workers;

/* With so many threads. */
int workers_open(struct workers **workers, int threads, struct err *err);

/* False: they have ended, or are NULL, and the caller does it. */
bool workers_put(struct workers *workers, struct work *work);

/* Does what is there. NULL is nothing. */
void workers_end(struct workers *workers);
void workers_close(struct workers *workers);

#endif
