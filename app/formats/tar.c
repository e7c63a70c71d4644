/*
 * A member is a block with a header and then its bytes, filled up to whole blocks.
 * Headers of type L (GNU) and x (pax) hold the name of the one that follows, as
 * their bytes. The end is a block of zeros, or that of the file.
 */
#include "formats/tar.h"

#include <stdbool.h>
#include <string.h>

#include "formats/decimal.h"

/* Fields of a header: where they are and how long. */
enum { NAME = 0, NAME_SIZE = 100, SIZE = 124, SIZE_SIZE = 12, SUM = 148, SUM_SIZE = 8 };
enum { TYPE = 156, MAGIC = 257, PREFIX = 345, PREFIX_SIZE = 155 };

/* What an extended header says of the member that follows. */
struct extension {
	char name[TAR_NAME];
	bool sized;
	uint64_t size;
};

/* Octal digits between blanks and NULs, or GNU's 256 based numbers; false for others. */
static bool read_number(const unsigned char *field, size_t length, uint64_t *number)
{
	size_t i = 0;

	*number = 0;
	if (field[0] & 0x80) {
		for (i = 1; i < length; i++) {
			if (*number >> 55)
				return false;
			*number = *number << 8 | field[i];
		}
		return field[0] == 0x80;
	}
	while (i < length && field[i] == ' ')
		i++;
	for (; i < length && field[i] >= '0' && field[i] <= '7'; i++)
		*number = *number << 3 | (uint64_t)(field[i] - '0');
	for (; i < length; i++)
		if (field[i] != ' ' && field[i] != '\0')
			return false;
	return true;
}

static bool sum_fits(const unsigned char *header)
{
	uint64_t expected, sum = 0;

	if (!read_number(header + SUM, SUM_SIZE, &expected))
		return false;
	for (int i = 0; i < TAR_BLOCK; i++)
		sum += i >= SUM && i < SUM + SUM_SIZE ? ' ' : header[i];
	return sum == expected;
}

static bool all_zero(const unsigned char *block)
{
	for (int i = 0; i < TAR_BLOCK; i++)
		if (block[i])
			return false;
	return true;
}

/* Copies a text that ends with a NUL or the field; false if it does not fit. */
static bool copy_text(char *out, size_t room, const void *field, size_t length)
{
	const char *nul = memchr(field, '\0', length);

	length = nul ? (size_t)(nul - (const char *)field) : length;
	if (length >= room)
		return false;
	memcpy(out, field, length);
	out[length] = '\0';
	return true;
}

/* Records "LENGTH KEY=VALUE\n", of which path and size are wanted. */
static bool read_pax(struct extension *extension, const char *bytes, size_t size)
{
	while (size) {
		const char *blank = memchr(bytes, ' ', size), *key, *equals;
		int64_t length, number;
		size_t left;

		if (!blank || !decimal_whole(bytes, (size_t)(blank - bytes), &length) ||
			length <= blank - bytes + 1 || (uint64_t)length > size)
			return false;
		key = blank + 1;
		left = (size_t)(bytes + length - key);
		equals = memchr(key, '=', left);
		if (!equals || bytes[length - 1] != '\n')
			return false;
		left = (size_t)(bytes + length - 1 - (equals + 1));
		if (equals - key == 4 && !memcmp(key, "path", 4) &&
			!copy_text(extension->name, TAR_NAME, equals + 1, left))
			return false;
		if (equals - key == 4 && !memcmp(key, "size", 4)) {
			if (!decimal_whole(equals + 1, left, &number) || number < 0)
				return false;
			extension->sized = true;
			extension->size = (uint64_t)number;
		}
		bytes += length;
		size -= (size_t)length;
	}
	return true;
}

static bool read_name(char *name, const unsigned char *header, const struct extension *extension)
{
	char prefix[PREFIX_SIZE + 1] = "", last[NAME_SIZE + 1];
	size_t size;

	if (*extension->name) {
		memcpy(name, extension->name, TAR_NAME);
	} else {
		/* GNU's own format has other things where ustar has a prefix. */
		if (!memcmp(header + MAGIC, "ustar\0", 6))
			copy_text(prefix, sizeof(prefix), header + PREFIX, PREFIX_SIZE);
		copy_text(last, sizeof(last), header + NAME, NAME_SIZE);
		size = strlen(prefix);
		memcpy(name, prefix, size);
		if (size)
			name[size++] = '/';
		memcpy(name + size, last, strlen(last) + 1);
	}
	while (name[0] == '.' && name[1] == '/')
		memmove(name, name + 2, strlen(name + 2) + 1);
	return *name;
}

static int bad(struct tar_cursor *cursor, const char *why)
{
	cursor->why = why;
	return -1;
}

int tar_next(struct tar_cursor *cursor, const unsigned char *bytes, size_t size,
	struct tar_member *member)
{
	struct extension extension = {0};

	while (size - cursor->at >= TAR_BLOCK) {
		const unsigned char *header = bytes + cursor->at, *content = header + TAR_BLOCK;
		const size_t left = size - cursor->at - TAR_BLOCK;
		const char type = (char)header[TYPE];
		uint64_t length, whole;

		if (all_zero(header))
			return 0;
		if (!sum_fits(header))
			return bad(cursor, "its header's checksum is wrong");
		if (!read_number(header + SIZE, SIZE_SIZE, &length))
			return bad(cursor, "its size is no number");
		if (type != 'L' && type != 'x' && extension.sized)
			length = extension.size;
		whole = (length + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
		if (length > left)
			return bad(cursor, "the archive ends before it does");
		if (type == 'x' && !read_pax(&extension, (const char *)content, (size_t)length))
			return bad(cursor, "its extended header makes no sense");
		if (type == 'L' && !copy_text(extension.name, TAR_NAME, content, (size_t)length))
			return bad(cursor, "its name is too long");
		if (type == '0' || type == '\0') {
			if (!read_name(member->name, header, &extension))
				return bad(cursor, "it has no name");
			member->at = cursor->at + TAR_BLOCK;
			member->size = (size_t)length;
		}
		cursor->at = whole > left ? size : cursor->at + TAR_BLOCK + (size_t)whole;
		if (type == '0' || type == '\0')
			return 1;
		if (type != 'x' && type != 'L' && type != 'g' && type != 'K')
			extension = (struct extension){0};
	}
	if (size > cursor->at)
		return bad(cursor, "the archive ends within a header");
	return 0;
}
