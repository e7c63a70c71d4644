/*
 * Alarms that reach people. A thread per learner watches its status and, when something happened,
 * runs a command (alarm.exec) and posts to an address (alarm.webhook), with one JSON object each:
 *
 *	{"alarm": "drift", "learner": "retain", "message": "...", "time": "2026-01-31T12:00:00Z", ...}
 *
 * Kinds of alarms are rows of a table in bell.c. Learning never waits for them. A delivery that
 * fails is tried again a few times, then given up with a warning; alarms that arise meanwhile are
 * reported by the next one of their kind, which counts them.
 */
#ifndef RETAIN_SERVE_BELL_H
#define RETAIN_SERVE_BELL_H

#include <stdint.h>

#include "base/options.h"
#include "serve/desk/desk.h"

struct bell;

/* *bell is NULL, and nothing is watched, if neither key is set. All else outlives the bell. */
int bell_open(struct bell **bell, const struct options *options, struct desk *desk,
	const char *name, struct err *err);
/* Reports what it has not yet reported, for some seconds at most. Accepts NULL. */
void bell_close(struct bell *bell);

struct bell_counts {
	uint64_t sent, failed;
};
struct bell_counts bell_counts(struct bell *bell); /* zeros for NULL */

#endif
