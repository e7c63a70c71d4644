/*
 * events.jsonl: one JSON object per line for every decision of a run, with the numbers behind it.
 * Nothing in it depends on the clock, so the same run writes the same bytes; session/log/times.h has
 * the times.
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
#ifndef RETAIN_SESSION_LOG_EVENT_LOG_H
#define RETAIN_SESSION_LOG_EVENT_LOG_H

#include <stdint.h>

#include "base/err.h"
#include "base/json_write.h"
#include "base/text.h"
#include "learn/learner.h"

struct event_log;

/* Opens or creates the file for appending. */
int event_log_open(struct event_log **events, const char *path, struct err *err);
void event_log_close(struct event_log *events);

/*
 * Truncates the file to its first `size` bytes, dropping events later than the checkpoint that
 * recorded this size. A shorter file is an error.
 */
int event_log_cut(struct event_log *events, int64_t size, struct err *err);
int64_t event_log_size(const struct event_log *events);

/* Divergence at `iteration` rolled the run back to `to`, for the count-th time, at a new rate. */
struct event_rollback {
	int64_t iteration, to;
	int count;
	double before, after;
};

/*
 * Lines that cannot be written yet are buffered in memory. event_log_sync flushes everything to
 * disk, or says why not; it may be retried.
 */
void event_log_window(struct event_log *events, const struct scoring_window *window);
void event_log_part(struct event_log *events, const struct learner_part *part);
void event_log_lead(struct event_log *events, const struct learner_lead *lead);
void event_log_rollback(struct event_log *events, const struct event_rollback *rollback);
int event_log_sync(struct event_log *events, struct err *err);

/* A driver's own line: write its values to `json` between begin and end. event_log_end releases it. */
struct event_line {
	struct text words;
	struct jwriter json;
};

void event_log_begin(struct event_line *line, const char *event, int64_t iteration);
void event_log_end(struct event_log *events, struct event_line *line);

#endif
