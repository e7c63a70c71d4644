/* Whether two run folders hold identical results, byte for byte. */
#ifndef RETAIN_LOG_SAME_H
#define RETAIN_LOG_SAME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Compares model.safetensors, events.jsonl, matrix.csv, predictions.csv if there is one, and
 * metrics.csv without its last column, `seconds`. If they differ, reason says where.
 */
bool same_run(const char *a, const char *b, char *reason, size_t size);

#endif
