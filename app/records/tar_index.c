/*
 * An index is one array of bytes: a header, entries[count], times[count] where there
 * are times, classes[classes] where their names are, the names with their NULs.
 */
#include "records/tar_index.h"

#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/paths.h"
#include "formats/tar.h"
#include "records/records_types.h"
#include "records/tar_scan.h"

enum { VERSION = 2, KEEP_FROM = 64 << 20 };

struct tar_index_header {
	uint64_t count, class_names_size;
	uint32_t classes, timed, parted, unused;
};

/* Folders get their classes' numbers; all goes into one array, for mem_free. */
static int pack(struct tar_scan *scan, unsigned char **bytes, size_t *size, struct err *err)
{
	const size_t named = scan->labelled ? 0 : scan->folders.names.count;
	struct tar_index_header header = {.count = scan->count,
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

/* Finds the parts of an index; false if they do not add up. */
static bool unpack(struct tar_index *index)
{
	const struct tar_index_header *h = (const void *)index->file.bytes;
	size_t left = index->file.size, each;

	if (left < sizeof(*h) + 1 || index->file.bytes[left - 1])
		return false;
	left -= sizeof(*h) + 1;
	each = h->timed ? 24 : 16;
	if (!h->count || h->count > left / each)
		return false;
	left -= h->count * each;
	index->header = h;
	index->entries = (const void *)(h + 1);
	index->times = h->timed ? (const void *)(index->entries + h->count) : NULL;
	index->classes = NULL;
	if (!h->class_names_size)
		return left == 0;
	index->classes = (const void *)((const unsigned char *)(h + 1) + h->count * each);
	index->class_names = (const char *)(index->classes + h->classes);
	return h->classes <= left / 4 && left - 4 * (size_t)h->classes == h->class_names_size;
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
		mark = mark_number(mark, facts.st_mtim.tv_sec);
		mark = mark_number(mark, facts.st_mtim.tv_nsec);
	}
	return mark;
}

int tar_index_open(struct tar_index *index, const char *path, const struct name_list *shards,
	const struct mapped *unpacked, bool lenient, struct err *err)
{
	uint64_t bytes_total;
	const struct index_id id = {path, "tar", VERSION, mark_of(shards, &bytes_total)};
	struct tar_scan scan;
	unsigned char *bytes = NULL;
	bool bad;
	size_t size = 0;
	int code;

	*index = (struct tar_index){0};
	if (index_file_find(&index->file, &id) && unpack(index))
		return 0;
	index_file_release(&index->file);
	code = tar_scan(&scan, shards, unpacked, lenient, err);
	if (code)
		return code;
	code = pack(&scan, &bytes, &size, err);
	bad = scan.bad > 0;
	tar_scan_release(&scan);
	if (code)
		return code;
	/* An index with bad records is not kept: it would hide them from a run that refuses them. */
	index_file_make(
		&index->file, &id, bytes, size, bytes_total >= KEEP_FROM && !unpacked && !bad);
	if (!unpack(index)) {
		index_file_release(&index->file);
		return err_set(err, ERR_STATE, "%s: its index contradicts itself", path);
	}
	return 0;
}

void tar_index_close(struct tar_index *index)
{
	index_file_release(&index->file);
}

void tar_index_info(const struct tar_index *index, struct records_info *info)
{
	*info = (struct records_info){
		.form = RECORDS_IMAGE,
		.count = (int64_t)index->header->count,
		.classes = (int)index->header->classes,
		.timed = index->header->timed,
		.parted = index->header->parted,
	};
}

struct record tar_index_look(const struct tar_index *index, int64_t i)
{
	const struct tar_entry *entry = index->entries + i;

	return (struct record){
		.label = entry->label < index->header->classes ? (int32_t)entry->label : -1,
		.part = entry->part <= RECORDS_PREPARE ? (enum records_part)entry->part
						       : RECORDS_STREAM,
		.time = index->times ? index->times[i] : 0,
	};
}

const char *tar_index_class(const struct tar_index *index, int label)
{
	if (!index->classes || label < 0 || (uint32_t)label >= index->header->classes ||
		index->classes[label] >= index->header->class_names_size)
		return NULL;
	return index->class_names + index->classes[label];
}

size_t tar_index_place(const struct tar_index *index, int64_t i, uint64_t *at, size_t *size)
{
	const struct tar_entry *entry = index->entries + i;

	*at = (uint64_t)entry->block * TAR_BLOCK;
	*size = entry->size;
	return entry->shard;
}

bool tar_index_lost(const struct tar_index *index, int64_t i)
{
	return index->entries[i].lost;
}
