/*
 * Images in tar archives: WebDataset shards, or packed class folders. Archives are opened for
 * each image that is read, since there may be more of them than a process may have open. Gzipped
 * ones are unpacked into memory at open.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/paths.h"
#include "base/words/decimal.h"
#include "formats/mapped.h"
#include "formats/tar.h"
#include "records/image_records.h"
#include "base/words/name_list.h"
#include "records/records_types.h"
#include "records/tar_scan.h"

/* The index has the layout of image_records.h, with entries as tar_scan.h finds them. */
enum { VERSION = 3, KEEP_FROM = 64 << 20 };

enum { SHARDS_MOST = 1 << 20, RANGE_DIGITS = 12 };

struct tar {
	struct image_records images;
	struct name_list shards;
	struct mapped *unpacked; /* NULL: none is; else one for each, or zeroed */
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
	image_records_release(&tar->images);
	name_list_release(&tar->shards);
}

/* Folders get their classes' numbers; all goes into one array, for mem_free. */
static int pack_index(struct tar_scan *scan, unsigned char **bytes, size_t *size, struct err *err)
{
	const size_t named = scan->labelled ? 0 : scan->folders.names.count;
	struct image_header header = {.count = scan->count,
		.classes = (uint32_t)(scan->labelled ? (size_t)scan->largest + 1 : named),
		.class_names_size = named ? scan->folders.names.size : 0,
		.timed = scan->timed > 0,
		.parted = scan->parted};
	const size_t fixed = sizeof(header) + scan->count * (header.timed ? 24 : 16);
	uint32_t *ranks = NULL;
	int code = named ? vocabulary_sort(&scan->folders, &ranks, err) : 0;

	if (code)
		return code;
	for (size_t i = 0; ranks && i < scan->count; i++)
		if (scan->entries[i].label != RECORD_NO_LABEL)
			scan->entries[i].label =
				ranks[scan->entries[i].label] & ((1 << TAR_LABEL_BITS) - 1);
	mem_free(ranks);
	*size = fixed + 4 * named + header.class_names_size + 1;
	*bytes = mem_new(*size, 1);
	if (!*bytes)
		return err_memory(err, "an index of archives", *size);
	memcpy(*bytes, &header, sizeof(header));
	memcpy(*bytes + sizeof(header), scan->entries, scan->count * sizeof(*scan->entries));
	if (header.timed)
		memcpy(*bytes + sizeof(header) + 16 * scan->count, scan->times, 8 * scan->count);
	for (size_t i = 0; i < named; i++)
		memcpy(*bytes + fixed + 4 * i, &(uint32_t){(uint32_t)scan->folders.names.starts[i]},
			4);
	if (named)
		memcpy(*bytes + fixed + 4 * named, scan->folders.names.bytes,
			scan->folders.names.size);
	return 0;
}

/* The state that the archives are in, and how many bytes they have together. */
static uint64_t mark_of(const struct name_list *shards, uint64_t *bytes)
{
	uint64_t mark = mark_number(MARK_NOTHING, (int64_t)shards->count);

	*bytes = 0;
	for (size_t i = 0; i < shards->count; i++) {
		const char *name = name_list_at(shards, i);
		struct stat facts = {0};

		if (!stat(name, &facts))
			*bytes += (uint64_t)facts.st_size;
		mark = mark_words(mark, path_name(name));
		mark = mark_number(mark, facts.st_size);
		mark = mark_number(mark, os_changed(&facts) / 1000000000);
		mark = mark_number(mark, os_changed(&facts) % 1000000000);
	}
	return mark;
}

