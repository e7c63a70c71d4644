/*
 * Lines from a descriptor, through a buffer of fixed size. Nothing is read while
 * lines are left, so a producer that is too fast waits in its pipe; nothing
 * grows here.
 */
#ifndef RETAIN_LIVE_FEED_H
#define RETAIN_LIVE_FEED_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct feed;

/* Lines of up to `longest` bytes. The descriptor stays the caller's. */
int feed_open(struct feed **feed, int descriptor, size_t longest, struct err *err);
void feed_close(struct feed *feed);

/*
 * Reads what can be had without waiting, as far as there is room; if there is
 * nothing, waits for the first of it up to so many seconds, or until a signal.
 */
int feed_fill(struct feed *feed, double seconds, struct err *err);

/* There is nothing more to come but the lines in the buffer. */
bool feed_ended(const struct feed *feed);

struct feed_line {
	int64_t number;    /* the first is 1 */
	const char *bytes; /* without the newline; live until the next fill */
	size_t size;
	bool cut;   /* it was too long; there are no bytes of it */
	int object; /* the which-th of a line that is a list, from 1; 0: it is the line */
};

/* The next whole line, the last one with or without a newline; false if there is none yet. */
bool feed_next(struct feed *feed, struct feed_line *line);

/* What is in the buffer behind the last line: whole lines, and perhaps the beginning of one. */
const char *feed_left(const struct feed *feed, size_t *size);

/* Whether another whole line is in the buffer. */
bool feed_waits(const struct feed *feed);

/* The last line, if it was not cut, comes once more. To be called before the next fill. */
void feed_back(struct feed *feed);

#endif
