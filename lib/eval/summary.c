/* Means over some of a run's rows. */
#include "eval/summary.h"

#include <math.h>

enum { QUARTER = 4 };

size_t summary_late(size_t count)
{
	return (count + QUARTER - 1) / QUARTER;
}

/* The mean over the last `most` of `count` rows that have a value. */
static double mean_of(const struct metrics_row *rows, size_t count,
	const struct metrics_column *column, size_t most)
{
	double sum = 0;
	size_t found = 0;

	for (size_t i = count; i > 0 && found < most; i--) {
		const double value = metrics_value(&rows[i - 1], column);

		if (isnan(value))
			continue;
		sum += value;
		found++;
	}
	return found ? sum / (double)found : NAN;
}

double summary_value(const struct metrics_row *rows, size_t count,
	const struct metrics_column *column, enum summary_span span)
{
	switch (span) {
	case SUMMARY_LAST:
		return mean_of(rows, count, column, 1);
	case SUMMARY_LATE:
		return mean_of(rows, count, column, summary_late(count));
	case SUMMARY_EARLY:
		return mean_of(rows, summary_late(count), column, count);
	case SUMMARY_ALL:
		return mean_of(rows, count, column, count);
	}
	return NAN;
}

/* Errors are counted from the second time step on; steps are of one size, or nearly. */
static double scored(const struct metrics_row *row)
{
	const double samples = row ? (double)row->samples : 0;

	return samples > 0 ? samples - samples / (double)row->step : 0;
}

double summary_since(const struct metrics_row *before, const struct metrics_row *row,
	const struct metrics_column *column)
{
	const double all = scored(row), mean = metrics_value(row, column), old = scored(before);

	if (!(old > 0) || isnan(metrics_value(before, column)))
		return mean;
	return all > old ? (all * mean - old * metrics_value(before, column)) / (all - old) : NAN;
}

double summary_kappa(double le, double same)
{
	return same < 1 ? (le - same) / (1 - same) : NAN;
}

static double late(const struct metrics_row *rows, size_t count, const char *name)
{
	return summary_value(rows, count, metrics_column(name), SUMMARY_LATE);
}

void summary_make(struct summary *summary, const struct metrics_row *rows, size_t count)
{
	*summary = (struct summary){
		.late_ir = late(rows, count, "ir"),
		.late_ft = late(rows, count, "ft"),
		.late_ir_sgd = late(rows, count, "ir_sgd"),
		.late_ft_sgd = late(rows, count, "ft_sgd"),
	};
	metrics_row_init(&summary->last);
	if (count)
		summary->last = rows[count - 1];
	for (const struct metrics_column *column = metrics_columns; column->name; column++)
		if (column->type == METRICS_NUMBER)
			*(double *)((char *)&summary->last + column->offset) =
				summary_value(rows, count, column, SUMMARY_LAST);
	summary->cost = summary->last.cost / (double)summary->last.iteration;
}
