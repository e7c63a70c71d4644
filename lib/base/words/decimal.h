/*
 * The syntax of numbers in all text data (tables, manifests, lists, lines of a live stream): an
 * optional sign, decimal digits with at most one point among or around them, and an optional
 * exponent (e or E, an optional sign, digits). Anything else is rejected: 0x1p3, 1_000, 1,000,
 * nan, inf, infinity, blanks. Applies to whole texts of `size` bytes, independent of the locale.
 */
#ifndef RETAIN_BASE_WORDS_DECIMAL_H
#define RETAIN_BASE_WORDS_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An integer that fits: digits with an optional sign. */
bool decimal_whole(const char *text, size_t size, int64_t *number);

/*
 * Any number, rounded to the nearest double; one that is too large, like 1e999, becomes infinite.
 */
bool decimal_number(const char *text, size_t size, double *number);

#endif
