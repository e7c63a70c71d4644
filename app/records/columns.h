/*
 * Parses the label, time and part columns of a CSV file cell by cell, for manifests and tables.
 *
 * Labels: if all are integers they are class numbers, unless configured as names or with large
 * gaps; else all are names, and classes are numbered in byte order of their names.
 *
 * Times: if all are integers they are kept; numbers with a fraction are seconds and become
 * microseconds, and so do dates (ISO 8601, UTC by default). Dates and numbers do not mix.
 *
 * The kind of a column is certain only after its last row. So a cell may return COLUMN_AGAIN: the
 * reader must start over. This happens at most once per column.
 */
#ifndef RETAIN_RECORDS_COLUMNS_H
#define RETAIN_RECORDS_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "formats/csv.h"
#include "formats/mapped.h"
#include "records/records.h"
#include "base/words/vocabulary.h"

/* Upper bound of labels. */
#define COLUMN_LABELS (1 << 24)

enum { COLUMN_AGAIN = 1 };

/* LABEL_AUTO: numbers, unless most of those below the largest never occur. */
enum label_kind { LABEL_NUMBERS, LABEL_NAMES, LABEL_AUTO };
enum label_kind label_kind(const char *word);

/* Zeroed except for the kind: no row yet. */
struct label_column {
	enum label_kind kind;
	bool named;
	int64_t largest;     /* of the numbers, */
	int64_t different;   /* how many distinct ones occurred */
	unsigned char *came; /* a bit for each, with LABEL_AUTO */
	size_t room;
	struct vocabulary vocabulary;
};

/* *label becomes the class or, for names, an index into label_column_end's ranks. */
int label_column_cell(
	struct label_column *column, struct csv_field cell, int64_t *label, struct err *err);
/*
 * After the last row: the number of classes; *ranks (mem_free) is NULL for numbers. With
 * LABEL_AUTO it may be COLUMN_AGAIN.
 */
int label_column_end(struct label_column *column, int *classes, uint32_t **ranks, struct err *err);
void label_column_release(struct label_column *column);

enum time_kind { TIME_UNKNOWN, TIME_WHOLE, TIME_SECONDS, TIME_DATE };

int time_column_cell(enum time_kind *kind, struct csv_field cell, int64_t *time, struct err *err);

int part_column_cell(struct csv_field cell, enum records_part *part, struct err *err);

/*
 * Parses the row that begins at a byte. Returns its size including its line end; 0: only blank
 * lines follow; negative: an error that names the row, also for a wrong number of columns or more
 * than `most` bytes.
 */
int64_t columns_row(const struct mapped *file, size_t at, char separator, int columns, int most,
	uint64_t number, struct csv_field *fields, struct err *err);

/* The size of the line that begins at a byte, with its end. */
size_t columns_line(const struct mapped *file, size_t at);

/* Prefixes a cell's error with file, row and column; returns the code. */
int columns_bad_cell(
	const struct mapped *file, uint64_t number, const char *column, int code, struct err *err);

/* A cell for messages: at most 60 bytes of it, with control characters as dots. */
#define CELL_SHOWN 64
const char *cell_shown(struct csv_field cell, char out[CELL_SHOWN]);

#endif
