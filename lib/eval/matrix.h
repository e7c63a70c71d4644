/*
 * The accuracy of a model at one time on data of another: A[model time][data
 * time]. Evaluation data is cut into bins of equal time; one pass of a model
 * over all of them is a row. Retention, forward transfer and accuracy by time
 * range are all read from here.
 *
 * Two models are kept side by side: the one that serves inference, and the plain
 * one of the same run. Both top-1 and top-5 are counted.
 *
 * Bin b of n covers the moments from b/n up to, not including, (b+1)/n. Times are
 * shares of the stream and compared to within a billionth of it, so that a sum
 * like 0.7 + 0.1 still meets the edge at 0.8.
 */
#ifndef RETAIN_EVAL_MATRIX_H
#define RETAIN_EVAL_MATRIX_H

#include <stdint.h>

#include "base/err.h"
#include "base/state.h"

enum matrix_model { MATRIX_INFERENCE, MATRIX_PLAIN, MATRIX_MODELS };
enum matrix_top { MATRIX_TOP1, MATRIX_TOP5, MATRIX_TOPS };

struct matrix;

/* rows: how many there will be at most. Both at least 1. */
int matrix_new(struct matrix **matrix, int bins, int rows, struct err *err);
void matrix_free(struct matrix *matrix);

int matrix_bins(const struct matrix *matrix);
int matrix_rows(const struct matrix *matrix); /* how many there are */

/* The bin of a moment in [0, 1). */
int matrix_bin(const struct matrix *matrix, double moment);

/* How many evaluation samples a bin has; to be said once for each sample, before the first row. */
void matrix_count_sample(struct matrix *matrix, int bin);

/*
 * Begins a row for models that have seen the share `seen` of the stream, in
 * [0, 1]; not less than the row before. No allocation.
 */
int matrix_begin(struct matrix *matrix, double seen, struct err *err);

/*
 * Samples of a bin that a model of the latest row got right: as its first guess,
 * among its first five. Calls add up, so a bin may come in batches, one without a
 * hit included: a model for which nothing was said has no data in this row.
 */
void matrix_hit(
	struct matrix *matrix, enum matrix_model model, int bin, int64_t top1, int64_t top5);

/*
 * Accuracies in [0, 1]; NAN where there is no data. A bin counts as past when it
 * ends at or before the row's time, and as future when it begins at or after it.
 */
double matrix_cell(const struct matrix *matrix, int row, int bin, enum matrix_model model,
	enum matrix_top top);
double matrix_seen(const struct matrix *matrix, int row);
/* IR: all past bins. */
double matrix_retention(
	const struct matrix *matrix, int row, enum matrix_model model, enum matrix_top top);
/*
 * FT: the bins between `from` and `to` of the stream's length after the row's
 * time. NAN once `to` lies beyond the stream's end: what is left of the range is
 * nearer than the range, and easier.
 */
double matrix_transfer(const struct matrix *matrix, int row, double from, double to,
	enum matrix_model model, enum matrix_top top);
/* Any range of data time: the bins that lie in it as a whole. */
double matrix_range(const struct matrix *matrix, int row, double from, double to,
	enum matrix_model model, enum matrix_top top);

/* For a matrix of the same bins and with room for the saved rows. */
void matrix_state(struct matrix *matrix, struct state *state);

#endif
