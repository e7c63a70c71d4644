/*
 * Panels of a figure as SVG: axes with ticks, lines with bands behind them, markers. Coordinates
 * in, markup out; figure.c knows what the numbers mean.
 */
#ifndef RETAIN_REPORT_PLOT_H
#define RETAIN_REPORT_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

enum plot_dash { PLOT_SOLID, PLOT_DASHED, PLOT_DOTTED, PLOT_THIN };

struct plot_line {
	const double *x, *y;
	const double *low, *high; /* the band; NULL: none */
	size_t count;
	int colour; /* a group's, from 0; negative: grey */
	enum plot_dash dash;
};

enum plot_sign { PLOT_CUT, PLOT_ALARM }; /* a triangle, a diamond */

struct plot_mark {
	enum plot_sign sign;
	double x, y;
	int colour;
	const char *title; /* shown as a tooltip */
};

struct plot {
	double left, top, width, height; /* of the whole panel, with its labels */
	const char *title, *x_label, *y_label;
	double x_most;  /* x begins at 0 */
	bool percent_x; /* ticks of x are fractions, shown as percent */
	bool log, step;
	double settle;  /* values left of this x do not widen y */
	bool from_zero; /* y begins at 0 */
	bool accuracy;  /* y is a percentage: within 0 and 100 */
	double level;   /* a horizontal line; NAN: none */
	const char *level_name;
	const struct plot_line *lines;
	int line_count;
	const struct plot_mark *marks;
	int mark_count;
};

void plot_begin(struct text *out, double width, double height, const char *title);
void plot_end(struct text *out);
void plot_panel(struct text *out, const struct plot *plot);

/* A legend entry, and its approximate width. */
void plot_legend(struct text *out, double left, double top, const char *name, int colour);
double plot_legend_width(const char *name);

/* Accuracies as a heat map: rows from the bottom, columns from the left; NAN stays empty. */
struct plot_map {
	double left, top, width, height;
	const char *title;
	int rows, columns;
	const double *cells; /* rows * columns, in [0, most] */
	const double *now;   /* by row: where the future begins, in [0, 1] */
	double most;
};

void plot_map(struct text *out, const struct plot_map *map);

#endif
