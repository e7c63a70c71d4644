/*
 * events.jsonl: one JSON object per line for everything that was decided during
 * a run, with the numbers that decided it. Nothing in it depends on the clock, so
 * the same run writes the same bytes.
 *
 *	{"event": "window", "iteration": 400, ...}  the end of a window: scores and weights
 *	{"event": "cut", "iteration": 12000, ...}   the rate was cut, and why
 */
#ifndef RETAIN_RUN_EVENTS_H
#define RETAIN_RUN_EVENTS_H

#include <stdint.h>

#include "base/err.h"
#include "learn/learner.h"

/* A cut of the rate, as reports show it. */
struct event_cut {
	int64_t iteration;
	struct schedule_verdict verdict;
};

struct events;

/* path NULL: nothing is written, cuts are only remembered. */
int events_open(struct events **events, const char *path, struct err *err);
void events_close(struct events *events);

/* A failure to write is remembered until events_flush. */
void events_window(struct events *events, const struct learner_window *window);
int events_flush(struct events *events, struct err *err);

/* All cuts so far; lives until the next window. */
const struct event_cut *events_cuts(const struct events *events, int *count);

#endif
