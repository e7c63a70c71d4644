/*
 * The results of a run, from the rows of its metrics: the only definition of a number's early,
 * late and last value. run.json, the terminal, comparisons and reports all take a run's IR, FT
 * and LE from here.
 *
 * Late is the last quarter of all evaluations, rounded up: of 20 the last 5. A number that some
 * evaluations lack, as FT does near the end of a stream, is averaged over the same number of the
 * last evaluations that have it. Early is the first quarter.
 */
#ifndef RETAIN_EVAL_SUMMARY_H
#define RETAIN_EVAL_SUMMARY_H

#include "eval/metrics.h"

enum { SUMMARY_LEAST = 5 }; /* of fewer samples there is no share to speak of */

enum summary_span {
	SUMMARY_LAST, /* the last evaluation that has it */
	SUMMARY_LATE, /* the mean of the last quarter */
	SUMMARY_EARLY,
	SUMMARY_ALL,
};

/* NAN if no evaluation of the span has it. */
double summary_value(const struct metrics_row *rows, size_t count,
	const struct metrics_column *column, enum summary_span span);

/*
 * A column of errors is a mean over all samples so far: its mean over those between two
 * evaluations, from the beginning on if `before` is NULL. NAN if there are none.
 */
double summary_since(const struct metrics_row *before, const struct metrics_row *row,
	const struct metrics_column *column);

/*
 * Kappa temporal: how far accuracy before the label is above that of the last label, of what that
 * leaves. 0: no better; NAN if not measured, or where the last label is always right.
 */
double summary_kappa(double le, double same);

/* How many of `count` evaluations are late. */
size_t summary_late(size_t count);

/* Shown for every run; NAN if not measured. */
struct summary {
	struct metrics_row last; /* each number's last value; zero where it is whole */
	double late_ir, late_ft; /* of the model that serves inference */
	double late_ir_sgd, late_ft_sgd;
	double cost; /* per iteration; 1 is plain SGD */
};

void summary_make(struct summary *summary, const struct metrics_row *rows, size_t count);

#endif
