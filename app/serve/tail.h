/* New whole lines of a file that grows. */
#ifndef RETAIN_SERVE_TAIL_H
#define RETAIN_SERVE_TAIL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * From the byte *at on; up to `room` - 1 bytes and a NUL; *at moves behind what was read. A line
 * that is longer than that is left out. A file that became shorter is read from its end.
 */
size_t tail_read(const char *path, int64_t *at, char *out, size_t room);
int64_t tail_end(const char *path); /* 0 if there is no file */

/* A place between lines. */
struct tail_place {
	int64_t at, lines; /* bytes and lines before it */
};

/* Behind the line of this number, or behind the last one there is. */
struct tail_place tail_behind(const char *path, int64_t lines);

#endif
