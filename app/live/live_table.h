/*
 * Rows of a table as lines, as in `cat clicks.csv | retain run -`. A first line of words names
 * the columns; without one they are numbered, from 1. The [table] keys define the columns, as for
 * files: one is the label, a time is skipped, the others are the input. A column called id has
 * the ids of rows; without one a row's id is its number, which continues when the stream is
 * resumed.
 *
 *	x,y,city,class
 *	0.5,-1.25,Rome,UP
 *	0.25,1,Oslo,
 *
 * A row without a label is only predicted. If rows have ids, a row with only an id and a label is
 * a late label. A line with the names of all columns is a heading, wherever it comes, and sets
 * the order of columns from then on. It may have new columns. The first line of a process may
 * lack up to half of the old ones, if it names the label: the next file has other columns.
 */
#ifndef RETAIN_LIVE_LIVE_TABLE_H
#define RETAIN_LIVE_LIVE_TABLE_H

#include "base/options.h"
#include "live/live_line.h"
#include "records/table_plan.h"

struct journal;

struct live_table {
	const struct options *options;
	struct table_plan plan; /* its `count` is 0 until a line defines the columns */
	int *columns;           /* the schema's, by cell; negative: not an input */
	int id;                 /* column; -1: none */
	bool begun;             /* a line of this process was read */
	struct text lacks;      /* columns that the last heading lacks, to be told */
	struct text heading;    /* the line that named the columns, or the first row */
	bool noted;             /* ... is in the journal, or will be with the next input */
	struct csv_field *cells;
	size_t columns_room, cells_room; /* for the widest line so far */
	int64_t rows;                    /* the number of the last one without an id */
	int64_t kept;                    /* ... that the journal knows */
};

/* `options` are borrowed. */
void live_table_init(struct live_table *table, const struct options *options);
void live_table_release(struct live_table *table);

/* Whether a line can be a row of a table: it has several columns. */
bool live_table_is(const char *bytes, size_t size);

/* "a table: 4 numbers, label "class"" */
void live_table_about(const struct live_table *table, struct text *words);

/* Stores with the next input what later lines need: the columns, and the last row's number. */
int live_table_note(
	struct live_table *table, struct journal *journal, const char *last_id, struct err *err);

/* Restores what an earlier process stored. */
int live_table_noted(struct live_table *table, struct journal *journal, const struct schema *schema,
	struct err *err);

#endif
