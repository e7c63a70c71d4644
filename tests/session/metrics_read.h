/* metrics.csv from its path. */
#ifndef RETAIN_TESTS_RUN_METRICS_READ_H
#define RETAIN_TESTS_RUN_METRICS_READ_H

#include "base/file.h"
#include "base/mem.h"
#include "session/log/metrics_file.h"

static inline int metrics_read(
	const char *path, struct metrics_row **rows, size_t *count, struct err *err)
{
	char *bytes = NULL;
	size_t size;
	int code = file_read(path, (size_t)1 << 24, &bytes, &size, err);

	*rows = NULL;
	*count = 0;
	if (!code)
		code = metrics_file_parse(path, bytes, size, rows, count, err);
	mem_free(bytes);
	return code;
}

#endif
