/*
 * The roles of a table's columns: one is the label, or several that are numbers; perhaps one is the
 * time, others are numbers, categories, dates or texts, or ignored. Derived from the [table] keys
 * and the first row; the role of a column that no key names becomes clear while rows are read. A
 * schema defines how rows become floats.
 *
 * With table.header = auto the first line is compared with the next thousand. It is a header if
 * its words do not occur again below them and its numbers, if any, count up by one. It is also a
 * header if it has no number and one of its words is above numbers only, unless the same line
 * occurs again. Columns are named by their header or by their number, from 1.
 *
 * Blank lines and lines that begin with # may precede all this. Such a line is still the header
 * if it has as many columns as the next, unless that one looks like the header.
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
#include "target/target.h"

enum { TABLE_COLUMNS = 1 << 16, TABLE_CELL = 4096, TABLE_NAME = 256, TABLE_MET = 512 };
enum table_role {
	TABLE_NUMBER,
	TABLE_CATEGORY,
	TABLE_DATE, /* a time that is an input */
	TABLE_TEXT,
	TABLE_LABEL,
	TABLE_TIME,
	TABLE_IGNORED
};

/* Counts of a column's cells, except missing ones. */
struct table_cells {
	int64_t numbers, points;        /* ... of which have a decimal point */
	int64_t words, written, commas; /* ... of which are written as $1,234.5, as 12,5, */
	int64_t thousands;              /* ... and as 1,234, which may be either */
	int64_t dates, clocks;          /* ... and those that are moments, with a time of day, */
	int64_t day_first, month_first; /* ... that show whether the day comes first */
	int64_t counting;               /* numbers that are the one before plus 1 */
	double last;
	int64_t looked; /* words, until `met` was full */
	uint64_t row;   /* of the first word, or of the first that is not written as a number */
	char shown[SCHEMA_SHOWN];
};

struct table_column {
	enum table_role role;
	bool fixed;       /* a key or a schema defines it */
	bool seen;        /* it has a cell that is not missing */
	bool opened;      /* its first cell is missing */
	bool commas, lax; /* how its numbers are read, as in a schema */
	bool clock;       /* a date has a time of day, */
	bool day_first;   /* ... and 1/2/2024 is in February */
	bool left_out;    /* its values say nothing: an id, or a row's number */
	struct table_cells cells;
	int input; /* its column of the schema; -1: not an input */
	struct vocabulary
		vocabulary;    /* of a category: its first cells, as many as there are slots */
	struct vocabulary met; /* the first different words, up to TABLE_MET */
	char name[TABLE_NAME];
	size_t too_long; /* length of a name that does not fit: the column is called by its number */
};

struct table_plan {
	int count;
	struct table_column *columns;
	bool headed;
	char separator;
	size_t lead;       /* bytes before the first row or the header */
	int lead_lines;    /* ... their number of lines, including earlier ones */
	size_t header;     /* its size, without the line end */
	bool guessed;      /* no key names the time */
	bool whole;        /* it is a file, not a stream */
	bool keep_ids;     /* columns of ids are inputs */
	struct text notes; /* lines about surprising interpretations */
	struct schema_sizes sizes;
	int label, time;             /* columns; -1: none */
	int targets;                 /* columns that are labels: more than one are numbers */
	int target_at[TARGET_WIDTH]; /* ... of which `label` is the first */
	struct text label_names;     /* with commas between them */
	enum label_kind labels;
	struct schema *schema; /* how rows are encoded; after table_plan_end */
};

extern const struct option_row table_options[];

/*
 * The first lines of a table. A pipe gives one line after the other, so there is only the first:
 * then it is a header if its cells are all distinct words.
 */
struct table_lines {
	const char *bytes;
	size_t size;
	bool first_only;
	int before;  /* lines already skipped */
	bool headed; /* the first line is known to be a header */
};

/* `path` begins error messages. Release a plan even if this failed. */
int table_plan_init(struct table_plan *plan, const char *path, const struct table_lines *lines,
	const struct options *options, struct err *err);

/*
 * After the last row of a file: decides the kind of columns that no key defines. A column in
 * which nearly all cells are numbers is lax, with a note. True: rows must be read again, because
 * some column has categories after all.
 */
bool table_plan_settle(struct table_plan *plan);

/* After that: makes the schema. */
int table_plan_end(struct table_plan *plan, const char *path, struct err *err);

/* "4 numbers, 1 category, label "class"" */
void table_plan_about(const struct table_plan *plan, struct text *words);
void table_plan_release(struct table_plan *plan);

/*
 * Makes those columns the labels that words name: one or, with commas between them, several; NULL:
 * none. False: the table lacks one, and there is no label.
 */
bool table_plan_labels(struct table_plan *plan, const char *words);

/* The value of a cell. `copy` must outlive it, if quotes in the cell are doubled. */
struct schema_value table_value(const struct csv_field *field, char copy[TABLE_CELL]);

/*
 * The number that a label is, as written (schema.h). Alone: where no other labels tell whether
 * it has a decimal comma, the separator does.
 */
bool table_label_number(const struct csv_field *cell, bool commas, double *number);
bool table_label_alone(const struct csv_field *cell, char separator, double *number);

#endif
