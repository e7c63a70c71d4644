/* The data of figures and terminal curves: numbers of a group over its iterations. */
#ifndef RETAIN_REPORT_CURVES_H
#define RETAIN_REPORT_CURVES_H

#include "log/run_set.h"

/* A number drawn over the run. */
enum curve_kind {
	CURVE_IR,
	CURVE_IR_SGD,
	CURVE_LE,
	CURVE_RECENT,
	CURVE_BLIND,
	CURVE_FT,
	CURVE_FT_SGD,
	CURVE_RATE,
	CURVE_SIGMA,
	CURVE_LOSS,
	CURVE_LOSS_SGD,
	CURVE_WINDOW1, /* 1/(1-gamma), in updates */
	CURVE_WINDOW2,
	CURVE_ERROR, /* of numbers: mean absolute errors since the evaluation before */
	CURVE_ERROR_LAST,
	CURVE_ERROR_MEAN,
	CURVE_INSIDE,
	CURVE_WIDTH,
	CURVES,
};

/*
 * At each iteration of a run of the group: mean, minimum and maximum over the runs that got
 * there.
 */
struct curve {
	double *x, *mean, *low, *high; /* for mem_free: x begins one block that holds all */
	size_t count;                  /* 0: no data */
};

/*
 * By validation windows if the runs have them, else by evaluations, as on the page. Values are as
 * in the files.
 */
int curve_make(struct curve *curve, const struct run_set *set, int group, enum curve_kind kind,
	struct err *err);
int curve_of_run(
	struct curve *curve, const struct run_log *log, enum curve_kind kind, struct err *err);
void curve_release(struct curve *curve);

#endif
