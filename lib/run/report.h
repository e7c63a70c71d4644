/*
 * report.html: one run or several, summarized and drawn, in one file that loads
 * nothing from anywhere. The page comes from web/; this puts the data into it, as
 * JSON.
 */
#ifndef RETAIN_RUN_REPORT_H
#define RETAIN_RUN_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "eval/matrix.h"
#include "run/metrics_file.h"

/* Something that happened. Those of kind "cut" are marked in the charts of a single run. */
struct report_event {
	int64_t iteration;
	const char *kind; /* one word: "cut", "window", ... */
	const char *text; /* with the numbers that caused it; may be empty */
};

/* Everything is borrowed. Texts may hold anything; what is not UTF-8 is shown as U+FFFD. */
struct report_run {
	const char *name;
	const char *config; /* the resolved config.ini, or NULL */
	const struct metrics_row *rows;
	size_t count;
	const struct matrix *matrix; /* NULL: there is none */
	const struct report_event *events;
	size_t event_count;
	double epsilon; /* what malr's C3 compares sigma with; NAN: nothing */
};

/* Replaces path as base/file.h does. count may be 0. */
int report_write(const char *path, const struct report_run *runs, int count, struct err *err);

/* A run in a few numbers, NAN where nothing was measured. */
struct report_summary {
	int64_t iteration, samples;
	double lr, le, blind, cost, seconds; /* at the end: of the latest row that has them */
	double ir, ir_sgd;                   /* of the latest evaluation */
	/* Means over the evaluations in the last quarter of the run's iterations. */
	double ir_late, ir_sgd_late;
	double ft_mean, ft_sgd_mean; /* over all evaluations that have it */
};

void report_summarize(struct report_summary *summary, const struct metrics_row *rows, size_t count);

#endif
