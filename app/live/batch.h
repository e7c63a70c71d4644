/*
 * Lines of one sender, split and parsed by the thread that received them. JSON becomes values,
 * which mean nothing yet: what a label or a named value is, the learner says when it takes them in
 * their order (live/live.h). Lines that are not JSON stay bytes, which the caller keeps.
 */
#ifndef RETAIN_LIVE_BATCH_H
#define RETAIN_LIVE_BATCH_H

#include "base/err.h"
#include "live/feed.h"

struct batch {
	struct feed_line *lines;
	int count;
};

/* Bytes are split at their newlines, or are one line, or are the objects of a JSON list. */
enum batch_of { BATCH_LINES, BATCH_ONE, BATCH_LIST };

/* The bytes that its lines take, and an upper bound of those that their values do. */
size_t batch_size(const char *bytes, size_t size, enum batch_of what);
size_t batch_values_size(const char *bytes, size_t size);

int batch_open(
	struct batch *batch, const char *bytes, size_t size, enum batch_of what, struct err *err);
void batch_release(struct batch *batch);

/* Parses the first `count` lines; those that are not JSON are left as they are. */
void batch_parse(struct batch *batch, int count);

#endif
