/* "Did you mean": finds the nearest name to a mistyped one. */
#ifndef RETAIN_BASE_WORDS_NEAREST_H
#define RETAIN_BASE_WORDS_NEAREST_H

#include <stddef.h>

/*
 * The name nearest to what was typed, or NULL if none is near enough to suggest. The names are in
 * the rows of a table: the first at *name, the next `stride` bytes further, and so on up to a
 * NULL. Returns the table's own string. A prefix of two or more letters counts as very near.
 */
const char *nearest_name(const char *typed, const char *const *name, size_t stride);

#endif
