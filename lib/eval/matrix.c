/*
 * Counts of hits; accuracies are divided out only on demand, so that a range of bins weighs every
 * sample equally.
 *
 * Invariants: rows_used <= rows_most; `hits` of rows from rows_used on are zero, and so are all
 * of a model's in a row whose `said` is 0.
 */
#include "eval/matrix.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

#define EDGE         1e-9               /* of the stream: moments that are nearer are the same */
#define WORTH        (INT64_C(1) << 16) /* hits of a worth of 1: sums do not depend on the order */
#define SAMPLES_MOST (INT64_C(1) << 34) /* of a bin: sums over all bins stay far from overflow */

struct matrix {
	int bins, rows_most, rows_used;
	int64_t unit;        /* hits of a sample: 1, or WORTH */
	double *begins;      /* [bin], and 1 at the end; NULL: bins of equal time */
	int64_t *samples;    /* [bin] */
	double *seen;        /* [row] */
	unsigned char *said; /* [row][model]: whether hits were told */
	int64_t *hits;       /* [row][model][top][bin] */
};

int matrix_new(struct matrix **matrix, int bins, int rows, struct err *err)
{
	struct matrix *made;

	*matrix = NULL;
	if (bins < 1 || rows < 1)
		return err_set(err, ERR_INPUT,
			"an evaluation matrix of %d bins and %d rows: both must be at least 1",
			bins, rows);
	made = mem_new(1, sizeof(*made));
	if (!made)
		return err_memory(err, "an evaluation matrix", sizeof(*made));
	made->bins = bins;
	made->unit = 1;
	made->rows_most = rows;
	made->samples = mem_new((size_t)bins, sizeof(int64_t));
	made->seen = mem_new((size_t)rows, sizeof(double));
	made->said = mem_new((size_t)rows, MATRIX_MODELS);
	made->hits =
		mem_new((size_t)rows * MATRIX_MODELS * MATRIX_TOPS, (size_t)bins * sizeof(int64_t));
	if (!made->samples || !made->seen || !made->said || !made->hits) {
		matrix_free(made);
		return err_memory(err, "an evaluation matrix",
			8ull * MATRIX_MODELS * MATRIX_TOPS * (unsigned)rows * (unsigned)bins);
	}
	*matrix = made;
	return 0;
}

int matrix_new_tasks(
	struct matrix **matrix, const double *begins, int tasks, int rows, struct err *err)
{
	const int code = matrix_new(matrix, tasks, rows, err);

	if (code)
		return code;
	(*matrix)->begins = mem_new((size_t)tasks + 1, sizeof(double));
	if (!(*matrix)->begins) {
		matrix_free(*matrix);
		*matrix = NULL;
		return err_memory(err, "an evaluation matrix", (size_t)tasks * sizeof(double));
	}
	for (int task = 0; task < tasks; task++) {
		assert(task ? begins[task] > begins[task - 1] : begins[task] == 0);
		(*matrix)->begins[task] = begins[task];
	}
	(*matrix)->begins[tasks] = 1;
	return 0;
}

void matrix_free(struct matrix *matrix)
{
	if (!matrix)
		return;
	mem_free(matrix->begins);
	mem_free(matrix->samples);
	mem_free(matrix->seen);
	mem_free(matrix->said);
	mem_free(matrix->hits);
	mem_free(matrix);
}

int matrix_bins(const struct matrix *matrix)
{
	return matrix->bins;
}

int matrix_rows(const struct matrix *matrix)
{
	return matrix->rows_used;
}

double matrix_begins(const struct matrix *matrix, int bin)
{
	return matrix->begins ? matrix->begins[bin] : (double)bin / matrix->bins;
}

/* The first bin that begins at or after a moment, and the number of bins that end at or before it:
 * an edge is where both are the same. */
static int bin_after(const struct matrix *matrix, double moment)
{
	int bin = 0;

	if (!matrix->begins)
		return (int)ceil(fmin(fmax(moment - EDGE, 0), 1) * matrix->bins);
	while (bin < matrix->bins && matrix->begins[bin] < moment - EDGE)
		bin++;
	return bin;
}

static int bins_before(const struct matrix *matrix, double moment)
{
	int bin = 0;

	if (!matrix->begins)
		return (int)floor(fmin(fmax(moment + EDGE, 0), 1) * matrix->bins);
	while (bin < matrix->bins && matrix->begins[bin + 1] <= moment + EDGE)
		bin++;
	return bin;
}

int matrix_bin(const struct matrix *matrix, double moment)
{
	const int bin = bins_before(matrix, moment);

	return bin < matrix->bins ? bin : matrix->bins - 1;
}

void matrix_count_sample(struct matrix *matrix, int bin)
{
	assert(bin >= 0 && bin < matrix->bins);
	assert(matrix->rows_used == 0 && "samples are counted before the first row");
	matrix->samples[bin]++;
}

