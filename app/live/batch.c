/* Splitting and parsing lines. A piece of a list is a line of its own. */
#include "live/batch.h"

#include <limits.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "formats/pieces.h"
#include "live/live_line.h"

/* Bytes of a value and of a table, as the parser keeps them. */
enum { VALUE = 64, TABLE = 256 };

static size_t count_of(const char *bytes, size_t size, char c)
{
	const char *at = bytes, *end = bytes + size;
	size_t count = 0;

	for (; at < end && (at = memchr(at, c, (size_t)(end - at))); at++)
		count++;
	return count;
}

size_t batch_size(const char *bytes, size_t size, enum batch_of what)
{
	const int pieces = what == BATCH_LIST ? pieces_count(bytes, size) : 1;
	const size_t lines = what == BATCH_LINES ? count_of(bytes, size, '\n') + 1
						 : (size_t)(pieces > 1 ? pieces : 1);

	return lines * sizeof(struct feed_line);
}

size_t batch_values_size(const char *bytes, size_t size)
{
	return (count_of(bytes, size, ',') + count_of(bytes, size, ':')) * VALUE +
	       (count_of(bytes, size, '{') + count_of(bytes, size, '[')) * TABLE;
}

static void add(struct batch *batch, const char *bytes, size_t size)
{
	batch->lines[batch->count] =
		(struct feed_line){.number = batch->count + 1, .bytes = bytes, .size = size};
	batch->count++;
}

static void add_lines(struct batch *batch, const char *at, const char *end)
{
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		add(batch, at, (size_t)((newline ? newline : end) - at));
		at = newline ? newline + 1 : end;
	}
}

static void add_pieces(struct batch *batch, const char *bytes, size_t size)
{
	struct pieces pieces = {bytes, size, 0};
	struct piece piece;

	while (pieces_next(&pieces, &piece))
		add(batch, piece.bytes, piece.size);
}

int batch_open(
	struct batch *batch, const char *bytes, size_t size, enum batch_of what, struct err *err)
{
	const int pieces = what == BATCH_LIST ? pieces_count(bytes, size) : 0;
	const size_t room = batch_size(bytes, size, what);

	*batch = (struct batch){0};
	if (pieces < 0)
		return err_set(err, ERR_FORMAT, "the list is not JSON");
	batch->lines = room < INT_MAX ? mem_new(room, 1) : NULL;
	if (!batch->lines)
		return err_memory(err, "lines", room);
	if (what == BATCH_LINES)
		add_lines(batch, bytes, bytes + size);
	else if (what == BATCH_ONE)
		add(batch, bytes, size);
	else if (pieces)
		add_pieces(batch, bytes, size);
	return 0;
}

void batch_parse(struct batch *batch, int count)
{
	for (int i = 0; i < count; i++) {
		struct feed_line *line = &batch->lines[i];

		if (!line->json && live_line_is_json(line->bytes, line->size))
			jvalue_read(&line->json, line->bytes, line->size, "", NULL);
	}
}

void batch_release(struct batch *batch)
{
	for (int i = 0; i < batch->count; i++)
		jvalue_free(batch->lines[i].json);
	mem_free(batch->lines);
	*batch = (struct batch){0};
}
