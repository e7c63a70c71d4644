/*
 * Single figures for papers and documents, as SVG, of the same runs and numbers
 * that a report shows. Making one needs no browser; turning it into a PNG needs
 * another program, rsvg-convert or Chromium.
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
	int first, count; /* which panels over the run, where it is made of those */
};

extern const struct figure figures[]; /* ends with a row without a name */

/* Appends the figure. An unknown name, or runs that have nothing to show in it: ERR_INPUT. */
int figure_svg(struct text *out, const struct run_set *set, const char *name, struct err *err);

/* Replaces path by the figure as a PNG, twice as many pixels as the SVG has units. */
int figure_png(const char *path, const struct run_set *set, const char *name, struct err *err);

#endif
