/*
 * What the columns of a table are: one is the label, perhaps one the time, others
 * are numbers, categories or texts, or ignored. Made from the [table] keys and the first
 * row; what a column is that no key names shows while rows are read. What rows become as
 * floats is a schema's business.
 *
 * With table.header = auto the first line is compared with the next thousand. It is a
 * header if its words do not come again below them and its numbers, if any, count up
 * by one. It is also a header if it has no number and one of its words stands above
 * numbers alone, save where the same line comes again. Columns are named by their header or
 * by their number, from 1.
 *
 * Blank lines and lines that begin with # may stand before all this. Such a line is the header
 * all the same if it has as many columns as the next, unless that one looks like the header.
 */
#ifndef RETAIN_RECORDS_TABLE_PLAN_H
#define RETAIN_RECORDS_TABLE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/options.h"
#include "base/text.h"
#include "formats/csv.h"
#include "records/columns.h"
#include "schema/schema.h"

enum { TABLE_COLUMNS = 1024, TABLE_CELL = 4096, TABLE_NAME = 256 };
enum table_role {
	TABLE_NUMBER,
	TABLE_CATEGORY,
	TABLE_TEXT,
	TABLE_LABEL,
	TABLE_TIME,
	TABLE_IGNORED
};

/* What the cells of a column are, of those that are not missing. */
struct table_cells {
	int64_t numbers, points;          /* ... of which have a decimal point */
	int64_t words, commas, thousands; /* ... of which are as 12,5 and as 1,234 */
	uint64_t row;                     /* of the first word */
	char shown[SCHEMA_SHOWN];
};

struct table_column {
	enum table_role role;
	bool fixed;       /* a key or a schema says what it is */
	bool seen;        /* it has a cell that is not missing */
	bool opened;      /* its first cell is missing */
	bool commas, lax; /* how its numbers are read: as in a schema */
	struct table_cells cells;
	int input;                    /* its column of the schema; -1: it is no input */
	struct vocabulary vocabulary; /* of a category: its first cells, as many as have slots */
	char name[TABLE_NAME];
	size_t too_long; /* bytes of a name that has no room there: it is called by its number */
};

struct table_plan {
	int count;
	struct table_column *columns;
	bool headed;
	char separator;
	size_t lead;       /* bytes before the first row or the header */
	int lead_lines;    /* ... which are so many lines, with those that came before */
	size_t header;     /* its size, without the line's end */
	bool guessed;      /* no key names the time */
	struct text notes; /* lines: what was read otherwise than one might think */
	struct schema_sizes sizes;
	int label, time; /* columns; time -1: there is none */
	enum label_kind labels;
	struct schema *schema; /* what rows become; after table_plan_end */
};

extern const struct option_row table_options[];

/*
 * The first lines of a table. Where a pipe gives one after the other, there is only the first:
 * then it is a header if all of its cells are words that differ.
 */
struct table_lines {
	const char *bytes;
	size_t size;
	bool first_only;
	int before; /* lines that were passed over already */
};

/* `path` begins the sentences of errors. A plan whose making failed is to be released, too. */
int table_plan_init(struct table_plan *plan, const char *path, const struct table_lines *lines,
	const struct options *options, struct err *err);

/*
 * After the last row of a file: what columns are whose kind no key says. One in which nearly all
 * cells are numbers is lax, with a note. True: rows have to be read anew, as some column has
 * categories after all.
 */
bool table_plan_settle(struct table_plan *plan);

/* After that: what rows become. */
int table_plan_end(struct table_plan *plan, const char *path, struct err *err);

/* "4 numbers, 1 category, label "class"" */
void table_plan_about(const struct table_plan *plan, struct text *words);
void table_plan_release(struct table_plan *plan);

/* The value of a cell. `copy` has to live as long as it, if quotes in it are doubled. */
struct schema_value table_value(struct csv_field cell, char copy[TABLE_CELL]);

#endif
