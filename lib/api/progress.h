/* A long call tells the program how far it is, and is told to go on or to stop. */
#ifndef RETAIN_API_PROGRESS_H
#define RETAIN_API_PROGRESS_H

#include <retain.h>
#include "base/err.h"

/* Whom to ask. */
struct progress {
	retain_progress_fn *ask; /* NULL: nobody */
	void *context;
};

/* A call that is under way. */
struct progress_call {
	const struct progress *progress; /* borrowed */
	const char *function;
	double due; /* when to ask next, by clock_now */
};

void progress_begin(
	struct progress_call *call, const struct progress *progress, const char *function);

/* Asks if it is time to. ERR_STOPPED if the answer is to stop. */
int progress_ask(struct progress_call *call, const struct retain_progress *now, struct err *err);

#endif
