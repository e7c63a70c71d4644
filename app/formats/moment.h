/*
 * Times in text, as in tables. Whole texts, of `size` bytes; independent of locale and time zone.
 */
#ifndef RETAIN_FORMATS_MOMENT_H
#define RETAIN_FORMATS_MOMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Seconds with a fraction, as microseconds (truncated). */
bool moment_seconds(const char *text, size_t size, int64_t *microseconds);

/*
 * ISO 8601: 2024-02-29, with T12:30, T12:30:59 or T12:30:59.5 (or a blank for the T), with Z or
 * +01:00 (default UTC), as microseconds since 1970.
 */
bool moment_date(const char *text, size_t size, int64_t *microseconds);

#endif
