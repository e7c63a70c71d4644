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
	{"le", "accuracy (LE)", "predicted right before the label came, over the whole run", true,
		2, "le", SUMMARY_LAST,
		.of[TARGET_NUMBER] = {"R2 (LE)",
			"share of variance explained right before the label came"}},
	{"ir", "retention (IR)", "right on evaluation data of all the past, at the end", true, 2,
		"ir", SUMMARY_LAST,
		.of[TARGET_NUMBER].help = "variance explained on evaluation data of all the past"},
	{"late_ir", "late IR", "retention, mean of the last quarter of evaluations", true, 2, "ir",
		SUMMARY_LATE},
	{"mean_ir", "mean IR", "retention, mean of all evaluations of the run", true, 2, "ir",
		SUMMARY_ALL},
	{"early_ir", "early IR", "retention, mean of the first quarter of evaluations", true, 2,
		"ir", SUMMARY_EARLY},
	{"ft", "next (FT)", "forward transfer: right on data that was still to come", true, 2, "ft",
		SUMMARY_LAST,
		.of[TARGET_NUMBER].help = "variance explained on data that was still to come"},
	{"late_ft", "late FT", "forward transfer, mean of the last quarter of evaluations", true, 2,
		"ft", SUMMARY_LATE},
	{"ir_sgd", "IR of SGD", "retention of the plain model of the same run", true, 2, "ir_sgd",
		SUMMARY_LAST},
	{"late_ir_sgd", "late IR of SGD", "retention of the plain model, mean of the last quarter",
		true, 2, "ir_sgd", SUMMARY_LATE},
	{"early_ir_sgd", "early IR of SGD",
		"retention of the plain model, mean of the first quarter", true, 2, "ir_sgd",
		SUMMARY_EARLY},
	{"ft_sgd", "FT of SGD", "forward transfer of the plain model", true, 2, "ft_sgd",
		SUMMARY_LAST},
	{"late_ft_sgd", "late FT of SGD", "forward transfer of the plain model, the last quarter",
		true, 2, "ft_sgd", SUMMARY_LATE},
	{"blind", "blind", "accuracy of guessing by the last labels", true, 2, "blind",
		SUMMARY_LAST},
	{"lr", "rate", "learning rate at the end", false, 5, "lr", SUMMARY_LAST},
	{"first_cut", "first cut", "share of the run before the rate is first cut", true, 2,
		.first_cut = true},
	{"sigma", "gap", "validation accuracy of the average less that of SGD", true, 2, "sigma",
		SUMMARY_LAST},
	{"late_sigma", "late gap", "that gap, mean of the last quarter of evaluations", true, 2,
		"sigma", SUMMARY_LATE},
	{"val_acc", "val acc", "validation accuracy of the best average at the end", true, 2,
		"val_acc_ma", SUMMARY_LAST},
	{"late_val_acc", "late val acc", "val acc, mean of the last quarter of evaluations", true,
		2, "val_acc_ma", SUMMARY_LATE},
	{"late_val_acc_sgd", "late val acc of SGD",
		"validation accuracy of the plain model, last quarter", true, 2, "val_acc_sgd",
		SUMMARY_LATE},
	{"val_loss", "val loss", "validation loss of the best average at the end", false, 3,
		"val_loss_ma", SUMMARY_LAST},
	{"early_val_loss", "early val loss", "val loss, mean of the first quarter of evaluations",
		false, 3, "val_loss_ma", SUMMARY_EARLY},
	{"late_val_loss", "late val loss", "val loss, mean of the last quarter of evaluations",
		false, 3, "val_loss_ma", SUMMARY_LATE},
	{"le5", "LE top 5", "label among the first five guesses, made before it came", true, 2,
		"le5", SUMMARY_LAST},
	{"le_ever", "LE ever", "with fast weights: accuracy (LE) of the slow net", true, 2,
		"le_ever", SUMMARY_LAST},
	{"late_ir_now", "late IR now", "with fast weights: late IR of the mixture", true, 2,
		"ir_now", SUMMARY_LATE},
	{"late_ft_now", "late FT now", "with fast weights: late FT of the mixture", true, 2,
		"ft_now", SUMMARY_LATE},
	{"balanced", "balanced", "balanced accuracy before the label", true, 2, "balanced",
		SUMMARY_LAST},
	{"f1", "F1", "mean F1 of the classes, before the label", true, 2, "f1", SUMMARY_LAST},
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
	{"forgetting", "forgetting", "best accuracy on past data less that at the end", true, 2,
		"forgetting", SUMMARY_LAST},
	{"bwt", "BWT", "backward transfer: accuracy at the end less that of then", true, 2, "bwt",
		SUMMARY_LAST},
	{"kept", "kept", "samples kept at the end, to train and to validate on", false, 0, "kept",
		SUMMARY_LAST},
	{"mae", "MAE", "mean absolute error before the label", false, MEASURE_QUANTITY, "mae",
		SUMMARY_LAST},
	{"rmse", "RMSE", "root of the mean squared error before the label", false, MEASURE_QUANTITY,
		"rmse", SUMMARY_LAST},
	{"mae_last", "last value", "MAE of always saying the last value", false, MEASURE_QUANTITY,
		"mae_last", SUMMARY_LAST},
	{"mae_mean", "mean", "MAE of always saying the mean so far", false, MEASURE_QUANTITY,
		"mae_mean", SUMMARY_LAST},
	{"inside", "in band", "share of labels within their intervals", true, 2, "inside",
		SUMMARY_LAST},
	{"width", "width", "mean width of the intervals", false, MEASURE_QUANTITY, "width",
		SUMMARY_LAST},
	{"seconds", "seconds", "how long a run took", false, 1, "seconds", SUMMARY_LAST},
	RANGES("range", "range", "late accuracy on data of the", false),
	RANGES("mid", "mid",
		"accuracy at half of the run, or at the scale's moment, on data of the", true),
	{"tilt", "old less new", "late accuracy on the first half of the stream less the second",
		true, 2, .tilt = true},
	{"mid_tilt", "past less future", "at half of the run: accuracy on the past less the future",
		true, 2, .tilt = true, .at_moment = true},
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

/* Of a handful of samples there is no retention and no transfer. */
static bool few(const struct measure *measure, const struct run_rests *rests)
{
	const bool ir = !strncmp(measure->column, "ir", 2), ft = !strncmp(measure->column, "ft", 2);
	const int64_t samples = ir                                    ? rests->ir
				: ft && measure->span == SUMMARY_LAST ? rests->ft
				: ft                                  ? rests->late_ft
								      : 0;

	return samples && samples < SUMMARY_LEAST;
}

void measure_log(const struct run_log *log, double moment, double values[MEASURES])
{
	struct run_rests rests;

	run_log_rests(log, &rests);
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
		values[i] = few(measure, &rests)
				    ? NAN
				    : summary_value(log->rows, log->count,
					      metrics_column(measure->column), measure->span);
		if (measure->per_iteration && log->count)
			values[i] /= (double)log->rows[log->count - 1].iteration;
	}
}
