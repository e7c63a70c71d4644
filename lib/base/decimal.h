/*
 * What a number is, in every text that data comes in (tables, manifests, lists, lines
 * of a live stream): an optional sign, decimal digits with at most one point among or
 * around them, and perhaps an exponent (e or E, an optional sign, digits). Nothing
 * else is one: no 0x1p3, no 1_000 or 1,000, no nan, inf or infinity, no blanks.
 * Whole texts, of `size` bytes; nothing depends on the locale.
 */
#ifndef RETAIN_BASE_DECIMAL_H
#define RETAIN_BASE_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Digits with an optional sign that fit: no point, no exponent. */
bool decimal_whole(const char *text, size_t size, int64_t *number);

/* Any number, to the nearest double; one like 1e999 that is too large becomes infinite. */
bool decimal_number(const char *text, size_t size, double *number);

#endif
