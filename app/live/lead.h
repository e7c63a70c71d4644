/* Lines before a table, such as `# made by us, 2024`, recognised by the lines below them. */
#ifndef RETAIN_LIVE_LEAD_H
#define RETAIN_LIVE_LEAD_H

#include "live/feed.h"

/* LEAD_OPEN: more lines are needed to decide. */
enum lead { LEAD_NONE, LEAD_LINE, LEAD_OPEN };

/*
 * Classifies the last line of a feed, while the format is unknown. `longest`: the most bytes that
 * can be buffered. Two lines below are enough to decide; `below` is 1 if a sender may be waiting
 * for an answer to the first of them.
 */
enum lead lead_of(const struct feed *feed, const struct feed_line *line, size_t longest, int below);

/* The number of buffered bytes from a line on, the last of a feed: those of complete lines. */
size_t lead_there(const struct feed *feed, const struct feed_line *line);

#endif
