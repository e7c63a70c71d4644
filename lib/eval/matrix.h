/*
 * The accuracy of models over time on data over time: A[model time][data time]. Evaluation data
 * is divided into bins of equal time or, if the stream has tasks, one per task. A row is the
 * evaluation of a model on all bins. Retention, forward transfer and the accuracy over any range
 * of time follow from it.
 *
 * A row has two models, the one that serves inference and the plain one of the same run, and
 * counts top-1 and top-5.
 *
 * Times are fractions of the stream. Bin b of n is the half-open interval from b/n to (b+1)/n; a
 * task extends to the beginning of the next one. Times that differ by less than a billionth are
 * equal, so that 0.7 + 0.1 meets the edge at 0.8.
 */
#ifndef RETAIN_EVAL_MATRIX_H
#define RETAIN_EVAL_MATRIX_H

#include <stdint.h>

#include "base/err.h"
#include "base/state.h"
#include "base/text.h"

enum matrix_model { MATRIX_INFERENCE, MATRIX_PLAIN, MATRIX_MODELS };
enum matrix_top { MATRIX_TOP1, MATRIX_TOP5, MATRIX_TOPS };

struct matrix;

/* rows: the capacity. Both are at least 1. */
int matrix_new(struct matrix **matrix, int bins, int rows, struct err *err);

/* One bin per task. `begins` are their increasing start times, the first 0; copied. */
int matrix_new_tasks(
	struct matrix **matrix, const double *begins, int tasks, int rows, struct err *err);
void matrix_free(struct matrix *matrix);

int matrix_bins(const struct matrix *matrix);
int matrix_rows(const struct matrix *matrix); /* rows so far */
double matrix_begins(const struct matrix *matrix, int bin);

/* The bin of a moment in [0, 1). */
int matrix_bin(const struct matrix *matrix, double moment);

/*
 * Makes it one of worths in place of hits: what a prediction of a number is worth, 1 at most. A
 * single one counts as MATRIX_WORST at least, so that no outlier decides alone. Accuracy is then
 * the mean worth, -1 at least, and there is no top 5. Call it before the first row.
 */
enum { MATRIX_WORST = -400 };
void matrix_take_worths(struct matrix *matrix);
void matrix_worth(struct matrix *matrix, enum matrix_model model, int bin, double worth);

/* Adds an evaluation sample to a bin. Add all before the first row. */
void matrix_count_sample(struct matrix *matrix, int bin);

/*
 * Begins a row for models that have seen this share of the stream, in [0, 1] and not less than in
 * the row before. Allocates nothing.
 */
int matrix_begin(struct matrix *matrix, double seen, struct err *err);

/*
 * Adds a bin's correct samples for a model of the latest row: in the top 1, and in the top 5.
 * Several calls may add to a bin. Call it for every bin, even without a hit: otherwise the model
 * has no data in the row.
 */
void matrix_hit(
	struct matrix *matrix, enum matrix_model model, int bin, int64_t top1, int64_t top5);

/*
 * Accuracies are in [0, 1], NAN without data. A bin of time is past if it ends at or before the
 * row's time; a task is past once it has begun, since its samples are being revealed. A bin is
 * future if it begins at or after the row's time.
 */
double matrix_cell(const struct matrix *matrix, int row, int bin, enum matrix_model model,
	enum matrix_top top);
double matrix_seen(const struct matrix *matrix, int row);
/* IR: over all past bins. */
double matrix_retention(
	const struct matrix *matrix, int row, enum matrix_model model, enum matrix_top top);
/*
 * FT: over the bins between `from` and `to` after the row's time. NAN if that extends beyond the
 * end of the stream: the remainder would be nearer, and easier.
 */
double matrix_transfer(const struct matrix *matrix, int row, double from, double to,
	enum matrix_model model, enum matrix_top top);
/* How many samples a bin has. */
int64_t matrix_samples(const struct matrix *matrix, int bin);

/* The number of samples behind these. */
int64_t matrix_retention_samples(const struct matrix *matrix, int row);
int64_t matrix_transfer_samples(const struct matrix *matrix, int row, double from, double to);
/*
 * Means over the bins that were past in an earlier row, top 1. Forgetting is the best accuracy in
 * those rows minus this row's; backward transfer is this row's minus that of the first of them.
 * NAN without any.
 */
double matrix_forgetting(const struct matrix *matrix, int row, enum matrix_model model);
double matrix_backward(const struct matrix *matrix, int row, enum matrix_model model);
/* Over the bins that lie entirely between two times. */
double matrix_range(const struct matrix *matrix, int row, double from, double to,
	enum matrix_model model, enum matrix_top top);

/*
 * matrix.csv: a row per evaluation, how much was seen and then the accuracy in each bin of the
 * model that serves inference.
 */
void matrix_write(const struct matrix *matrix, struct text *words);

/* Reads into a matrix with the same bins and room for the saved rows. */
void matrix_state(struct matrix *matrix, struct state *state);

#endif
