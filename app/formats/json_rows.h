/*
 * Tables as JSON: a list of objects, [{"age": 33, "city": "Rome"}, ...], as pandas writes with
 * orient="records", or an object per line. Each object is a row, its values are cells. Such a
 * file is read as the CSV file of the same table: a column per key, in the order in which keys
 * first appear; what a row lacks, or is null, is empty.
 */
#ifndef RETAIN_FORMATS_JSON_ROWS_H
#define RETAIN_FORMATS_JSON_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "formats/mapped.h"

/*
 * Whether bytes begin like such a table, by their first object: it must be flat. Lines of a live
 * stream, which have an "input", are none.
 */
bool json_rows_begin(const char *bytes, size_t size);

/*
 * mapped_open, and a table in JSON becomes CSV in memory: *json, and its first line names the
 * columns, whatever they look like. Errors name the row and its key.
 */
int json_rows_open(struct mapped *mapped, bool *json, const char *path, struct err *err);

#endif
