/* What someone probably meant to type. */
#ifndef RETAIN_BASE_NEAREST_H
#define RETAIN_BASE_NEAREST_H

#include <stddef.h>

/*
 * The name nearest to what was typed, or NULL if none is near enough to be worth
 * suggesting. The names stand in the rows of a table: the first at *name, the
 * next `stride` bytes further, and so on up to a NULL. What is returned is the
 * table's own text. A beginning of a name, of two letters or more, is very near.
 */
const char *nearest_name(const char *typed, const char *const *name, size_t stride);

#endif
