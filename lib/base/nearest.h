/* What someone probably meant to type. */
#ifndef RETAIN_BASE_NEAREST_H
#define RETAIN_BASE_NEAREST_H

#include <stddef.h>

/*
 * The name nearest to what was typed, or NULL if none is near enough to be worth
 * suggesting. The names stand in the rows of a table: the first at *name, the
 * next `stride` bytes further, and so on up to a NULL. What is returned is the
 * table's own text. Two or more first letters of a name count as very near to it.
 */
const char *nearest_name(const char *typed, const char *const *name, size_t stride);

#endif