int matrix_begin(struct matrix *matrix, double seen, struct err *err)
{
	const int row = matrix->rows_used;

	if (!(seen >= 0 && seen <= 1))
		return err_set(
			err, ERR_INPUT, "evaluation at %g of the stream: must be in [0, 1]", seen);
	if (row > 0 && seen < matrix->seen[row - 1])
		return err_set(err, ERR_INPUT,
			"evaluation at %g of the stream: the one before was at %g", seen,
			matrix->seen[row - 1]);
	if (row == matrix->rows_most)
		return err_set(err, ERR_STATE,
			"evaluation at %g of the stream: there is room for %d evaluations only",
			seen, matrix->rows_most);
	matrix->seen[row] = seen;
	matrix->rows_used++;
	return 0;
}

static int64_t *hits_of(
	const struct matrix *matrix, int row, enum matrix_model model, enum matrix_top top)
{
	const size_t line = ((size_t)row * MATRIX_MODELS + model) * MATRIX_TOPS + top;

	return matrix->hits + line * (size_t)matrix->bins;
}

int64_t matrix_samples(const struct matrix *matrix, int bin)
{
	return matrix->samples[bin];
}

void matrix_hit(struct matrix *matrix, enum matrix_model model, int bin, int64_t top1, int64_t top5)
{
	const int row = matrix->rows_used - 1;

	assert(row >= 0 && bin >= 0 && bin < matrix->bins);
	assert(0 <= top1 && top1 <= top5);
	hits_of(matrix, row, model, MATRIX_TOP1)[bin] += top1;
	hits_of(matrix, row, model, MATRIX_TOP5)[bin] += top5;
	assert(hits_of(matrix, row, model, MATRIX_TOP5)[bin] <= matrix->samples[bin]);
	matrix->said[row * MATRIX_MODELS + model] = 1;
}

void matrix_take_worths(struct matrix *matrix)
{
	matrix->unit = WORTH;
}

void matrix_worth(struct matrix *matrix, enum matrix_model model, int bin, double worth)
{
	const int row = matrix->rows_used - 1;

	assert(row >= 0 && bin >= 0 && bin < matrix->bins && worth >= MATRIX_WORST && worth <= 1);
	hits_of(matrix, row, model, MATRIX_TOP1)[bin] += (int64_t)rint(worth * (double)WORTH);
	matrix->said[row * MATRIX_MODELS + model] = 1;
}

/* Of bins first .. end-1. */
static int64_t samples_of(const struct matrix *matrix, int first, int end)
{
	int64_t all = 0;

	for (int bin = first; bin < end; bin++)
		all += matrix->samples[bin];
	return all;
}

/* Over bins first .. end-1. */
static double accuracy(const struct matrix *matrix, int row, int first, int end,
	enum matrix_model model, enum matrix_top top)
{
	const int64_t *hits = hits_of(matrix, row, model, top);
	const int64_t all = samples_of(matrix, first, end);
	int64_t right = 0;

	assert(row >= 0 && row < matrix->rows_used);
	for (int bin = first; bin < end; bin++)
		right += hits[bin];
	if (!all || !matrix->said[row * MATRIX_MODELS + model] ||
		(matrix->unit > 1 && top == MATRIX_TOP5))
		return NAN;
	return fmax((double)right / (double)(all * matrix->unit), -1);
}

double matrix_cell(
	const struct matrix *matrix, int row, int bin, enum matrix_model model, enum matrix_top top)
{
	return accuracy(matrix, row, bin, bin + 1, model, top);
}

double matrix_seen(const struct matrix *matrix, int row)
{
	return matrix->seen[row];
}

/* How many bins are past in a row. */
static int past_bins(const struct matrix *matrix, int row)
{
	const double seen = matrix->seen[row];

	return matrix->begins ? bin_after(matrix, seen) : bins_before(matrix, seen);
}

/*
 * What a bin's accuracy is compared with: the first or the best of the rows in which it was
 * past.
 */
static double former(
	const struct matrix *matrix, int row, int bin, enum matrix_model model, bool best)
{
	double value = NAN;

	for (int before = 0; before < row; before++) {
		const double cell = bin < past_bins(matrix, before)
					    ? matrix_cell(matrix, before, bin, model, MATRIX_TOP1)
					    : NAN;

		if (!isnan(cell) && (isnan(value) || (best && cell > value)))
			value = cell;
	}
	return value;
}

static double mean_change(const struct matrix *matrix, int row, enum matrix_model model, bool best)
{
	const int end = past_bins(matrix, row);
	double sum = 0;
	int count = 0;

	for (int bin = 0; bin < end; bin++) {
		const double change = matrix_cell(matrix, row, bin, model, MATRIX_TOP1) -
				      former(matrix, row, bin, model, best);

		if (isnan(change))
			continue;
		sum += change;
		count++;
	}
	return count ? sum / count : NAN;
}

double matrix_forgetting(const struct matrix *matrix, int row, enum matrix_model model)
{
	return -mean_change(matrix, row, model, true);
}

double matrix_backward(const struct matrix *matrix, int row, enum matrix_model model)
{
	return mean_change(matrix, row, model, false);
}

