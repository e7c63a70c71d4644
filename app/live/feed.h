/*
 * Reads lines from a descriptor, through a buffer of fixed size. Nothing is read while lines are
 * left, so a producer that is too fast blocks on its pipe; nothing grows here.
 */
#ifndef RETAIN_LIVE_FEED_H
#define RETAIN_LIVE_FEED_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct feed;
struct jvalue;

/* Lines of up to `longest` bytes. The caller keeps ownership of the descriptor. */
int feed_open(struct feed **feed, int descriptor, size_t longest, struct err *err);
void feed_close(struct feed *feed);

/*
 * Reads what is available without waiting, as far as there is room; if nothing is, waits up to
 * this many seconds, or until a signal.
 */
int feed_fill(struct feed *feed, double seconds, struct err *err);

/* End of input: only the buffered lines are left. */
bool feed_ended(const struct feed *feed);

struct feed_line {
	int64_t number;    /* the first is 1 */
	const char *bytes; /* without the newline; valid until the next fill */
	size_t size;
	bool cut;            /* it was too long; its bytes are dropped */
	int object;          /* index in a line that is a list, from 1; 0: the whole line */
	struct jvalue *json; /* its value, if it was parsed already (live/batch.h); NULL: no */
};

/* The next complete line, the last one with or without a newline; false if there is none yet. */
bool feed_next(struct feed *feed, struct feed_line *line);

/* The buffer's content after the last line: complete lines, and perhaps the beginning of one. */
const char *feed_left(const struct feed *feed, size_t *size);

/* Whether another complete line is in the buffer. */
bool feed_waits(const struct feed *feed);

/* Returns the last line, if it was not cut, once more. Call before the next fill. */
void feed_back(struct feed *feed);

/*
 * feed_hold keeps lines that are read from the beginning on, as long as there is room; then
 * feed_rewind returns all of them once more. It returns false if they are gone.
 */
void feed_hold(struct feed *feed);
bool feed_rewind(struct feed *feed);

#endif
