/* The raw values of a JSON list, found by brackets and quotes alone. */
#ifndef RETAIN_FORMATS_PIECES_H
#define RETAIN_FORMATS_PIECES_H

#include <stdbool.h>
#include <stddef.h>

struct piece {
	const char *bytes;
	size_t size;
};

struct pieces {
	const char *bytes;
	size_t size, at;
};

/* The next value; false after the last, or if it is not a list. */
bool pieces_next(struct pieces *pieces, struct piece *piece);

/* The number of values; -1 if brackets or quotes do not match. The values are not checked. */
int pieces_count(const char *bytes, size_t size);

/*
 * Turns each value of a list into a line, in place; line ends within them become blanks. -1: not
 * a list.
 */
int pieces_to_lines(char *bytes, size_t *size);

#endif
