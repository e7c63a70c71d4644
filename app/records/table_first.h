/*
 * The first lines of a table: where it begins, and whether its first line is a header. For
 * table_plan.c, whose plan has the separator, and for callers that get one line after the other.
 */
#ifndef RETAIN_RECORDS_TABLE_FIRST_H
#define RETAIN_RECORDS_TABLE_FIRST_H

#include "records/table_plan.h"

/* Rejects UTF-16 text, recognised by its zero bytes. */
int table_first_check(const char *path, const struct table_lines *lines, struct err *err);

/*
 * Whether the line that begins a nonempty text stands before a table. A line that begins with #
 * is classified by the two lines below it.
 */
bool table_first_leads(const char *bytes, size_t size, struct csv_field *fields);

/* Skips lines before the first that belongs to the table, and counts them in the plan. */
void table_first_find(struct table_plan *plan, struct table_lines *lines, struct csv_field *fields);

/* Whether the first line, with these fields, is a header: judged by what is below it, or alone. */
bool table_first_heads(const struct table_plan *plan, const struct csv_field *fields,
	const char *below, size_t size);
bool table_first_heads_alone(const struct table_plan *plan, const struct csv_field *fields);

/*
 * Whether a file is a table, by its beginning: a few lines with the same number of columns, and
 * neither sections nor name = value, as in a config.
 */
bool table_first_likely(const char *bytes, size_t size);

#endif
