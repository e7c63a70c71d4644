/*
 * The first lines of a table: where it begins, and whether its first line is a header. For
 * table_plan.c, which has the separator of columns in its plan, and for who has one line after
 * the other.
 */
#ifndef RETAIN_RECORDS_TABLE_FIRST_H
#define RETAIN_RECORDS_TABLE_FIRST_H

#include "records/table_plan.h"

/* Refuses texts with a zero byte for every letter, as other systems write them. */
int table_first_check(const char *path, const struct table_lines *lines, struct err *err);

/*
 * Whether the line that begins a text, of a byte at least, stands before a table. What begins with
 * # shows what it is by the two lines below it.
 */
bool table_first_leads(const char *bytes, size_t size, struct csv_field *fields);

/* Passes over lines before the first that belongs to the table, and counts them in the plan. */
void table_first_find(struct table_plan *plan, struct table_lines *lines, struct csv_field *fields);

/* Whether the first line, whose fields are given, is a header: by what is below it, or by itself. */
bool table_first_heads(const struct table_plan *plan, const struct csv_field *fields,
	const char *below, size_t size);
bool table_first_heads_alone(const struct table_plan *plan, const struct csv_field *fields);

/*
 * Whether a file is a table, by its beginning: a few lines of as many columns each, and neither
 * sections nor name = value, as a config has them.
 */
bool table_first_likely(const char *bytes, size_t size);

#endif
