/* Small curves in a terminal, made of block characters, or of # where UTF-8 is not spoken. */
#ifndef RETAIN_REPORT_SPARK_H
#define RETAIN_REPORT_SPARK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

struct spark {
	const char *title;
	const double *x, *y; /* x does not fall; finite */
	size_t count;
	double x_most;     /* what the right edge stands for; the left one is 0 */
	double scale;      /* what y is multiplied by to be shown */
	int width, height; /* of the curve, in characters; at least 1 */
	bool log, utf8;
	const char *unit; /* after the numbers: " %" */
};

/*
 * Appends a line with the title and the latest value, then `height` lines of curve
 * with the greatest and the least value beside them. Without points: only a title.
 */
void spark_draw(struct text *out, const struct spark *spark);

#endif
