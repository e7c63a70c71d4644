/*
 * A member is a header block followed by its bytes, padded to whole blocks; links, folders and
 * devices have none, whatever size their header has. Headers of type L, K (GNU) and x (pax) hold
 * name and link of the next member in their bytes. The archive ends with a block of zeros, or at
 * the end of the file.
 */
#include "formats/tar.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/words/decimal.h"

/* Fields of a header: where they are and how long. */
enum { NAME = 0, NAME_SIZE = 100, SIZE = 124, SIZE_SIZE = 12, SUM = 148, SUM_SIZE = 8 };
enum { TYPE = 156, LINK = 157, LINK_SIZE = 100, MAGIC = 257, PREFIX = 345, PREFIX_SIZE = 155 };

/* What an extended header says of the member that follows. */
struct extension {
	char name[TAR_NAME], link[TAR_NAME];
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

static bool is_key(const char *key, size_t size, const char *word)
{
	return size == strlen(word) && !memcmp(key, word, size);
}

/* Records "LENGTH KEY=VALUE\n", of which path, linkpath and size are wanted. */
static bool read_pax(struct extension *extension, const char *bytes, size_t size)
{
	while (size) {
		const char *blank = memchr(bytes, ' ', size), *key, *equals;
		int64_t length, number;
		size_t left, name;

		if (!blank || !decimal_whole(bytes, (size_t)(blank - bytes), &length) ||
			length <= blank - bytes + 1 || (uint64_t)length > size)
			return false;
		key = blank + 1;
		left = (size_t)(bytes + length - key);
		equals = memchr(key, '=', left);
		if (!equals || bytes[length - 1] != '\n')
			return false;
		left = (size_t)(bytes + length - 1 - (equals + 1));
		name = (size_t)(equals - key);
		if ((is_key(key, name, "path") &&
			    !copy_text(extension->name, TAR_NAME, equals + 1, left)) ||
			(is_key(key, name, "linkpath") &&
				!copy_text(extension->link, TAR_NAME, equals + 1, left)))
			return false;
		if (is_key(key, name, "size")) {
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

/* What a header's type is; TAR_NONE: it is passed over. */
static enum tar_type type_of(char type)
{
	switch (type) {
	case '0':
	case '7':
	case '\0':
		return TAR_FILE;
	case '1':
		return TAR_HARD_LINK;
	case '2':
		return TAR_SYMBOLIC_LINK;
	case '5': /* a folder */
	case 'D': /* what a folder holds */
	case 'V': /* the archive's name */
	case 'g': /* of all members that follow */
	case 'x':
	case 'K':
	case 'L':
		return TAR_NONE;
	default:
		return TAR_OTHER;
	}
}

/* What a header of type x, K or L says of the next member; false, with cursor->why, if nothing. */
static bool read_extension(struct tar_cursor *cursor, struct extension *extension, char type,
	const unsigned char *content, size_t length)
{
	if (type == 'x')
		cursor->why = "its extended header makes no sense";
	if (type == 'x')
		return read_pax(extension, (const char *)content, length);
	cursor->why = "its name is too long";
	return copy_text(
		type == 'K' ? extension->link : extension->name, TAR_NAME, content, length);
}

static bool read_member(struct tar_cursor *cursor, const unsigned char *header,
	const struct extension *extension, size_t length, struct tar_member *member)
{
	cursor->why = "it has no name";
	if (!read_name(member->name, header, extension))
		return false;
	if (*extension->link)
		memcpy(member->link, extension->link, TAR_NAME);
	else
		copy_text(member->link, TAR_NAME, header + LINK, LINK_SIZE);
	member->type = type_of((char)header[TYPE]);
	member->at = cursor->at + TAR_BLOCK;
	member->size = length;
	return true;
}

int tar_next(struct tar_cursor *cursor, const unsigned char *bytes, size_t size,
	struct tar_member *member)
{
	struct extension extension = {0};

	while (size - cursor->at >= TAR_BLOCK) {
		const unsigned char *header = bytes + cursor->at, *content = header + TAR_BLOCK;
		const size_t left = size - cursor->at - TAR_BLOCK;
		const char type = (char)header[TYPE];
		const bool extends = type == 'x' || type == 'K' || type == 'L';
		const bool empty = type >= '1' && type <= '6';
		const enum tar_type kind = type_of(type);
		uint64_t length = 0, whole;

		if (all_zero(header))
			return 0;
		if (!sum_fits(header))
			return bad(cursor, "its header's checksum is wrong");
		if (!empty && !read_number(header + SIZE, SIZE_SIZE, &length))
			return bad(cursor, "its size is not a number");
		if (!empty && !extends && extension.sized)
			length = extension.size;
		whole = (length + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
		if (length > left)
			return bad(cursor, "the archive ends before it does");
		if (extends && !read_extension(cursor, &extension, type, content, (size_t)length))
			return -1;
		if (kind != TAR_NONE &&
			!read_member(cursor, header, &extension, (size_t)length, member))
			return -1;
		cursor->at = whole > left ? size : cursor->at + TAR_BLOCK + (size_t)whole;
		if (kind != TAR_NONE)
			return 1;
		if (!extends && type != 'g')
			extension = (struct extension){0};
	}
	if (size > cursor->at)
		return bad(cursor, "the archive ends within a header");
	return 0;
}

bool tar_head(unsigned char block[TAR_BLOCK], const char *name, uint64_t size)
{
	enum { MODE = 100, OWNER = 108, GROUP = 116, TIME = 136 };
	char *at = (char *)block;
	unsigned int sum = 0;

	if (strlen(name) >= NAME_SIZE || size >> 33)
		return false;
	memset(block, 0, TAR_BLOCK);
	snprintf(at, NAME_SIZE, "%s", name);
	snprintf(at + MODE, 8, "%07o", 0644);
	snprintf(at + OWNER, 8, "%07o", 0);
	snprintf(at + GROUP, 8, "%07o", 0);
	snprintf(at + SIZE, SIZE_SIZE, "%011" PRIo64, size);
	snprintf(at + TIME, 12, "%011o", 0);
	memset(at + SUM, ' ', SUM_SIZE);
	at[TYPE] = '0';
	memcpy(at + MAGIC, "ustar", 6);
	memcpy(at + MAGIC + 6, "00", 2);
	for (int i = 0; i < TAR_BLOCK; i++)
		sum += block[i];
	snprintf(at + SUM, SUM_SIZE - 1, "%06o", sum);
	return true;
}
