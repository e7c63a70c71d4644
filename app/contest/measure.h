/*
 * What a finished run came to, read from its folder, in numbers that can be put
 * side by side: the columns of comparisons and what the rules of experiments
 * speak of.
 */
#ifndef RETAIN_CONTEST_MEASURE_H
#define RETAIN_CONTEST_MEASURE_H

#include <stdbool.h>

#include "base/err.h"

enum {
	MEASURE_RANGES = 8, /* of time */
	MEASURES = 23 + 2 * MEASURE_RANGES,
};

struct measure {
	const char *name;  /* as experiments say it */
	const char *title; /* of a column */
	const char *help;  /* one line */
	bool share;        /* in [0, 1]: shown in percent, differences in points */
	int digits;        /* after the point, as shown */
};

extern const struct measure measures[MEASURES + 1]; /* ends with a row without a name */

/* By name; -1: none. */
int measure_find(const char *name);

/* Whether the run in the folder went to its end; false, too, where there is none. */
bool measure_finished(const char *folder);

/* All of them; NAN for what the run did not measure. */
int measure_run(const char *folder, double values[MEASURES], struct err *err);

#endif
