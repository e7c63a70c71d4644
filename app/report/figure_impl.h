/* Shared by the files of figures. */
#ifndef RETAIN_REPORT_FIGURE_IMPL_H
#define RETAIN_REPORT_FIGURE_IMPL_H

#include "report/figure.h"

/* Sizes of a single panel, and of one beside others. */
enum {
	PANEL_WIDTH = 640,
	PANEL_HEIGHT = 400,
	SMALL_WIDTH = 500,
	SMALL_HEIGHT = 300,
};

/*
 * Appends the names of the groups, in lines of this width, and returns their height. With NULL
 * for out it only returns the height.
 */
double figure_legend(struct text *out, const struct run_set *set, double top, double width);

/* ERR_INPUT: the runs have no data for this figure. */
int figure_nothing(const struct figure *figure, struct err *err);

int figure_ranges(
	struct text *out, const struct run_set *set, const struct figure *figure, struct err *err);
int figure_matrix(
	struct text *out, const struct run_set *set, const struct figure *figure, struct err *err);

#endif
