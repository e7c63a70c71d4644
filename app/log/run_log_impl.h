/* Shared by the files that read a run folder. */
#ifndef RETAIN_LOG_RUN_LOG_IMPL_H
#define RETAIN_LOG_RUN_LOG_IMPL_H

#include "log/run_log.h"

/*
 * Reads a log like file_read, but only some lines of a long one (run_log_read.c). All `rare`
 * lines are kept; NULL: none are rare.
 */
int run_log_read(const char *path, bool (*rare)(const char *line), char **bytes, size_t *size,
	struct err *err);

#endif
