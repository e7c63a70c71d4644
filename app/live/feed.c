/*
 * Invariant: bytes from `start` to `end` of the buffer are still to be returned; those before
 * `searched` have no newline. While `skipping`, they are the rest of a line that was too long.
 */
#include "live/feed.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

enum { ROOM_LEAST = 1 << 20 };

struct feed {
	int descriptor;
	char *buffer;
	size_t room, longest, start, searched, end;
	int64_t number;
	bool ended, skipping;
	bool held;   /* the buffer still begins with the first line */
	size_t last; /* where the last line began */
};

int feed_open(struct feed **feed, int descriptor, size_t longest, struct err *err)
{
	const size_t room = longest + 1 > ROOM_LEAST ? longest + 1 : ROOM_LEAST;
	struct feed *made = mem_new(1, sizeof(*made));

	*feed = NULL;
	if (made)
		made->buffer = mem_new(room, 1);
	if (!made || !made->buffer) {
		mem_free(made);
		return err_memory(err, "a stream's buffer", room);
	}
	made->descriptor = descriptor;
	made->room = room;
	made->longest = longest;
	*feed = made;
	return 0;
}

void feed_close(struct feed *feed)
{
	if (!feed)
		return;
	mem_free(feed->buffer);
	mem_free(feed);
}

bool feed_ended(const struct feed *feed)
{
	return feed->ended;
}

/* What is left goes to the front; of a line that cannot fit any more nothing is left. */
static void make_room(struct feed *feed)
{
	if (feed->held && feed->end < feed->room)
		return;
	feed->held = false;
	if (feed->start) {
		memmove(feed->buffer, feed->buffer + feed->start, feed->end - feed->start);
		feed->end -= feed->start;
		feed->searched -= feed->start;
		feed->start = 0;
	}
	if (feed->searched == feed->end && feed->end > feed->longest) {
		feed->skipping = true;
		feed->end = feed->searched = 0;
	}
}

/* Whether there is something to read, the end included. */
static bool readable(const struct feed *feed, int milliseconds)
{
	struct pollfd wait = {.fd = feed->descriptor, .events = POLLIN};

	return poll(&wait, 1, milliseconds) > 0;
}

int feed_fill(struct feed *feed, double seconds, struct err *err)
{
	int wait = (int)(seconds * 1000);

	make_room(feed);
	for (; !feed->ended && feed->end < feed->room && readable(feed, wait); wait = 0) {
		const ssize_t got =
			read(feed->descriptor, feed->buffer + feed->end, feed->room - feed->end);

		if (got < 0 && errno != EINTR && errno != EAGAIN)
			return err_set(
				err, ERR_FILE, "the stream cannot be read: %s", strerror(errno));
		if (got < 0)
			return 0;
		feed->ended = got == 0;
		feed->end += (size_t)got;
	}
	return 0;
}

static void give(struct feed *feed, struct feed_line *line, size_t size)
{
	const bool cut = feed->skipping || size > feed->longest;

	*line = (struct feed_line){.number = ++feed->number,
		.bytes = cut ? NULL : feed->buffer + feed->start,
		.size = cut ? 0 : size,
		.cut = cut};
	feed->skipping = false;
	feed->last = feed->start;
}

bool feed_next(struct feed *feed, struct feed_line *line)
{
	const char *newline =
		memchr(feed->buffer + feed->searched, '\n', feed->end - feed->searched);

	if (newline) {
		give(feed, line, (size_t)(newline - feed->buffer) - feed->start);
		feed->start = feed->searched = (size_t)(newline - feed->buffer) + 1;
		return true;
	}
	feed->searched = feed->end;
	if (!feed->ended || (feed->start == feed->end && !feed->skipping))
		return false;
	give(feed, line, feed->end - feed->start);
	feed->start = feed->end;
	return true;
}

const char *feed_left(const struct feed *feed, size_t *size)
{
	*size = feed->end - feed->start;
	return feed->buffer + feed->start;
}

bool feed_waits(const struct feed *feed)
{
	return memchr(feed->buffer + feed->searched, '\n', feed->end - feed->searched) != NULL;
}

void feed_back(struct feed *feed)
{
	feed->start = feed->searched = feed->last;
	feed->number--;
}

void feed_hold(struct feed *feed)
{
	feed->held = !feed->number;
}

bool feed_rewind(struct feed *feed)
{
	if (!feed->held)
		return false;
	feed->start = feed->searched = 0;
	feed->number = 0;
	return true;
}
