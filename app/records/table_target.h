/*
 * Whether a table's labels are classes or numbers (model.target), and which number each label
 * stands for. With auto:
 *
 * - labels that are not all numbers are classes, unless all words stand for missing values;
 * - those of more than two values, some with a fraction, are numbers;
 * - whole ones are classes if they have at most TABLE_FEW values, only rise as ids do, or some begin
 *   with 0 as codes do. They are numbers if they have many values with gaps between them, or so many
 *   that change little from row to row. Numbers of classes count up without gaps.
 */
#ifndef RETAIN_RECORDS_TABLE_TARGET_H
#define RETAIN_RECORDS_TABLE_TARGET_H

#include "base/err.h"
#include "base/options.h"
#include "records/table_plan.h"
#include "records/table_scan.h"

enum { TABLE_FEW = 20 };

/*
 * *numbers is a number per class, for mem_free; NULL: labels are classes. Rows without a number have
 * no label then, where bad ones are left out (stream.on_bad); else ERR_INPUT, naming the first. The
 * plan is told what 32 bits would lose.
 */
int table_target(float **numbers, struct table_scan *scan, struct table_plan *plan,
	const char *path, const struct options *options, struct err *err);

#endif
