/*
 * The results of a finished run, read from its folder: the columns of comparisons and the metrics
 * of experiments' rules.
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
	const char *name;   /* as in experiments */
	const char *title;  /* of a column */
	const char *help;   /* one line */
	bool share;         /* in [0, 1]: shown in percent, differences in points */
	int digits;         /* after the point, as shown */
	const char *column; /* of metrics.csv, and which of its rows; */
	enum summary_span span;
	bool per_iteration;
	int range;    /* or else a range of the matrix, from 1, */
	bool tilt;    /* or its first half minus its second, */
	bool at_half; /* ... in the row at half of the run, not over the late ones */
};

extern const struct measure measures[MEASURES + 1]; /* ends with a row without a name */

/* By name; -1: none. */
int measure_find(const char *name);

/* All of them; NAN if the run did not measure it. */
void measure_log(const struct run_log *log, double values[MEASURES]);

#endif
