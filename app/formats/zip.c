/*
 * An archive ends with a record that says where its directory is; the directory has
 * an entry for each member. Where a number is too large for its field the field is all
 * ones, and the number stands in a record of ZIP64. Whatever is read is bounded by the
 * archive's size first.
 */
#include "formats/zip.h"

#include <stdint.h>
#include <string.h>

enum {
	LOCAL_SIZE = 30,
	ENTRY_SIZE = 46,
	END_SIZE = 22,
	LOCATOR_SIZE = 20,
	END64_SIZE = 56,
	COMMENT_MOST = 65535,
	EXTRA64 = 1,
};

static const unsigned char local_mark[4] = "PK\3\4", entry_mark[4] = "PK\1\2",
			   end_mark[4] = "PK\5\6", locator_mark[4] = "PK\6\7",
			   end64_mark[4] = "PK\6\6";

struct archive {
	const unsigned char *bytes;
	size_t size;
	size_t directory, directory_size;
};

static uint64_t number(const unsigned char *bytes, int size)
{
	uint64_t value = 0;

	while (size--)
		value = value << 8 | bytes[size];
	return value;
}

/* Whether `need` bytes at `at` are in the archive and begin with a mark. */
static bool is_at(const struct archive *a, uint64_t at, size_t need, const unsigned char mark[4])
{
	return at <= a->size && need <= a->size - at && !memcmp(a->bytes + at, mark, 4);
}

static int damaged(const char *what, struct err *err)
{
	return err_set(err, ERR_FORMAT, "is a ZIP archive, but %s", what);
}

bool zip_begins(const unsigned char *bytes, size_t size)
{
	return is_at(&(struct archive){bytes, size, 0, 0}, 0, 4, local_mark);
}

static int find_directory(struct archive *a, struct err *err)
{
	const size_t last = a->size < END_SIZE ? 0 : a->size - END_SIZE;
	const size_t least = last > COMMENT_MOST ? last - COMMENT_MOST : 0;
	uint64_t at, from, size;

	for (at = last; at > least && !is_at(a, at, END_SIZE, end_mark); at--)
		;
	if (!is_at(a, at, END_SIZE, end_mark))
		return damaged("its end is missing", err);
	size = number(a->bytes + at + 12, 4);
	from = number(a->bytes + at + 16, 4);
	if (at >= LOCATOR_SIZE && is_at(a, at - LOCATOR_SIZE, LOCATOR_SIZE, locator_mark)) {
		at = number(a->bytes + at - LOCATOR_SIZE + 8, 8);
		if (!is_at(a, at, END64_SIZE, end64_mark))
			return damaged("its directory is not where its end says", err);
		size = number(a->bytes + at + 40, 8);
		from = number(a->bytes + at + 48, 8);
	}
	if (from > a->size || size > a->size - from)
		return damaged("its directory is not where its end says", err);
	a->directory = (size_t)from;
	a->directory_size = (size_t)size;
	return 0;
}

/* Replaces fields that are all ones by the numbers of ZIP64's extra field. */
static bool read_extra(const unsigned char *extra, size_t size, uint64_t *fields[3])
{
	while (size >= 4) {
		const uint64_t id = number(extra, 2), length = number(extra + 2, 2);
		const unsigned char *at = extra + 4;
		size_t left = (size_t)length;

		if (length > size - 4)
			return false;
		for (int i = 0; i < 3 && id == EXTRA64; i++) {
			if (*fields[i] != UINT32_MAX)
				continue;
			if (left < 8)
				return false;
			*fields[i] = number(at, 8);
			at += 8;
			left -= 8;
		}
		extra += 4 + length;
		size -= 4 + (size_t)length;
	}
	return true;
}

/* The member that an entry of the directory describes. */
static int read_entry(const struct archive *a, const unsigned char *entry,
	struct zip_member *member, struct err *err)
{
	uint64_t unpacked = number(entry + 24, 4), packed = number(entry + 20, 4);
	uint64_t local = number(entry + 42, 4), at;
	uint64_t *const fields[3] = {&unpacked, &packed, &local};
	const size_t name = (size_t)number(entry + 28, 2);

	if (!read_extra(
		    entry + ENTRY_SIZE + name, (size_t)number(entry + 30, 2), (uint64_t **)fields))
		return damaged("its directory is damaged", err);
	if (number(entry + 10, 2) || number(entry + 8, 2) & 1 || packed != unpacked)
		return damaged("what it holds is compressed or encrypted", err);
	if (!is_at(a, local, LOCAL_SIZE, local_mark))
		return damaged("its members are not where its directory says", err);
	at = local + LOCAL_SIZE + number(a->bytes + local + 26, 2) +
	     number(a->bytes + local + 28, 2);
	if (at > a->size || packed > a->size - at)
		return damaged("its members are not where its directory says", err);
	member->at = (size_t)at;
	member->size = (size_t)packed;
	return 0;
}

int zip_find(struct zip_member *member, const unsigned char *bytes, size_t size, const char *name,
	struct err *err)
{
	struct archive a = {.bytes = bytes, .size = size};
	const size_t wanted = strlen(name);
	size_t at, end;
	int code = find_directory(&a, err);

	if (code)
		return code;
	end = a.directory + a.directory_size;
	for (at = a.directory; end - at >= ENTRY_SIZE;) {
		const unsigned char *entry = bytes + at, *slash;
		const size_t length = (size_t)number(entry + 28, 2);
		const size_t whole = ENTRY_SIZE + length + (size_t)number(entry + 30, 2) +
				     (size_t)number(entry + 32, 2);

		if (memcmp(entry, entry_mark, 4) || whole > end - at)
			return damaged("its directory is damaged", err);
		slash = memchr(entry + ENTRY_SIZE, '/', length);
		if (slash && (size_t)(entry + ENTRY_SIZE + length - slash) == wanted + 1 &&
			!memcmp(slash + 1, name, wanted))
			return read_entry(&a, entry, member, err);
		at += whole;
	}
	return 1;
}
