/*
 * What the columns of a table are: one is the label, perhaps one the time, others
 * are numbers or categories, or ignored. Made from the [table] keys and the first
 * row; whether a column that no key names is of numbers or of categories shows while
 * rows are read.
 *
 * With table.header = auto the first line is compared with the next thousand. It is a
 * header if its words do not come again below them and its numbers, if any, count up
 * by one. It is also a header if it has no number and one of its words stands above
 * numbers alone. Columns are named by their header or by their number, from 1.
 */
#ifndef RETAIN_RECORDS_TABLE_PLAN_H
#define RETAIN_RECORDS_TABLE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/options.h"
#include "formats/csv.h"
#include "formats/mapped.h"
#include "records/vocabulary.h"

enum { TABLE_COLUMNS = 1024, TABLE_CATEGORIES = 4096, TABLE_FLOATS = 1 << 20 };
enum table_role { TABLE_NUMBER, TABLE_CATEGORY, TABLE_LABEL, TABLE_TIME, TABLE_IGNORED };

struct table_column {
	enum table_role role;
	bool fixed;                   /* a key says what it is */
	size_t at;                    /* its first float in a record */
	struct vocabulary vocabulary; /* different cells of a category that is not hashed */
	char name[64];
};

struct table_plan {
	int count;
	struct table_column *columns;
	bool headed;
	char separator;
	int hash_bits;
	double clip;
	int label, time; /* columns; time -1: there is none */
	size_t floats;   /* of a record; after table_plan_end */
};

extern const struct option_row table_options[];

int table_plan_init(struct table_plan *plan, const struct mapped *file,
	const struct options *options, struct err *err);

/* After the last row: where each column's floats are. */
int table_plan_end(struct table_plan *plan, const struct mapped *file, struct err *err);
void table_plan_release(struct table_plan *plan);

/*
 * What a cell without blanks around it is, and its number: finite and as decimal.h
 * says; or missing: empty, NA, N/A, null, ?, or nan, inf, infinity and numbers beyond
 * a double's (1e999) of either sign; or else a word.
 */
enum table_cell { TABLE_CELL_NUMBER, TABLE_CELL_MISSING, TABLE_CELL_WORD };
enum table_cell table_cell(struct csv_field cell, double *number);

#endif
