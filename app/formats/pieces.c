/* Matches brackets and quotes. */
#include "formats/pieces.h"

#include <string.h>

static const char BLANK[] = " \t\r\n";

static size_t skip(const char *bytes, size_t size, size_t at, const char *what)
{
	while (at < size && bytes[at] && strchr(what, bytes[at]))
		at++;
	return at;
}

/* The end of the value at `at`: a comma or bracket of the list itself; `size` if there is none. */
static size_t end_of(const char *bytes, size_t size, size_t at)
{
	int depth = 0;
	bool quoted = false;

	for (; at < size; at++) {
		const char c = bytes[at];

		if (quoted) {
			at += c == '\\';
			quoted = c != '"';
		} else if (c == '"') {
			quoted = true;
		} else if (c == '[' || c == '{') {
			depth++;
		} else if (!depth && (c == ',' || c == ']')) {
			return at;
		} else if (c == ']' || c == '}') {
			depth--;
			if (depth < 0)
				return size;
		}
	}
	return size;
}

bool pieces_next(struct pieces *pieces, struct piece *piece)
{
	const size_t before = pieces->at ? pieces->at : skip(pieces->bytes, pieces->size, 0, BLANK);
	const size_t start = before + 1;
	size_t end;

	if (start > pieces->size || (pieces->at && pieces->bytes[pieces->at] == ']'))
		return false;
	end = end_of(pieces->bytes, pieces->size, start);
	if (end == pieces->size)
		return false;
	*piece = (struct piece){pieces->bytes + start, end - start};
	pieces->at = end;
	return true;
}

static bool is_blank(struct piece piece)
{
	return skip(piece.bytes, piece.size, 0, BLANK) == piece.size;
}

int pieces_count(const char *bytes, size_t size)
{
	struct pieces pieces = {bytes, size, 0};
	const size_t begin = skip(bytes, size, 0, BLANK);
	struct piece piece;
	int count = 0, blank = 0;

	if (begin == size || bytes[begin] != '[')
		return -1;
	while (pieces_next(&pieces, &piece)) {
		count++;
		blank += is_blank(piece);
	}
	if (!pieces.at || bytes[pieces.at] != ']' ||
		skip(bytes, size, pieces.at + 1, BLANK) != size)
		return -1;
	if (blank)
		return count == 1 ? 0 : -1;
	return count;
}

int pieces_to_lines(char *bytes, size_t *size)
{
	struct pieces pieces = {bytes, *size, 0};
	struct piece piece;
	size_t written = 0;

	if (pieces_count(bytes, *size) < 0)
		return -1;
	while (pieces_next(&pieces, &piece)) {
		for (size_t i = 0; i < piece.size; i++) {
			const char c = piece.bytes[i];

			bytes[written++] = c;
			if (c == '\n' || c == '\r')
				bytes[written - 1] = ' ';
		}
		/* The list's bracket or comma before the value has room for a line end after it. */
		bytes[written++] = '\n';
	}
	*size = written;
	return 0;
}
