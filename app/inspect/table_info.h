/*
 * What a table holds, column by column, and what looks wrong about it. One pass over the
 * rows; different values are counted up to TABLE_INFO_VALUES.
 */
#ifndef RETAIN_INSPECT_TABLE_INFO_H
#define RETAIN_INSPECT_TABLE_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/options.h"

enum { TABLE_INFO_VALUES = 10000, TABLE_INFO_NAME = 64, TABLE_INFO_SHOWN = 6 };

/* A value and how many rows have it. */
struct table_info_value {
	char name[TABLE_INFO_NAME];
	int64_t count;
};

struct table_info_column {
	char name[TABLE_INFO_NAME];
	const char *kind; /* number, category, text, open, label, time, ignored */
	int inputs;
	int64_t missing, numbers, words;
	double least, most, mean; /* of the numbers */
	int64_t different;        /* values; at most TABLE_INFO_VALUES */
	bool more;                /* ... and there are more */
	struct table_info_value
		shown[TABLE_INFO_SHOWN]; /* the most frequent, of words and labels */
	int shown_count;
};

struct table_info {
	int64_t rows;
	bool headed;
	int count;
	struct table_info_column *columns;
	char (*wrong)[300]; /* sentences */
	int wrong_count;
};

/* Of the table that stream.source names. */
int table_info(struct table_info *info, const struct options *options, struct err *err);
void table_info_release(struct table_info *info);

#endif
