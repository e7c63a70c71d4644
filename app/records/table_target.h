/*
 * Whether a table's labels are classes or numbers (model.target), and which number each label
 * stands for. With auto:
 *
 * - labels that are not all numbers are classes, and so are those of at most TABLE_FEW values;
 * - those with a fraction are numbers;
 * - whole ones are numbers if they have many values with gaps between them, or so many that change
 *   little from row to row. Numbers of classes count up without gaps.
 */
#ifndef RETAIN_RECORDS_TABLE_TARGET_H
#define RETAIN_RECORDS_TABLE_TARGET_H

#include "base/err.h"
#include "base/options.h"
#include "records/table_plan.h"
#include "records/table_scan.h"

enum { TABLE_FEW = 20 };

/*
 * *numbers is a number per class, for mem_free; NULL: labels are classes. ERR_INPUT, naming a row, if numbers are asked for and
 * some label is not one.
 */
int table_target(float **numbers, const struct table_scan *scan, const struct table_plan *plan,
	const char *path, const struct options *options, struct err *err);

#endif
