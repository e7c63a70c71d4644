/* Counts over a table, for table_info.c, which counts, and table_judge.c. */
#ifndef RETAIN_INSPECT_TABLE_INFO_IMPL_H
#define RETAIN_INSPECT_TABLE_INFO_IMPL_H

#include "formats/mapped.h"
#include "inspect/table_info.h"
#include "records/table_plan.h"
#include "records/table_scan.h"

/* Counts of a column. */
struct seen {
	struct vocabulary values;
	int64_t *counts; /* of each value */
	size_t room;
	int32_t *class; /* of each value: that of its first row */
	int64_t *agree; /* its rows with that class */
	size_t class_room, agree_room;
	int64_t commas, dates, blanks; /* of words: decimal commas, dates, blanks within */
	int64_t wholes, growing;
	double last;
	char odd[CELL_SHOWN]; /* the first word */
};

struct survey {
	struct table_info *info;
	struct table_plan plan;
	struct table_scan scan;
	struct mapped file;
	struct seen *seen;
	bool brief;      /* only for what looks wrong */
	bool cut;        /* there are more rows */
	bool number;     /* the label is learned as a number */
	bool as_it_lies; /* rows are learned in file order, or by their times */
	size_t wrong_room;
};

/* Reports what looks wrong. */
void table_judge(struct survey *s);

#endif
