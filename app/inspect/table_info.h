/*
 * Describes a table column by column, and what looks wrong about it. One pass over the rows;
 * distinct values are counted up to TABLE_INFO_VALUES.
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
	bool number;      /* a label that is learned as a number */
	int inputs;
	int64_t missing, numbers, words;
	double least, most, mean; /* of the numbers */
	int64_t different;        /* values; at most TABLE_INFO_VALUES */
	bool more;                /* ... and there are more */
	struct table_info_value
		shown[TABLE_INFO_SHOWN]; /* the most frequent, of words and labels */
	int shown_count;
};

/* A suspected problem. */
struct table_info_wrong {
	bool costs; /* it probably costs accuracy; else it is worth a look */
	bool noted; /* also reported when the table is opened */
	char words[400];
};

struct table_info {
	int64_t rows;
	bool headed;
	int count;
	struct table_info_column *columns;
	struct table_info_wrong *wrong; /* those that cost come first */
	int wrong_count;
};

/* Whether stream.source names a table. */
bool table_info_is(const struct options *options);

/* Describes the table that stream.source names; `brief`: only its first megabyte. */
int table_info(struct table_info *info, const struct options *options, bool brief, struct err *err);
void table_info_release(struct table_info *info);

#endif
