/*
 * Values of eval/summary.h from metrics.csv, and accuracy by time range: ranges are eighths of
 * the stream, and their accuracy is the mean of the matrix's bins, over the late rows or in the
 * row at a moment of the run, by default half of it.
 */
#include "contest/measure.h"

#include <math.h>
#include <string.h>

#include "eval/summary.h"

/* clang-format off */
#define RANGE(prefix, title, help, when, n, which)                                                 \
	{prefix #n, title " " #n "/8", help which, true, 2, .range = n, .at_moment = when}
#define RANGES(prefix, title, help, when)                                                          \
	RANGE(prefix, title, help, when, 1, " first eighth of the stream"),                        \
	RANGE(prefix, title, help, when, 2, " second eighth"),                                     \
	RANGE(prefix, title, help, when, 3, " third eighth"),                                      \
	RANGE(prefix, title, help, when, 4, " fourth eighth"),                                     \
	RANGE(prefix, title, help, when, 5, " fifth eighth"),                                      \
	RANGE(prefix, title, help, when, 6, " sixth eighth"),                                      \
	RANGE(prefix, title, help, when, 7, " seventh eighth"),                                    \
	RANGE(prefix, title, help, when, 8, " last eighth")
/* clang-format on */

const struct measure measures[MEASURES + 1] = {
	{"le", "accuracy (LE)", "learning efficacy over the whole run", true, 2, "le",
		SUMMARY_LAST},
	{"ir", "retention (IR)", "information retention at the end", true, 2, "ir", SUMMARY_LAST},
	{"late_ir", "late IR", "the same, mean of the last quarter of evaluations", true, 2, "ir",
		SUMMARY_LATE},
	{"mean_ir", "mean IR", "the same, mean over all evaluations of the run", true, 2, "ir",
		SUMMARY_ALL},
	{"early_ir", "early IR", "the same, mean of the first quarter of evaluations", true, 2,
		"ir", SUMMARY_EARLY},
	{"ft", "next (FT)", "forward transfer, the last that could be measured", true, 2, "ft",
		SUMMARY_LAST},
	{"late_ft", "late FT", "the same, mean of the last quarter that could be", true, 2, "ft",
		SUMMARY_LATE},
	{"ir_sgd", "IR of SGD", "retention of the plain model of the same run", true, 2, "ir_sgd",
		SUMMARY_LAST},
	{"late_ir_sgd", "late IR of SGD", "the same, mean of the last quarter", true, 2, "ir_sgd",
		SUMMARY_LATE},
	{"early_ir_sgd", "early IR of SGD", "the same, mean of the first quarter", true, 2,
		"ir_sgd", SUMMARY_EARLY},
	{"ft_sgd", "FT of SGD", "forward transfer of the plain model", true, 2, "ft_sgd",
		SUMMARY_LAST},
	{"late_ft_sgd", "late FT of SGD", "the same, mean of the last quarter", true, 2, "ft_sgd",
		SUMMARY_LATE},
	{"blind", "blind", "learning efficacy of guessing by the last labels", true, 2, "blind",
		SUMMARY_LAST},
	{"lr", "rate", "learning rate at the end", false, 5, "lr", SUMMARY_LAST},
	{"first_cut", "first cut", "share of the run until the rate is first cut", true, 2,
		.first_cut = true},
	{"sigma", "gap", "validation accuracy of the average less that of SGD, at the end", true, 2,
		"sigma", SUMMARY_LAST},
	{"late_sigma", "late gap", "the same, mean of the last quarter", true, 2, "sigma",
		SUMMARY_LATE},
	{"val_acc", "val acc", "validation accuracy of the best average at the end", true, 2,
		"val_acc_ma", SUMMARY_LAST},
	{"late_val_acc", "late val acc", "the same, mean of the last quarter", true, 2,
		"val_acc_ma", SUMMARY_LATE},
	{"late_val_acc_sgd", "late val acc of SGD", "the same of the plain model", true, 2,
		"val_acc_sgd", SUMMARY_LATE},
	{"val_loss", "val loss", "validation loss of the best average at the end", false, 3,
		"val_loss_ma", SUMMARY_LAST},
	{"early_val_loss", "early val loss", "the same, mean of the first quarter", false, 3,
		"val_loss_ma", SUMMARY_EARLY},
	{"late_val_loss", "late val loss", "the same, mean of the last quarter", false, 3,
		"val_loss_ma", SUMMARY_LATE},
	{"le5", "LE top 5", "learning efficacy, a label among five guesses", true, 2, "le5",
		SUMMARY_LAST},
	{"le_ever", "LE ever", "with fast weights: learning efficacy of the slow net", true, 2,
		"le_ever", SUMMARY_LAST},
	{"late_ir_now", "late IR now", "with fast weights: late IR of the mixture", true, 2,
		"ir_now", SUMMARY_LATE},
	{"late_ft_now", "late FT now", "the same for FT", true, 2, "ft_now", SUMMARY_LATE},
	{"balanced", "balanced", "balanced accuracy before the label, of uneven classes", true, 2,
		"balanced", SUMMARY_LAST},
	{"f1", "F1", "mean F1 of uneven classes", true, 2, "f1", SUMMARY_LAST},
	{"f1_rare", "F1 rare", "F1 of the rarer of two uneven classes", true, 2, "f1_rare",
		SUMMARY_LAST},
	{"auc", "AUC", "of two uneven classes, latest 10 000 predictions", true, 2, "auc",
		SUMMARY_LAST},
	{"alert_recall", "recall at budget", "of the rarer of two uneven classes, at eval.alerts",
		true, 2, "alert_recall", SUMMARY_LAST},
	{"alert_share", "alerts", "share of alerts that this recall is at", false, 2, "alert_share",
		SUMMARY_LAST},
	{"le_album", "LE by album",
		"where users are known: learning efficacy on the first album by another user", true,
		2, "le_album", SUMMARY_LAST},
	{"cost", "cost", "compute per iteration; plain SGD is 1", false, 2, "cost", SUMMARY_LAST,
		.per_iteration = true},
	{"forgetting", "forgetting",
		"mean over past time bins: best accuracy so far less that at the end", true, 2,
		"forgetting", SUMMARY_LAST},
	{"bwt", "BWT", "backward transfer: accuracy at the end less that when a bin became past",
		true, 2, "bwt", SUMMARY_LAST},
	{"kept", "kept", "samples that are kept at the end, for training and validation", false, 0,
		"kept", SUMMARY_LAST},
	{"mae", "MAE", "numbers: mean absolute error before the label", false, MEASURE_QUANTITY,
		"mae", SUMMARY_LAST},
	{"rmse", "RMSE", "numbers: root of the mean squared error", false, MEASURE_QUANTITY, "rmse",
		SUMMARY_LAST},
	{"mae_last", "last value", "numbers: MAE of the last value", false, MEASURE_QUANTITY,
		"mae_last", SUMMARY_LAST},
	{"mae_mean", "mean", "numbers: MAE of the mean so far", false, MEASURE_QUANTITY, "mae_mean",
		SUMMARY_LAST},
	{"inside", "in band", "numbers: share of labels within their intervals", true, 2, "inside",
		SUMMARY_LAST},
	{"width", "width", "numbers: mean width of the intervals", false, MEASURE_QUANTITY, "width",
		SUMMARY_LAST},
	{"seconds", "seconds", "time it took", false, 1, "seconds", SUMMARY_LAST},
	RANGES("range", "range", "late accuracy on data of the", false),
	RANGES("mid", "mid",
		"accuracy at half of the run, or at the scale's moment, on data of the", true),
	{"tilt", "old less new", "late accuracy on data of the first half less that of the second",
		true, 2, .tilt = true},
	{"mid_tilt", "past less future", "the same at that moment", true, 2, .tilt = true,
		.at_moment = true},
};

int measure_find(const char *name)
{
	for (int i = 0; i < MEASURES; i++)
		if (!strcmp(measures[i].name, name))
			return i;
	return -1;
}

/* Four digits in all, as the terminal shows a quantity. */
int measure_digits(const struct measure *measure, double value)
{
	static const int DIGITS = 4, MOST = 9;
	const double size = fabs(value);

	if (measure->digits != MEASURE_QUANTITY)
		return measure->digits;
	if (!(size > 0) || isinf(size))
		return 0;
	return (int)fmax(0, fmin(MOST, DIGITS - 1 - floor(log10(size))));
}

/* The mean over the bins of one range, in rows from `first` up to `end`. */
static double range_mean(const struct run_matrix *matrix, int range, int ranges, int first, int end)
{
	double sum = 0;
	int count = 0;

	for (int row = first; row < end; row++)
		for (int bin = 0; bin < matrix->bins; bin++) {
			const double cell =
				matrix->cells[(size_t)row * (size_t)matrix->bins + (size_t)bin];

			if (bin * ranges / matrix->bins != range || isnan(cell))
				continue;
			sum += cell;
			count++;
		}
	return count ? sum / count : NAN;
}

static double measure_range(
	const struct measure *measure, const struct run_matrix *matrix, double moment)
{
	/* The last evaluation of the share of the run; of an odd number, half is the middle one. */
	const int then = (int)ceil(moment * matrix->rows - 1e-9);
	const int end = measure->at_moment ? then : matrix->rows;
	const int first = !measure->at_moment
				  ? matrix->rows - (int)summary_late((size_t)matrix->rows)
			  : then > 0 ? then - 1
				     : 0;

	if (measure->tilt)
		return range_mean(matrix, 0, 2, first, end) - range_mean(matrix, 1, 2, first, end);
	return range_mean(matrix, measure->range - 1, MEASURE_RANGES, first, end);
}

/* All of a run that never cuts is uncut. */
static double first_cut(const struct run_log *log)
{
	if (!log->count)
		return NAN;
	if (!log->cut_count)
		return 1;
	return (double)log->cuts[0].iteration / (double)log->rows[log->count - 1].iteration;
}

void measure_log(const struct run_log *log, double moment, double values[MEASURES])
{
	for (int i = 0; i < MEASURES; i++) {
		const struct measure *measure = &measures[i];

		if (measure->first_cut) {
			values[i] = first_cut(log);
			continue;
		}
		if (measure->range || measure->tilt) {
			values[i] = measure_range(measure, &log->matrix, moment);
			continue;
		}
		values[i] = summary_value(
			log->rows, log->count, metrics_column(measure->column), measure->span);
		if (measure->per_iteration && log->count)
			values[i] /= (double)log->rows[log->count - 1].iteration;
	}
}
