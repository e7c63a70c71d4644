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
	MEASURES = 47 + 2 * MEASURE_RANGES,
};

/* In the unit of a target: as many digits as its size needs. */
#define MEASURE_QUANTITY (-1)

struct measure {
	const char *name;   /* as in experiments */
	const char *title;  /* of a column */
	const char *help;   /* a line of the legend */
	bool share;         /* in [0, 1]: shown in percent, differences in points */
	int digits;         /* after the point, as shown; or MEASURE_QUANTITY: */
	const char *column; /* of metrics.csv, and which of its rows; */
	enum summary_span span;
	bool per_iteration;
	bool first_cut; /* or else when the rate is first cut, */
	int range;      /* or else a range of the matrix, from 1, */
	bool tilt;      /* or its first half minus its second, */
	bool at_moment; /* ... in the row at a moment of the run, not over the late ones */
	struct {
		const char *title, *help; /* where targets are such; NULL: as above */
	} of[TARGET_KINDS];
};

extern const struct measure measures[MEASURES + 1]; /* ends with a row without a name */

/* By name; -1: none. */
int measure_find(const char *name);

/* Digits after the point to show a value, or a difference of values of this size, with. */
int measure_digits(const struct measure *measure, double value);

/*
 * All of them; NAN if the run did not measure it, or on a handful of samples. moment: the share of the run that those of its
 * middle are measured at.
 */
void measure_log(const struct run_log *log, double moment, double values[MEASURES]);

#endif
