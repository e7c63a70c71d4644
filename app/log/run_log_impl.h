/* What the files that read a run folder share. */
#ifndef RETAIN_LOG_RUN_LOG_IMPL_H
#define RETAIN_LOG_RUN_LOG_IMPL_H

#include "log/run_log.h"

/*
 * A log's bytes as file_read gives them, of a long one only some lines (run_log_read.c). Lines
 * that are `rare` are all there; NULL: none are.
 */
int run_log_read(const char *path, bool (*rare)(const char *line), char **bytes, size_t *size,
	struct err *err);

#endif
