/*
 * Images in tar archives: WebDataset's shards, or folders of classes packed up.
 * Archives are opened for each image that is read, since there may be more of them
 * than a process may have open. Gzipped ones are unpacked into memory at open.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/mapped.h"
#include "formats/decimal.h"
#include "base/paths.h"
#include "records/name_list.h"
#include "records/records_types.h"
#include "records/tar_index.h"

enum { SHARDS_MOST = 1 << 20, RANGE_DIGITS = 12 };

struct tar {
	struct records base;
	struct name_list shards;
	struct mapped *unpacked; /* NULL: none is; else one for each, or zeroed */
	struct tar_index index;
};

static bool is_gzipped(const char *path)
{
	return path_ends(path, ".tar.gz") || path_ends(path, ".tgz");
}

static bool is_tar(const char *path)
{
	return path_ends(path, ".tar") || is_gzipped(path);
}

struct range {
	const char *open, *close; /* the braces */
	int64_t first, last;
	int width;
};

/* The first {FIRST..LAST} of a pattern; false if it has none that makes sense. */
static bool find_range(const char *pattern, struct range *range)
{
	const char *dots;

	range->open = strchr(pattern, '{');
	range->close = range->open ? strchr(range->open, '}') : NULL;
	dots = range->close ? strstr(range->open, "..") : NULL;
	if (!dots || dots > range->close || dots - range->open - 1 > RANGE_DIGITS)
		return false;
	range->width = (int)(dots - range->open - 1);
	return decimal_whole(range->open + 1, (size_t)range->width, &range->first) &&
	       decimal_whole(dots + 2, (size_t)(range->close - dots - 2), &range->last) &&
	       range->first >= 0 && range->first <= range->last &&
	       range->last - range->first < SHARDS_MOST;
}

/* NAME{000..127}.tar, and every further range for each of these. */
static int add_pattern(struct name_list *shards, const char *pattern, struct err *err)
{
	struct range range;
	const size_t room = strlen(pattern) + RANGE_DIGITS + 20;
	char *name;
	int code = 0;

	if (!strchr(pattern, '{'))
		return name_list_add(shards, pattern, strlen(pattern), err);
	if (!find_range(pattern, &range))
		return err_set(err, ERR_INPUT,
			"%s: braces hold a range of numbers, as in train-{000..127}.tar", pattern);
	name = mem_new(room, 1);
	if (!name)
		return err_memory(err, "a path", room);
	for (int64_t i = range.first; i <= range.last && !code; i++) {
		snprintf(name, room, "%.*s%0*lld%s", (int)(range.open - pattern), pattern,
			range.width, (long long)i, range.close + 1);
		code = shards->count < SHARDS_MOST
			       ? add_pattern(shards, name, err)
			       : err_set(err, ERR_INPUT, "%s: more than %d files", pattern,
					 SHARDS_MOST);
	}
	mem_free(name);
	return code;
}

static int add_folder(struct name_list *shards, const char *folder, struct err *err)
{
	struct name_list found = {0};
	int code = name_list_of_folder(&found, folder, err);

	for (size_t i = 0; i < found.count && !code; i++) {
		char *path = path_join(folder, name_list_at(&found, i));

		if (!path)
			code = err_memory(err, "a path", strlen(folder));
		else if (is_tar(path))
			code = name_list_add(shards, path, strlen(path), err);
		mem_free(path);
	}
	name_list_release(&found);
	if (!code && !shards->count)
		code = err_set(err, ERR_FILE, "%s: has no .tar files", folder);
	return code;
}

static int unpack(struct tar *tar, struct err *err)
{
	int code = 0;

	for (size_t i = 0; i < tar->shards.count && !code; i++) {
		const char *name = name_list_at(&tar->shards, i);

		if (!is_gzipped(name))
			continue;
		if (!tar->unpacked)
			tar->unpacked = mem_new(tar->shards.count, sizeof(*tar->unpacked));
		if (!tar->unpacked)
			return err_memory(err, name, tar->shards.count);
		code = mapped_open(tar->unpacked + i, name, MAPPED_UNPACK, err);
	}
	return code;
}

