/*
 * The numbers of an evaluation. They are rows of a table, from which the header and rows of
 * metrics.csv and the list in docs/reference/metrics.md are generated. Their order is stable: new
 * ones go before `seconds`.
 */
#ifndef RETAIN_EVAL_METRICS_H
#define RETAIN_EVAL_METRICS_H

#include <stddef.h>
#include <stdint.h>

/* In the table's order; NAN if not measured. */
struct metrics_row {
	int64_t step, iteration, samples;
	double lr, gamma1, gamma2;
	int64_t best;
	double sigma;
	double val_loss_ma, val_loss_sgd, val_acc_ma, val_acc_sgd;
	double le, ir, ft, ir_sgd, ft_sgd, blind;
	double le5, ir5, ft5, ir5_sgd, ft5_sgd;
	double cost;
	double le_ever, ir_now, ft_now;
	double recent, alarms;
	double forgetting, bwt, kept;
	double le_album;
	double same, most;
	double mae, rmse, mae_last, mae_mean, inside, width;
	double balanced, f1, f1_rare, auc, alert_recall, alert_share;
	double chain;
	double seconds;
};

enum metrics_type {
	METRICS_WHOLE,  /* int64_t; always present */
	METRICS_NUMBER, /* double; NAN: not measured */
};

struct metrics_column {
	const char *name;
	const char *unit; /* "", "fraction", "iterations", ... */
	const char *meaning;
	enum metrics_type type;
	size_t offset; /* in struct metrics_row */
	int since;     /* the first version of state files that has it; 0: all */
};

extern const struct metrics_column metrics_columns[]; /* ends with a row without a name */

/* Zero for whole numbers, NAN for others. */
void metrics_row_init(struct metrics_row *row);

/* The column of a name; NULL if unknown. */
const struct metrics_column *metrics_column(const char *name);

/* A column's value; whole numbers become doubles. */
double metrics_value(const struct metrics_row *row, const struct metrics_column *column);

#endif
