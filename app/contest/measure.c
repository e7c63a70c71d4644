/*
 * Reads metrics.csv and matrix.csv. "At the end" is the latest row that has a
 * value; "late" is the mean over the latest quarter of rows, as in a run's own
 * summary, "early" over the first quarter. Time ranges are eighths of the stream;
 * their accuracy is the mean of the matrix's bins, over the late rows or in the row
 * at half of the run.
 */
#include "contest/measure.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "run/metrics_file.h"

#define MATRIX_MOST ((size_t)1 << 30)
#define FACTS_MOST  ((size_t)1 << 20)

enum { QUARTER = 4 };

#define RANGE_ROWS(prefix, title, help)                                                            \
	{prefix "1", title " 1/8", help " first eighth of the stream", true, 2},                   \
		{prefix "2", title " 2/8", help " second eighth", true, 2},                        \
		{prefix "3", title " 3/8", help " third eighth", true, 2},                         \
		{prefix "4", title " 4/8", help " fourth eighth", true, 2},                        \
		{prefix "5", title " 5/8", help " fifth eighth", true, 2},                         \
		{prefix "6", title " 6/8", help " sixth eighth", true, 2},                         \
		{prefix "7", title " 7/8", help " seventh eighth", true, 2},                       \
	{                                                                                          \
		prefix "8", title " 8/8", help " last eighth", true, 2                             \
	}

const struct measure measures[MEASURES + 1] = {
	{"le", "LE", "learning efficacy over the whole run", true, 2},
	{"ir", "IR", "information retention at the end", true, 2},
	{"late_ir", "late IR", "the same, mean of the last quarter of evaluations", true, 2},
	{"mean_ir", "mean IR", "the same, mean over all evaluations of the run", true, 2},
	{"early_ir", "early IR", "the same, mean of the first quarter of evaluations", true, 2},
	{"ft", "FT", "forward transfer, the last that could be measured", true, 2},
	{"late_ft", "late FT", "the same, mean of the last quarter that could be", true, 2},
	{"ir_sgd", "IR of SGD", "retention of the plain model of the same run", true, 2},
	{"late_ir_sgd", "late IR of SGD", "the same, mean of the last quarter", true, 2},
	{"early_ir_sgd", "early IR of SGD", "the same, mean of the first quarter", true, 2},
	{"ft_sgd", "FT of SGD", "forward transfer of the plain model", true, 2},
	{"late_ft_sgd", "late FT of SGD", "the same, mean of the last quarter", true, 2},
	{"blind", "blind", "learning efficacy of guessing by the last labels", true, 2},
	{"lr", "rate", "learning rate at the end", false, 5},
	{"sigma", "gap", "validation accuracy of the average less that of SGD, at the end", true,
		2},
	{"late_sigma", "late gap", "the same, mean of the last quarter", true, 2},
	{"val_acc", "val acc", "validation accuracy of the best average at the end", true, 2},
	{"late_val_acc", "late val acc", "the same, mean of the last quarter", true, 2},
	{"late_val_acc_sgd", "late val acc of SGD", "the same of the plain model", true, 2},
	{"val_loss", "val loss", "validation loss of the best average at the end", false, 3},
	{"le5", "LE top 5", "learning efficacy, a label among five guesses", true, 2},
	{"cost", "cost", "compute per iteration; plain SGD is 1", false, 2},
	{"seconds", "seconds", "time it took", false, 1},
	RANGE_ROWS("range", "range", "late accuracy on data of the"),
	RANGE_ROWS("mid", "mid", "accuracy at half of the run on data of the"),
};

/* Which rows count. */
enum when { AT_END, LATE, ALWAYS, EARLY };

/* Where a measure comes from, in the same order: a column, and which rows of it. */
static const struct {
	size_t offset;
	enum when when;
} columns[] = {
	{offsetof(struct metrics_row, le), AT_END},
	{offsetof(struct metrics_row, ir), AT_END},
	{offsetof(struct metrics_row, ir), LATE},
	{offsetof(struct metrics_row, ir), ALWAYS},
	{offsetof(struct metrics_row, ir), EARLY},
	{offsetof(struct metrics_row, ft), AT_END},
	{offsetof(struct metrics_row, ft), LATE},
	{offsetof(struct metrics_row, ir_sgd), AT_END},
	{offsetof(struct metrics_row, ir_sgd), LATE},
	{offsetof(struct metrics_row, ir_sgd), EARLY},
	{offsetof(struct metrics_row, ft_sgd), AT_END},
	{offsetof(struct metrics_row, ft_sgd), LATE},
	{offsetof(struct metrics_row, blind), AT_END},
	{offsetof(struct metrics_row, lr), AT_END},
	{offsetof(struct metrics_row, sigma), AT_END},
	{offsetof(struct metrics_row, sigma), LATE},
	{offsetof(struct metrics_row, val_acc_ma), AT_END},
	{offsetof(struct metrics_row, val_acc_ma), LATE},
	{offsetof(struct metrics_row, val_acc_sgd), LATE},
	{offsetof(struct metrics_row, val_loss_ma), AT_END},
	{offsetof(struct metrics_row, le5), AT_END},
	{offsetof(struct metrics_row, cost), AT_END},
	{offsetof(struct metrics_row, seconds), AT_END},
};
enum { COLUMNS = sizeof(columns) / sizeof(*columns) };
_Static_assert(COLUMNS + 2 * MEASURE_RANGES == MEASURES, "every measure comes from somewhere");

