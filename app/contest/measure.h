/*
 * What a finished run came to, read from its folder, in numbers that can be put
 * side by side: the columns of comparisons and what the rules of experiments
 * speak of.
 */
#ifndef RETAIN_CONTEST_MEASURE_H
#define RETAIN_CONTEST_MEASURE_H

#include <stdbool.h>

#include "eval/summary.h"
#include "log/run_log.h"

enum {
	MEASURE_RANGES = 8, /* of time */
	MEASURES = 32 + 2 * MEASURE_RANGES,
};

struct measure {
	const char *name;   /* as experiments say it */
	const char *title;  /* of a column */
	const char *help;   /* one line */
	bool share;         /* in [0, 1]: shown in percent, differences in points */
	int digits;         /* after the point, as shown */
	const char *column; /* of metrics.csv, and which of its rows; */
	enum summary_span span;
	bool per_iteration;
	int range;    /* or else a range of the matrix, from 1, */
	bool tilt;    /* or its first half less its second, */
	bool at_half; /* ... in the row at half of the run, not over the late ones */
};

extern const struct measure measures[MEASURES + 1]; /* ends with a row without a name */

/* By name; -1: none. */
int measure_find(const char *name);

/* All of them; NAN for what the run did not measure. */
void measure_log(const struct run_log *log, double values[MEASURES]);

#endif
