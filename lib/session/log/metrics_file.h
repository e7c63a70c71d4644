/*
 * metrics.csv: one row per evaluation, one column per number (eval/metrics.h).
 *
 * Numbers are written as the shortest decimals that read back exactly, so a repeated run writes
 * the same bytes, except for `seconds`. Values that were not measured are empty cells, NAN in
 * memory.
 *
 * A row is written at once, by one system call. For an exact resume a checkpoint records
 * metrics_file_rows. Opening with that number drops the rows after it; the last of them may be
 * half written.
 */
#ifndef RETAIN_SESSION_LOG_METRICS_FILE_H
#define RETAIN_SESSION_LOG_METRICS_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "eval/metrics.h"

struct metrics_file;

/*
 * Opens path for appending and keeps its first keep_rows rows. With 0 the file is created or
 * truncated. Otherwise it must begin with the header and that many valid rows.
 */
int metrics_file_open(
	struct metrics_file **file, const char *path, int64_t keep_rows, struct err *err);
void metrics_file_close(struct metrics_file *file);

/* Appends a row. After a failure the file ends with the row before. No allocation. */
int metrics_file_append(struct metrics_file *file, const struct metrics_row *row, struct err *err);

int64_t metrics_file_rows(const struct metrics_file *file);

/* Flushes all rows to disk. Call it before a checkpoint that records them. */
int metrics_file_sync(struct metrics_file *file, struct err *err);

/*
 * Parses the bytes of a whole file in place. Columns are found by name, since another version may
 * have written the file: missing ones count as not measured, unknown ones are ignored. All else
 * is strict: as many cells as columns, numbers in all of them, a newline after the last row.
 * Errors name where:line. Free *rows with mem_free; it is NULL if there are none.
 */
int metrics_file_parse(const char *where, char *bytes, size_t size, struct metrics_row **rows,
	size_t *count, struct err *err);

#endif