int measure_find(const char *name)
{
	for (int i = 0; i < MEASURES; i++)
		if (!strcmp(measures[i].name, name))
			return i;
	return -1;
}

static int late_of(int rows)
{
	return (rows + QUARTER - 1) / QUARTER;
}

/* The mean over the latest `most` rows that have a value. */
static double latest(const struct metrics_row *rows, size_t count, size_t offset, int most)
{
	double sum = 0;
	int found = 0;

	for (size_t i = count; i > 0 && found < most; i--) {
		const double value = *(const double *)((const char *)&rows[i - 1] + offset);

		if (isnan(value))
			continue;
		sum += value;
		found++;
	}
	return found ? sum / found : NAN;
}

static double measure_of(const struct metrics_row *rows, int count, size_t offset, enum when when)
{
	if (when == EARLY)
		return latest(rows, (size_t)late_of(count), offset, count);
	return latest(rows, (size_t)count, offset,
		when == AT_END ? 1
		: when == LATE ? late_of(count)
			       : count);
}

static int read_metrics(const char *folder, double *values, struct err *err)
{
	struct metrics_row *rows = NULL;
	struct text path = {0};
	size_t count = 0;
	int code;

	text_addf(&path, "%s/metrics.csv", folder);
	code = path.failed ? err_memory(err, "a path", strlen(folder))
			   : metrics_file_read(path.data, &rows, &count, err);
	for (int i = 0; i < COLUMNS && !code; i++)
		values[i] = measure_of(rows, (int)count, columns[i].offset, columns[i].when);
	if (!code && count)
		values[measure_find("cost")] /= (double)rows[count - 1].iteration;
	text_release(&path);
	mem_free(rows);
	return code;
}

/* Sums of cells by time range. */
struct ranges {
	double sum[MEASURE_RANGES];
	int count[MEASURE_RANGES];
};

/* Adds a row's cells, after the first one, which says how much was seen. */
static int add_row(const char *line, const char *end, int bins, struct ranges *ranges)
{
	const char *cell = memchr(line, ',', (size_t)(end - line));

	for (int bin = 0; bin < bins; bin++) {
		const int range = bin * MEASURE_RANGES / bins;
		char *stop;
		double value;

		if (!cell || *cell != ',')
			return -1;
		cell++;
		if (cell == end || *cell == ',')
			continue; /* empty; strtod would read on in the next line */
		value = strtod(cell, &stop);
		if (stop == cell)
			return -1;
		ranges->sum[range] += value;
		ranges->count[range]++;
		cell = stop;
	}
	return cell == end ? 0 : -1;
}

static int bins_of(const char *header, const char *end)
{
	int commas = 0;

	for (; header < end; header++)
		commas += *header == ',';
	return commas;
}

static void put_ranges(const struct ranges *ranges, double *values)
{
	for (int i = 0; i < MEASURE_RANGES; i++)
		values[i] = ranges->count[i] ? ranges->sum[i] / ranges->count[i] : NAN;
}

/* words end with a newline. */
static int parse_matrix(const char *words, const char *path, double *values, struct err *err)
{
	const char *end = strchr(words, '\n'), *line;
	struct ranges late = {0}, middle = {0};
	int bins, rows = 0, row = 0;

	if (!end || !(bins = bins_of(words, end)))
		return err_set(err, ERR_FORMAT, "%s: has no header", path);
	for (line = end + 1; *line; line = strchr(line, '\n') + 1)
		rows++;
	for (line = end + 1; *line; line = end + 1, row++) {
		int wrong = 0;

		end = strchr(line, '\n');
		if (row >= rows - late_of(rows))
			wrong = add_row(line, end, bins, &late);
		if (!wrong && row == (rows + 1) / 2 - 1)
			wrong = add_row(line, end, bins, &middle);
		if (wrong)
			return err_set(
				err, ERR_FORMAT, "%s:%d: not %d cells", path, row + 2, bins + 1);
	}
	put_ranges(&late, values);
	put_ranges(&middle, values + MEASURE_RANGES);
	return 0;
}

static int read_matrix(const char *folder, double *values, struct err *err)
{
	struct text path = {0};
	char *words = NULL;
	size_t size = 0;
	int code;

	text_addf(&path, "%s/matrix.csv", folder);
	code = path.failed ? err_memory(err, "a path", strlen(folder))
			   : file_read(path.data, MATRIX_MOST, &words, &size, err);
	if (!code && (!size || words[size - 1] != '\n' || strlen(words) != size))
		code = err_set(err, ERR_FORMAT, "%s: is cut short", path.data);
	if (!code)
		code = parse_matrix(words, path.data, values, err);
	text_release(&path);
	mem_free(words);
	return code;
}

int measure_run(const char *folder, double values[MEASURES], struct err *err)
{
	int code;

	for (int i = 0; i < MEASURES; i++)
		values[i] = NAN;
	code = read_metrics(folder, values, err);
	return code ? code : read_matrix(folder, values + COLUMNS, err);
}

bool measure_finished(const char *folder)
{
	struct jvalue *facts = NULL;
	struct text path = {0};
	char *words = NULL;
	size_t size = 0;
	bool stopped = true;

	text_addf(&path, "%s/run.json", folder);
	if (!path.failed && !file_read(path.data, FACTS_MOST, &words, &size, NULL) &&
		!jvalue_read(&facts, words, size, path.data, NULL))
		jvalue_truth(jvalue_find(facts, "stopped"), &stopped);
	jvalue_free(facts);
	mem_free(words);
	text_release(&path);
	return !stopped;
}
