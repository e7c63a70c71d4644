#include "live/lead.h"

#include <string.h>

#include "records/table_first.h"

/* Whether a text begins with this many complete lines. */
static bool has_lines(const char *bytes, size_t size, int count)
{
	const char *end;

	for (; count && (end = memchr(bytes, '\n', size)); count--) {
		size -= (size_t)(end - bytes) + 1;
		bytes = end + 1;
	}
	return !count;
}

size_t lead_there(const struct feed *feed, const struct feed_line *line)
{
	size_t left;
	const char *below = feed_left(feed, &left);

	while (!feed_ended(feed) && left && below[left - 1] != '\n')
		left--;
	return (size_t)(below - line->bytes) + left;
}

enum lead lead_of(const struct feed *feed, const struct feed_line *line, size_t longest, int below)
{
	const size_t mark = line->number == 1 ? csv_mark(line->bytes, line->size) : 0;
	const char *text = line->bytes + mark;
	struct csv_field fields[TABLE_COLUMNS];
	const size_t there = lead_there(feed, line) - mark;
	size_t left;
	const char *bytes = feed_left(feed, &left);
	/* Nothing more can come while the line stays in the buffer. */
	const bool all = feed_ended(feed) || (size_t)(bytes - line->bytes) + left >= longest;

	if (line->size > mark && *text == '#' && !all && !has_lines(bytes, left, below))
		return LEAD_OPEN;
	return there && table_first_leads(text, there, fields) ? LEAD_LINE : LEAD_NONE;
}
