/* Most rows have no quotes: their fields are looked through eight bytes at a time. */
#include "formats/csv.h"

#include <stdint.h>
#include <string.h>

#define EACH_BYTE UINT64_C(0x0101010101010101)

/* Has a bit set in the lowest byte of `word` that is `byte`, and none below it. */
static uint64_t find_byte(uint64_t word, char byte)
{
	const uint64_t zero = word ^ EACH_BYTE * (unsigned char)byte;

	return (zero - EACH_BYTE) & ~zero & EACH_BYTE << 7;
}

/* Where a field without quotes ends. */
static const char *plain_end(const char *at, const char *end, char separator)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	for (; end - at >= 8; at += 8) {
		uint64_t word, found;

		memcpy(&word, at, sizeof(word));
		found = find_byte(word, separator) | find_byte(word, '\n');
		if (found)
			return at + __builtin_ctzll(found) / 8;
	}
#endif
	while (at < end && *at != separator && *at != '\n')
		at++;
	return at;
}

/* The end of a quoted field, one behind its last quote; NULL: it has none. */
static const char *quoted_end(const char *at, const char *end, struct csv_field *field)
{
	field->at = at;
	for (; (at = memchr(at, '"', (size_t)(end - at))); at += 2) {
		if (at + 1 == end || at[1] != '"') {
			field->size = (size_t)(at - field->at);
			return at + 1;
		}
		field->doubled = true;
	}
	return NULL;
}

int csv_row(const char *bytes, size_t size, char separator, struct csv_field *fields, int most,
	size_t *used)
{
	const char *at = bytes, *const end = bytes + size;
	struct csv_field beyond;
	int n = 0;

	for (;;) {
		/* In its place at once: to copy a struct that was just written takes as long as all else. */
		struct csv_field *field = n < most ? fields + n : &beyond;

		field->at = at;
		field->doubled = false;
		if (at < end && *at == '"') {
			at = quoted_end(at + 1, end, field);
			if (!at)
				return CSV_OPEN;
			if (at + 1 < end && *at == '\r' && at[1] == '\n')
				at++;
			if (at < end && *at != separator && *at != '\n')
				return CSV_AFTER;
		} else {
			size_t length;

			at = plain_end(at, end, separator);
			length = (size_t)(at - field->at);
			if ((at == end || *at == '\n') && length && at[-1] == '\r')
				length--;
			field->size = length;
		}
		n++;
		if (at == end || *at == '\n')
			break;
		at++;
	}
	*used = (size_t)(at - bytes) + (at < end);
	return n;
}

const char *csv_reason(int code)
{
	return code == CSV_OPEN ? "a quote is never closed"
				: "something stands between a closing quote and the next column";
}

bool csv_text(const struct csv_field *field, char *out, size_t room)
{
	size_t size = 0;

	for (size_t i = 0; i < field->size; i++) {
		if (size + 1 >= room)
			return false;
		out[size++] = field->at[i];
		i += field->doubled && field->at[i] == '"';
	}
	if (size >= room)
		return false;
	out[size] = '\0';
	return true;
}

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Whether all commas of a line are decimal: between digits, one for each column. */
static bool decimal_commas(const char *line, size_t length, char separator)
{
	bool before = false;

	for (size_t i = 0; i < length; i++) {
		if (line[i] == separator)
			before = false;
		if (line[i] != ',')
			continue;
		if (before || !i || !digit(line[i - 1]) || i + 1 == length || !digit(line[i + 1]))
			return false;
		before = true;
	}
	return true;
}

char csv_separator(const char *bytes, size_t size)
{
	static const char candidates[] = "\t;|";
	const char *line = memchr(bytes, '\n', size);
	const size_t length = line ? (size_t)(line - bytes) : size;

	for (const char *c = candidates; *c; c++)
		if (memchr(bytes, *c, length) && decimal_commas(bytes, length, *c))
			return *c;
	return ',';
}

size_t csv_mark(const char *bytes, size_t size)
{
	return size >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3) ? 3 : 0;
}