static void tar_close(struct records *records)
{
	struct tar *tar = (struct tar *)records;

	for (size_t i = 0; tar->unpacked && i < tar->shards.count; i++)
		mapped_close(tar->unpacked + i);
	mem_free(tar->unpacked);
	tar_index_close(&tar->index);
	name_list_release(&tar->shards);
	mem_free(tar);
}

static int open_all(struct tar *tar, const char *path, bool lenient, struct err *err)
{
	char *place = mem_text(path);
	int code = place ? 0 : err_memory(err, "a path", strlen(path));

	if (!code && path_is_folder(path))
		code = add_folder(&tar->shards, path, err);
	else if (!code)
		code = path_exists(path) ? name_list_add(&tar->shards, path, strlen(path), err)
					 : add_pattern(&tar->shards, path, err);
	if (!code)
		code = unpack(tar, err);
	for (size_t size = strlen(path); place && size > 1 && place[size - 1] == '/'; size--)
		place[size - 1] = '\0';
	if (!code)
		code = tar_index_open(&tar->index,
			path_exists(place) ? place : name_list_at(&tar->shards, 0), &tar->shards,
			tar->unpacked, lenient, err);
	mem_free(place);
	return code;
}

static int tar_open(
	struct records **records, const char *path, const struct options *options, struct err *err)
{
	struct tar *tar = mem_new(1, sizeof(*tar));
	int code;

	if (!tar)
		return err_memory(err, "archives", sizeof(*tar));
	code = open_all(tar, path, records_lenient(options), err);
	if (code) {
		tar_close(&tar->base);
		return code;
	}
	tar_index_info(&tar->index, &tar->base.info);
	*records = &tar->base;
	return 0;
}

static bool tar_guess(const char *path)
{
	struct name_list found = {0};
	bool yes = false;

	if (!path_is_folder(path))
		return is_tar(path) && (path_exists(path) || strchr(path, '{'));
	if (!name_list_of_folder(&found, path, NULL))
		for (size_t i = 0; i < found.count && !yes; i++)
			yes = is_tar(name_list_at(&found, i));
	name_list_release(&found);
	return yes;
}

static void tar_look(const struct records *records, int64_t first, int n, struct record *out)
{
	const struct tar *tar = (const struct tar *)records;

	for (int k = 0; k < n; k++)
		out[k] = tar_index_look(&tar->index, first + k);
}

static int tar_read(struct records *records, int64_t i, struct record_bytes *bytes, struct err *err)
{
	const struct tar *tar = (const struct tar *)records;
	uint64_t at;
	size_t size;
	const size_t shard = tar_index_place(&tar->index, i, &at, &size);

	if (shard >= tar->shards.count || size > RECORD_IMAGE_MOST)
		return err_set(err, ERR_FORMAT, "%s: the index of its archives is damaged",
			name_list_at(&tar->shards, 0));
	if (tar->unpacked && tar->unpacked[shard].path)
		return mapped_record(tar->unpacked + shard, at, size, bytes, err);
	return mapped_read_part(name_list_at(&tar->shards, shard), at, size, bytes, err);
}

static void tar_where(const struct records *records, int64_t i, char *out, size_t size)
{
	const struct tar *tar = (const struct tar *)records;
	uint64_t at;
	size_t length;
	const size_t shard = tar_index_place(&tar->index, i, &at, &length);

	snprintf(out, size, "%s, the %s at byte %llu",
		name_list_at(&tar->shards, shard < tar->shards.count ? shard : 0),
		tar_index_lost(&tar->index, i) ? "member that is no file" : "image",
		(unsigned long long)at);
}

static const char *tar_class_name(const struct records *records, int label)
{
	return tar_index_class(&((const struct tar *)records)->index, label);
}

const struct records_type records_tar = {
	.name = "tar",
	.help = "images in tar archives: WebDataset shards (name-{000..127}.tar), or folders of "
		"classes",
	.guess = tar_guess,
	.open = tar_open,
	.close = tar_close,
	.look = tar_look,
	.read = tar_read,
	.where = tar_where,
	.class_name = tar_class_name,
};
