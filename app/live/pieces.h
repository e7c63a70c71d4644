/* The values of a JSON list as they stand there, found by brackets and quotes alone. */
#ifndef RETAIN_LIVE_PIECES_H
#define RETAIN_LIVE_PIECES_H

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

/* The next value; false after the last, or where it is no list. */
bool pieces_next(struct pieces *pieces, struct piece *piece);

/* How many there are; -1 if brackets or quotes do not fit. The values may be anything. */
int pieces_count(const char *bytes, size_t size);

/* Makes each value of a list a line, in place; line ends within them become blanks. -1: no list. */
int pieces_to_lines(char *bytes, size_t *size);

#endif
