/*
 * One pass over a table: where rows begin, labels, times, and what is known of each
 * column of numbers before a row.
 *
 * Statistics are those of all rows before a block that the row is in: blocks begin
 * with rows 0, 1, 2, 4, 8, ..., 512, 1024, 2048, 3072, ... So no row is
 * standardized by itself or by what comes after it, and any row can be made again
 * with the same bits.
 */
#ifndef RETAIN_RECORDS_TABLE_SCAN_H
#define RETAIN_RECORDS_TABLE_SCAN_H

#include <stdint.h>

#include "base/err.h"
#include "records/columns.h"
#include "base/grow.h"
#include "formats/mapped.h"
#include "records/name_list.h"
#include "records/table_plan.h"

enum { TABLE_ROW = 1 << 20, TABLE_BLOCK = 1024, TABLE_AT_BITS = 40 };

/* What is known of a column of numbers before a block. */
struct table_known {
	float mean, scale; /* scale: 1 / standard deviation, 0: nothing is known */
};

struct table_scan {
	struct numbers rows;  /* the lower TABLE_AT_BITS: where a row begins, above: its label */
	struct numbers times; /* none, or one for each row */
	struct table_known *known; /* for each block and column */
	size_t known_count, known_room;
	int classes;
	struct name_list class_names; /* none for numbers */
};

/*
 * Reads all rows; what columns are may change on the way. Rows that make no sense
 * are errors, or where `lenient` have no label (RECORD_NO_LABEL).
 */
int table_scan(struct table_scan *scan, struct table_plan *plan, const struct mapped *file,
	bool lenient, struct err *err);
void table_scan_release(struct table_scan *scan);

/* The block of row i, and its statistics: one for each column of the table. */
int64_t table_block(int64_t i);
const struct table_known *table_known(
	const struct table_scan *scan, const struct table_plan *plan, int64_t i);

#endif
