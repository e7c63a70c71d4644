/*
 * Columns of a CSV file that stand for labels, times and parts, read cell by cell,
 * as manifests and tables both need them.
 *
 * Labels: where all are whole numbers they are the classes' numbers, unless they are said
 * to be names, or leave large gaps; else all are names, and classes are numbered in the
 * order of their names, by bytes.
 *
 * Times: where all are whole numbers they stay as they are; numbers with a fraction
 * are seconds, and like dates (ISO 8601, UTC unless they say otherwise) become
 * microseconds. Dates and numbers do not mix.
 *
 * The kind of a column is certain only after its last row. So a cell may return
 * COLUMN_AGAIN: the reader must begin anew. This happens at most once per column.
 */
#ifndef RETAIN_RECORDS_COLUMNS_H
#define RETAIN_RECORDS_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "formats/csv.h"
#include "formats/mapped.h"
#include "records/records.h"
#include "base/vocabulary.h"

/* Labels are below this. */
#define COLUMN_LABELS (1 << 24)

enum { COLUMN_AGAIN = 1 };

/* LABEL_AUTO: numbers, unless most of those below the largest never come. */
enum label_kind { LABEL_NUMBERS, LABEL_NAMES, LABEL_AUTO };
enum label_kind label_kind(const char *word);

/* Zeroed, but for the kind: no row has been seen. */
struct label_column {
	enum label_kind kind;
	bool named;
	int64_t largest;     /* of numbers, */
	int64_t different;   /* so many of which came */
	unsigned char *came; /* a bit each, with LABEL_AUTO */
	size_t room;
	struct vocabulary vocabulary;
};

/* *label becomes the class, or for names the number to give to label_column_end's ranks. */
int label_column_cell(
	struct label_column *column, struct csv_field cell, int64_t *label, struct err *err);
/*
 * After the last row: how many classes there are; *ranks (mem_free) is NULL for numbers. With
 * LABEL_AUTO it may be COLUMN_AGAIN.
 */
int label_column_end(struct label_column *column, int *classes, uint32_t **ranks, struct err *err);
void label_column_release(struct label_column *column);

enum time_kind { TIME_UNKNOWN, TIME_WHOLE, TIME_SECONDS, TIME_DATE };

int time_column_cell(enum time_kind *kind, struct csv_field cell, int64_t *time, struct err *err);

int part_column_cell(struct csv_field cell, enum records_part *part, struct err *err);

/*
 * Takes the row that begins at a byte apart. Returns its size with its line end; 0: only
 * blank lines follow; negative: an error that names the row, also if it has not so many
 * columns, nor more than `most` bytes.
 */
int64_t columns_row(const struct mapped *file, size_t at, char separator, int columns, int most,
	uint64_t number, struct csv_field *fields, struct err *err);

/* The size of the line that begins at a byte, with its end. */
size_t columns_line(const struct mapped *file, size_t at);

/* Puts file, row and column before what is wrong with a cell; returns the code. */
int columns_bad_cell(
	const struct mapped *file, uint64_t number, const char *column, int code, struct err *err);

/* A cell for messages: at most 60 bytes of it, control characters as dots. */
#define CELL_SHOWN 64
const char *cell_shown(struct csv_field cell, char out[CELL_SHOWN]);

#endif
