/*
 * A report that follows its runs: a page on a port of this machine, which no other
 * machine can reach (127.0.0.1). It answers
 *
 *	GET /           the page, as report_page makes it
 *	GET /data.json  the data alone, read from the folders anew
 *
 * to requests whose Host is 127.0.0.1 or localhost with its port; it refuses other
 * names, methods and paths. One thread, no state between requests.
 */
#ifndef RETAIN_REPORT_REPORT_WATCH_H
#define RETAIN_REPORT_REPORT_WATCH_H

#include <signal.h>

#include "base/err.h"

struct report_watch {
	const char *const *paths; /* of the runs, as run_set_open takes them */
	int count;
	int port; /* 0: any that is free */
	/* Called once it listens, before the first request. */
	void (*ready)(void *context, int port);
	void *context;
	const volatile sig_atomic_t *stop; /* it ends when this is set */
};

/* Returns 0 when stopped. Runs that cannot be read at the start are an error. */
int report_watch(const struct report_watch *watch, struct err *err);

#endif
