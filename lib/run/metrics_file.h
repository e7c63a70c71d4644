/*
 * metrics.csv: one row for every moment at which a run was measured. The columns
 * are rows of a table, from which the file's header, its rows and the list in
 * docs/metrics.md all come. Their order is stable: new ones go before `seconds`.
 *
 * Numbers are written as the shortest decimals that read back exactly, so a run
 * that is repeated writes the same bytes, except for `seconds`. What was not
 * measured is an empty cell and NAN in memory.
 *
 * A row is written by one call of the system and not held back. For an exact
 * resume a checkpoint remembers metrics_file_rows; opening with that number drops
 * what came after it, be it rows or part of one.
 */
#ifndef RETAIN_RUN_METRICS_FILE_H
#define RETAIN_RUN_METRICS_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"

/* The columns, in the file's order; metrics_columns says what they mean. */
struct metrics_row {
	int64_t step, iteration, samples;
	double lr, gamma1, gamma2;
	int64_t best;
	double sigma;
	double val_loss_ma, val_loss_sgd, val_acc_ma, val_acc_sgd;
	double le, ir, ft, ir_sgd, ft_sgd, blind;
	double le5, ir5, ft5, ir5_sgd, ft5_sgd;
	double cost;
	double seconds;
};

enum metrics_type {
	METRICS_WHOLE,  /* int64_t; always there */
	METRICS_NUMBER, /* double; NAN: not measured */
};

struct metrics_column {
	const char *name;
	const char *unit; /* "", "fraction", "iterations", ... */
	const char *meaning;
	enum metrics_type type;
	size_t offset; /* in struct metrics_row */
};

extern const struct metrics_column metrics_columns[]; /* ends with a row without a name */

/* Zero where numbers are whole, NAN elsewhere. */
void metrics_row_init(struct metrics_row *row);

/* A column's value; whole numbers become doubles. */
double metrics_value(const struct metrics_row *row, const struct metrics_column *column);

/* Appends the table of docs/metrics.md: a line of Markdown per column. */
void metrics_describe(struct text *out);

struct metrics_file;

/*
 * Opens path for appending and keeps its first keep_rows rows. With 0 the file is
 * made anew, whatever was there. Otherwise it must begin with the header and that
 * many good rows.
 */
int metrics_file_open(
	struct metrics_file **file, const char *path, int64_t keep_rows, struct err *err);
void metrics_file_close(struct metrics_file *file);

/* Appends a row. After a failure the file ends with the row before. No allocation. */
int metrics_file_append(struct metrics_file *file, const struct metrics_row *row, struct err *err);

int64_t metrics_file_rows(const struct metrics_file *file);

/* Sees all rows safely to disk; to be called before a checkpoint that counts on them. */
int metrics_file_sync(struct metrics_file *file, struct err *err);

/*
 * Reads a whole file, strictly: this header, as many cells as columns, numbers
 * in all of them, a newline after the last. Errors name path:line. *rows is for
 * mem_free, NULL if there are none.
 */
int metrics_file_read(const char *path, struct metrics_row **rows, size_t *count, struct err *err);

/*
 * The same from the bytes of a file, which are written into, for runs that another
 * version may have made: columns are known by their names, those that are missing
 * are not measured, those that nobody knows are left out. `where` stands for the
 * path in messages.
 */
int metrics_file_parse(const char *where, char *bytes, size_t size, struct metrics_row **rows,
	size_t *count, struct err *err);

#endif
