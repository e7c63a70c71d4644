/*
 * One pass over a table: offsets of rows, labels, times, roles of columns, and the categories in
 * the order of first appearance.
 */
#ifndef RETAIN_RECORDS_TABLE_SCAN_H
#define RETAIN_RECORDS_TABLE_SCAN_H

#include <stdint.h>

#include "base/err.h"
#include "records/columns.h"
#include "base/grow.h"
#include "formats/mapped.h"
#include "base/words/name_list.h"
#include "records/table_plan.h"

enum { TABLE_ROW = 1 << 20, TABLE_AT_BITS = 40 };
#define TABLE_AT_MASK ((UINT64_C(1) << TABLE_AT_BITS) - 1)

/* Zeroed: none. */
struct table_values {
	float *at;
	size_t room;
};

struct table_scan {
	struct numbers rows;        /* the lower TABLE_AT_BITS: offset of a row, above: its label */
	struct numbers times;       /* none, or one per row */
	struct table_values values; /* of several labels: plan->targets numbers a row */
	int classes;
	struct name_list class_names; /* none for numbers */
	/* Lines that are not rows: the row after them, and their cumulative number. */
	struct numbers passed_at, passed_lines;
};

/*
 * Reads all rows; the roles of columns may change on the way. Blank lines and repeated headers
 * are skipped. Invalid rows are errors or, if `lenient`, have no label (RECORD_NO_LABEL).
 */
int table_scan(struct table_scan *scan, struct table_plan *plan, const struct mapped *file,
	bool lenient, struct err *err);

/* The number of a row in its file, from 1, assuming that no row contains line ends. */
uint64_t table_scan_row(const struct table_scan *scan, const struct table_plan *plan, size_t row);
void table_scan_release(struct table_scan *scan);

#endif
