/*
 * Single figures for papers and documents, as SVG, of the same runs and numbers
 * that a report shows. Making one needs no browser.
 */
#ifndef RETAIN_REPORT_FIGURE_H
#define RETAIN_REPORT_FIGURE_H

#include "base/err.h"
#include "base/text.h"
#include "log/run_set.h"

struct figure {
	const char *name;
	const char *help; /* one line */
	int (*draw)(struct text *out, const struct run_set *set, const struct figure *figure,
		struct err *err);
	int first, count; /* which panels over the run, if it consists of those */
	double share;     /* of the run, from its beginning; 0: all */
};

extern const struct figure figures[]; /* ends with a row without a name */

/* Appends the figure. ERR_INPUT for an unknown name, or runs without data for it. */
int figure_svg(struct text *out, const struct run_set *set, const char *name, struct err *err);

#endif
