/*
 * Lines of live streams over a socket, many connections at a time, each answered on its
 * own. A connection is read again when what it sent is answered and taken, so one that is
 * too fast, or does not read, waits and costs a buffer.
 */
#ifndef RETAIN_SERVE_LINES_H
#define RETAIN_SERVE_LINES_H

#include "base/err.h"
#include "serve/budget.h"
#include "serve/desk.h"

struct lines;

/* `listening` is taken over; lines of up to `longest` bytes. Buffers draw on the budget. */
int lines_open(struct lines **lines, struct desk *desk, struct budget *budget, int listening,
	int connections, size_t longest, struct err *err);
/* Nothing new is read; what was read is answered. To be called while the desk works. */
void lines_end(struct lines *lines);
/* The desk's thread may still be telling that a job is done, so this is for when it has ended. */
void lines_close(struct lines *lines);

#endif
