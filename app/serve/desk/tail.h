/* Reads new complete lines of a growing file. */
#ifndef RETAIN_SERVE_TAIL_H
#define RETAIN_SERVE_TAIL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Reads from byte *at on; up to `room` - 1 bytes and a NUL; advances *at. A line longer than that
 * is skipped. A file that became shorter is read from its end.
 */
size_t tail_read(const char *path, int64_t *at, char *out, size_t room);
int64_t tail_end(const char *path); /* 0 if there is no file */

/* A position between lines. */
struct tail_place {
	int64_t at, lines; /* bytes and lines before it */
};

/* The position after this many lines, or after the last one. */
struct tail_place tail_behind(const char *path, int64_t lines);

#endif
