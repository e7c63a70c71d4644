/* Lines before a table, as `# made by us, 2024` is, of which it shows below what they are. */
#ifndef RETAIN_LIVE_LEAD_H
#define RETAIN_LIVE_LEAD_H

#include "live/feed.h"

/* LEAD_OPEN: more lines have to be there to tell. */
enum lead { LEAD_NONE, LEAD_LINE, LEAD_OPEN };

/*
 * What the last line of a feed is, while no line has said what lines are. `longest`: bytes that
 * can be there at once. Two lines below a line are enough to tell; where a sender may wait for an
 * answer to the first of them, `below` is 1.
 */
enum lead lead_of(const struct feed *feed, const struct feed_line *line, size_t longest, int below);

/* How many bytes are there from a line on, which is the last of a feed: those of whole lines. */
size_t lead_there(const struct feed *feed, const struct feed_line *line);

#endif
