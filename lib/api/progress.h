/* Progress reports of long calls; the callback decides whether to continue. */
#ifndef RETAIN_API_PROGRESS_H
#define RETAIN_API_PROGRESS_H

#include <retain.h>
#include "base/err.h"

/* The progress callback. */
struct progress {
	retain_progress_fn *ask; /* NULL: none */
	void *context;
};

/* A call in progress. */
struct progress_call {
	const struct progress *progress; /* borrowed */
	const char *function;
	double due; /* time of the next report, by clock_now */
};

void progress_begin(
	struct progress_call *call, const struct progress *progress, const char *function);

/* Reports if it is time to. ERR_STOPPED if the callback says stop. */
int progress_ask(struct progress_call *call, const struct retain_progress *now, struct err *err);

#endif
