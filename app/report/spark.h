/* Small curves in a terminal, made of block characters, or of # without UTF-8. */
#ifndef RETAIN_REPORT_SPARK_H
#define RETAIN_REPORT_SPARK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

struct spark {
	const char *title;
	const double *x, *y; /* x does not decrease; finite */
	size_t count;
	double x_most;     /* x at the right edge; the left one is 0 */
	double scale;      /* factor of y for display */
	int width, height; /* of the curve, in characters; at least 1 */
	bool log, utf8;
	const char *unit; /* after the numbers: " %" */
};

/*
 * Appends a line with the title and the latest value, then `height` lines of curve with the
 * maximum and the minimum beside them. Without points: only a title.
 */
void spark_draw(struct text *out, const struct spark *spark);

#endif
