/*
 * events.jsonl: one JSON object per line for every decision of a run, with the numbers behind it.
 * Nothing in it depends on the clock, so the same run writes the same bytes.
 *
 *	{"event": "window", "iteration": 400, ...}  the end of a window: scores and weights
 *	{"event": "cut", "iteration": 12000, ...}   the rate was cut, and why
 *	{"event": "part", "iteration": 1776, ...}   a population's and replay's reach, after a part
 *	{"event": "alarm", "iteration": 2711, ...}  drift alarm: predictions have become worse
 *	{"event": "lead", "iteration": 3200, ...}   another part leads the mixture that answers now
 *	{"event": "rollback", "iteration": 812, ...} the loss was NaN, and what was done
 *
 * Drivers add their own kinds.
 */
#ifndef RETAIN_SESSION_EVENTS_H
#define RETAIN_SESSION_EVENTS_H

#include <stdint.h>

#include "base/err.h"
#include "base/json_write.h"
#include "base/text.h"
#include "learn/learner.h"

struct events;

/* Opens or creates the file for appending. */
int events_open(struct events **events, const char *path, struct err *err);
void events_close(struct events *events);

/*
 * Truncates the file to its first `size` bytes, dropping events later than the checkpoint that
 * recorded this size. A shorter file is an error.
 */
int events_cut(struct events *events, int64_t size, struct err *err);
int64_t events_size(const struct events *events);

/* Divergence at `iteration` rolled the run back to `to`, for the count-th time, at a new rate. */
struct event_rollback {
	int64_t iteration, to;
	int count;
	double before, after;
};

/*
 * Lines that cannot be written yet are buffered in memory. events_sync flushes everything to
 * disk, or says why not; it may be retried.
 */
void events_window(struct events *events, const struct scoring_window *window);
void events_part(struct events *events, const struct learner_part *part);
void events_lead(struct events *events, const struct learner_lead *lead);
void events_rollback(struct events *events, const struct event_rollback *rollback);
int events_sync(struct events *events, struct err *err);

/* A driver's own line: write its values to `json` between begin and end. events_end releases it. */
struct event_line {
	struct text words;
	struct jwriter json;
};

void events_begin(struct event_line *line, const char *event, int64_t iteration);
void events_end(struct events *events, struct event_line *line);

#endif