double matrix_retention(
	const struct matrix *matrix, int row, enum matrix_model model, enum matrix_top top)
{
	return accuracy(matrix, row, 0, past_bins(matrix, row), model, top);
}

int64_t matrix_retention_samples(const struct matrix *matrix, int row)
{
	return samples_of(matrix, 0, past_bins(matrix, row));
}

int64_t matrix_transfer_samples(const struct matrix *matrix, int row, double from, double to)
{
	const double seen = matrix->seen[row];

	if (seen + to > 1 + EDGE)
		return 0;
	return samples_of(matrix, bin_after(matrix, seen + from), bins_before(matrix, seen + to));
}

double matrix_transfer(const struct matrix *matrix, int row, double from, double to,
	enum matrix_model model, enum matrix_top top)
{
	const double seen = matrix->seen[row];

	if (seen + to > 1 + EDGE)
		return NAN;
	return matrix_range(matrix, row, seen + from, seen + to, model, top);
}

double matrix_range(const struct matrix *matrix, int row, double from, double to,
	enum matrix_model model, enum matrix_top top)
{
	return accuracy(matrix, row, bin_after(matrix, from), bins_before(matrix, to), model, top);
}

/* What was read keeps what matrix_begin and matrix_hit keep. */
static void check_counts(const struct matrix *matrix, struct state *state)
{
	bool right = !state_failed(state);

	for (int bin = 0; bin < matrix->bins && right; bin++)
		right = matrix->samples[bin] >= 0 && matrix->samples[bin] <= SAMPLES_MOST;
	for (int row = 0; row < matrix->rows_used && right; row++)
		right = matrix->seen[row] >= (row ? matrix->seen[row - 1] : 0) &&
			matrix->seen[row] <= 1;
	for (int row = 0; row < matrix->rows_used && right; row++)
		for (int m = 0; m < MATRIX_MODELS; m++)
			for (int bin = 0; bin < matrix->bins && right; bin++) {
				const int64_t top1 = hits_of(matrix, row, m, MATRIX_TOP1)[bin];
				const int64_t top5 = hits_of(matrix, row, m, MATRIX_TOP5)[bin];

				const int64_t most = matrix->samples[bin] * matrix->unit;

				right = matrix->unit > 1
						? top1 >= MATRIX_WORST * most && top1 <= most &&
							  !top5
						: top1 >= 0 && top1 <= top5 && top5 <= most;
			}
	if (!right)
		state_refuse(state, ERR_FORMAT, "an evaluation matrix that cannot be");
}

void matrix_state(struct matrix *matrix, struct state *state)
{
	int bins = matrix->bins, rows = matrix->rows_used;
	size_t used;

	state_int(state, "bins", &bins);
	state_int(state, "rows", &rows);
	if (state_failed(state))
		return;
	if (bins != matrix->bins) {
		state_refuse(state, ERR_FORMAT, "evaluation has %d bins, but %d are expected%s",
			bins, matrix->bins,
			matrix->begins ? ": each task is a bin since version 0.2, make the run anew"
				       : "");
		return;
	}
	if (rows < 0 || rows > matrix->rows_most) {
		state_refuse(state, ERR_FORMAT, "%d evaluations, but there is room for %d", rows,
			matrix->rows_most);
		return;
	}
	used = (size_t)rows * MATRIX_MODELS;
	if (state_reading(state)) {
		matrix->rows_used = rows;
		memset(matrix->said, 0, (size_t)matrix->rows_most * MATRIX_MODELS);
		for (int row = 0; row < matrix->rows_most; row++)
			memset(hits_of(matrix, row, 0, 0), 0,
				MATRIX_MODELS * MATRIX_TOPS * (size_t)matrix->bins *
					sizeof(int64_t));
	}
	state_int64s(state, "samples", matrix->samples, (size_t)bins);
	state_doubles(state, "seen", matrix->seen, (size_t)rows);
	state_bytes(state, "said", matrix->said, used);
	state_int64s(state, "hits", matrix->hits, used * MATRIX_TOPS * (size_t)bins);
	if (state_reading(state))
		check_counts(matrix, state);
}

void matrix_write(const struct matrix *matrix, struct text *words)
{
	char number[TEXT_NUMBER];

	text_add(words, "seen");
	for (int bin = 0; bin < matrix_bins(matrix); bin++) {
		text_from_double(number, matrix_begins(matrix, bin));
		text_addf(words, ",%s", number);
	}
	text_add(words, "\n");
	for (int row = 0; row < matrix_rows(matrix); row++) {
		text_from_double(number, matrix_seen(matrix, row));
		text_add(words, number);
		for (int bin = 0; bin < matrix_bins(matrix); bin++) {
			const double cell =
				matrix_cell(matrix, row, bin, MATRIX_INFERENCE, MATRIX_TOP1);

			*number = '\0';
			if (!isnan(cell))
				text_from_double(number, cell);
			text_addf(words, ",%s", number);
		}
		text_add(words, "\n");
	}
}