/* `path` is where the index belongs. */
static int open_index(struct tar *tar, const char *path, bool lenient, struct err *err)
{
	uint64_t bytes_total;
	const struct index_id id = {path, "tar", VERSION, mark_of(&tar->shards, &bytes_total)};
	struct image_records *images = &tar->images;
	struct tar_scan scan;
	unsigned char *bytes = NULL;
	bool keep;
	size_t size = 0;
	int code;

	if (index_file_find(&images->file, &id) &&
		image_records_unpack(images, sizeof(struct image_header), sizeof(struct tar_entry)))
		return 0;
	index_file_release(&images->file);
	code = tar_scan(&scan, &tar->shards, tar->unpacked, lenient, err);
	if (code)
		return code;
	code = pack_index(&scan, &bytes, &size, err);
	/* An index with bad records or files left out is not kept: it would hide them. */
	keep = bytes_total >= KEEP_FROM && !tar->unpacked && !scan.bad && !scan.left_out.count;
	name_list_release(&images->left_out);
	images->left_out = scan.left_out;
	scan.left_out = (struct name_list){0};
	tar_scan_release(&scan);
	if (code)
		return code;
	index_file_make(&images->file, &id, bytes, size, keep);
	if (image_records_unpack(images, sizeof(struct image_header), sizeof(struct tar_entry)))
		return 0;
	return err_set(err, ERR_STATE, "%s: its index contradicts itself", path);
}

static int tar_open(
	struct records *records, const char *path, const struct options *options, struct err *err)
{
	struct tar *tar = (struct tar *)records;
	char *place = path_trimmed(path);
	int code = place ? 0 : err_memory(err, "a path", strlen(path));

	if (!code && path_is_folder(path))
		code = add_folder(&tar->shards, path, err);
	else if (!code)
		code = path_exists(path) ? name_list_add(&tar->shards, path, strlen(path), err)
					 : add_pattern(&tar->shards, path, err);
	if (!code)
		code = unpack(tar, err);
	if (!code)
		code = open_index(tar, path_exists(place) ? place : name_list_at(&tar->shards, 0),
			records_lenient(options), err);
	mem_free(place);
	return code;
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

static const struct tar_entry *entry_at(const struct records *records, int64_t i)
{
	return (const struct tar_entry *)((const struct image_records *)records)->entries + i;
}

static struct record tar_look(const struct records *records, int64_t i)
{
	return image_record(records, i, entry_at(records, i)->label, entry_at(records, i)->part);
}

static int tar_read(struct records *records, int64_t i, struct record_bytes *bytes, struct err *err)
{
	const struct tar *tar = (const struct tar *)records;
	const struct tar_entry *entry = entry_at(records, i);
	const uint64_t at = (uint64_t)entry->block * TAR_BLOCK;

	if (entry->shard >= tar->shards.count || entry->size > RECORD_IMAGE_MOST)
		return err_set(err, ERR_FORMAT, "%s: the index of its archives is damaged",
			name_list_at(&tar->shards, 0));
	if (tar->unpacked && tar->unpacked[entry->shard].path)
		return mapped_record(tar->unpacked + entry->shard, at, entry->size, bytes, err);
	return mapped_read_part(
		name_list_at(&tar->shards, entry->shard), at, entry->size, bytes, err);
}

static void tar_where(const struct records *records, int64_t i, char *out, size_t size)
{
	const struct tar *tar = (const struct tar *)records;
	const struct tar_entry *entry = entry_at(records, i);

	snprintf(out, size, "%s, the %s at byte %llu",
		name_list_at(&tar->shards, entry->shard < tar->shards.count ? entry->shard : 0),
		entry->lost ? "member that is not a file" : "image",
		(unsigned long long)entry->block * TAR_BLOCK);
}

const struct records_type records_tar = {
	.name = "tar",
	.help = "images in tar archives: WebDataset shards (name-{000..127}.tar), or folders of "
		"classes",
	.guess = tar_guess,
	.size = sizeof(struct tar),
	.open = tar_open,
	.close = tar_close,
	.look = tar_look,
	.read = tar_read,
	.where = tar_where,
	.class_name = image_records_class_name,
	.left_out = image_records_left_out,
};
