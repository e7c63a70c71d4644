/* A run in a few numbers. */
#include <math.h>
#include <string.h>

#include "report/report.h"

/* The latest value of a column. */
static double latest(const struct metrics_row *rows, size_t count, size_t offset)
{
	for (size_t i = count; i > 0; i--) {
		double value;

		memcpy(&value, (const char *)(rows + i - 1) + offset, sizeof(value));
		if (!isnan(value))
			return value;
	}
	return NAN;
}

/* Over the rows after an iteration. */
static double mean_after(
	const struct metrics_row *rows, size_t count, size_t offset, double iteration)
{
	double sum = 0;
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		double value;

		memcpy(&value, (const char *)(rows + i) + offset, sizeof(value));
		if (isnan(value) || (double)rows[i].iteration <= iteration)
			continue;
		sum += value;
		found++;
	}
	return found ? sum / (double)found : NAN;
}

#define LATEST(column)      latest(rows, count, offsetof(struct metrics_row, column))
#define MEAN(column, after) mean_after(rows, count, offsetof(struct metrics_row, column), after)

void report_summarize(struct report_summary *summary, const struct metrics_row *rows, size_t count)
{
	const double late = count ? 0.75 * (double)rows[count - 1].iteration : 0;

	*summary = (struct report_summary){
		.iteration = count ? rows[count - 1].iteration : 0,
		.samples = count ? rows[count - 1].samples : 0,
		.lr = LATEST(lr),
		.le = LATEST(le),
		.blind = LATEST(blind),
		.cost = LATEST(cost),
		.seconds = LATEST(seconds),
		.ir = LATEST(ir),
		.ir_sgd = LATEST(ir_sgd),
		.ir_late = MEAN(ir, late),
		.ir_sgd_late = MEAN(ir_sgd, late),
		.ft_mean = MEAN(ft, -1),
		.ft_sgd_mean = MEAN(ft_sgd, -1),
	};
}
