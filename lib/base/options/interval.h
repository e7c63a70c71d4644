/* How often something is done, as a key says it: by time, or by counting something. */
#ifndef RETAIN_BASE_OPTIONS_INTERVAL_H
#define RETAIN_BASE_OPTIONS_INTERVAL_H

#include <stdint.h>

#include "base/err.h"

/* One of the two; both 0: never. */
struct interval {
	int64_t count;
	double seconds;
};

/*
 * Parses "500 steps", "90s", "10m", "2h", "7d" or "never", where `unit` is the singular of what is
 * counted ("step"). `where` names the key in messages.
 */
int interval_parse(struct interval *interval, const char *words, const char *unit,
	const char *where, struct err *err);

#endif
