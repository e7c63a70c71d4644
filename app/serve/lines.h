/*
 * Live streams of lines over a socket, with many connections, each answered separately. A
 * connection is read again only when what it sent was answered and the answer taken, so one that
 * is too fast, or does not read, blocks and costs one buffer.
 */
#ifndef RETAIN_SERVE_LINES_H
#define RETAIN_SERVE_LINES_H

#include "base/err.h"
#include "serve/budget.h"
#include "serve/desk/desk.h"

struct lines;

/* `listening` is taken over; lines of up to `longest` bytes. Buffers are charged to the budget. */
int lines_open(struct lines **lines, struct desk *desk, struct budget *budget, int listening,
	int connections, size_t longest, struct err *err);
/* Stops reading; what was read is answered. Call while the desk works. */
void lines_end(struct lines *lines);
/* Call after the desk's thread has ended, since it may still report finished jobs. */
void lines_close(struct lines *lines);

#endif
