/*
 * An index is one array of bytes: a header, entries[count], times[count] where there
 * are times, classes[classes] where their names are, the names with their NULs.
 *
 * Whether archives have labels of their own or classes as folders shows only at
 * their end: until then an entry has whichever label it can have.
 */
#include "records/tar_index.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/paths.h"
#include "formats/csv.h"
#include "records/columns.h"
#include "base/grow.h"
#include "formats/decimal.h"
#include "formats/moment.h"
#include "records/records_types.h"
#include "formats/tar.h"
#include "records/vocabulary.h"

enum { VERSION = 1, LABEL_BITS = 24, SHARD_BITS = 24, JSON_MOST = 1 << 20 };
enum { KEEP_FROM = 64 << 20 };

struct tar_entry {
	uint32_t block, size; /* block: of its first byte, in the archive */
	uint64_t label : LABEL_BITS, shard : SHARD_BITS, part : 2, labelled : 1, unused : 13;
};

_Static_assert(sizeof(struct tar_entry) == 16, "what the header promises");

struct tar_index_header {
	uint64_t count, class_names_size;
	uint32_t classes, timed, parted, unused;
};

/* What is known of a key so far. */
struct group {
	char key[TAR_NAME], name[TAR_NAME]; /* name: of the image */
	bool image, labelled, timed;
	struct tar_entry entry;
	int64_t label, time;
};

struct building {
	const struct name_list *shards;
	size_t shard;
	struct tar_entry *entries;
	int64_t *times;
	size_t count, room, times_room, timed, labelled;
	char unlabelled[2 * TAR_NAME]; /* the first image without a label */
	int64_t largest;
	bool parted, lenient;
	size_t bad;
	struct vocabulary folders;
	struct group group;
};

static const char *shard_name(const struct building *b)
{
	return name_list_at(b->shards, b->shard);
}

static int bad_member(const struct building *b, const char *name, const char *why, struct err *err)
{
	return err_set(err, ERR_FORMAT, "%.200s: %.200s: %s", shard_name(b), name, why);
}

/* The part that the first `size` bytes of a path of folders name. */
static bool part_of_folders(const char *path, size_t size, enum records_part *part)
{
	bool found = false;

	for (size_t from = 0, to; from < size; from = to + 1) {
		const char *slash = memchr(path + from, '/', size - from);

		to = slash ? (size_t)(slash - path) : size;
		found |= part_from_word(path + from, to - from, part);
	}
	return found;
}

/* The part that a word of an archive's name names: imagenet-val-000.tar. */
static enum records_part part_of_shard(const char *name)
{
	enum records_part part = RECORDS_STREAM;

	for (size_t size; *name; name += size + (name[size] != '\0')) {
		size = strcspn(name, "-_.0123456789");
		part_from_word(name, size, &part);
	}
	return part;
}

/* The class that the image's folder is, and the part that the folders say. */
static int take_folders(struct building *b, struct err *err)
{
	struct group *g = &b->group;
	const char *slash = strrchr(g->name, '/'), *class = g->name;
	enum records_part part = part_of_shard(path_name(shard_name(b)));
	size_t above = slash ? (size_t)(slash - g->name) : 0;

	for (const char *c = g->name; slash && c < slash; c++)
		if (*c == '/')
			class = c + 1;
	if (!g->labelled) {
		if (!slash && b->lenient)
			g->label = RECORD_NO_LABEL;
		else if (slash)
			g->label =
				vocabulary_number(&b->folders, class, (size_t)(slash - class), err);
		else
			return bad_member(
				b, g->name, "has no .cls or .json and is in no folder", err);
		above = class > g->name ? (size_t)(class - g->name - 1) : 0;
		if (!*b->unlabelled)
			snprintf(b->unlabelled, sizeof(b->unlabelled), "%.500s: %.500s",
				shard_name(b), g->name);
	}
	if (g->label < 0)
		return (int)g->label;
	part_of_folders(g->name, above, &part);
	g->entry.part = part & 3;
	b->parted |= part != RECORDS_STREAM;
	return 0;
}

/* Ends a group: its image, if there is one, becomes an entry. */
static int flush(struct building *b, struct err *err)
{
	struct group *g = &b->group;
	int code;

	if (!g->image)
		return 0;
	g->image = false;
	code = take_folders(b, err);
	if (code)
		return code;
	if (g->label >= 1 << LABEL_BITS)
		return bad_member(b, g->name, "too many classes", err);
	if (!grow_room(&b->entries, &b->room, b->count + 1, sizeof(*b->entries)) ||
		!grow_room(&b->times, &b->times_room, b->count + 1, sizeof(*b->times)))
		return err_memory(err, shard_name(b), b->count * sizeof(*b->entries));
	g->entry.labelled = g->labelled;
	g->entry.label = (uint64_t)g->label & ((1 << LABEL_BITS) - 1);
	b->entries[b->count] = g->entry;
	b->times[b->count] = g->timed ? g->time : 0;
	b->count++;
	b->labelled += g->labelled;
	b->timed += g->timed;
	b->bad += g->label == RECORD_NO_LABEL;
	if (g->labelled && g->label > b->largest && g->label != RECORD_NO_LABEL)
		b->largest = g->label;
	g->labelled = g->timed = false;
	return 0;
}

static int take_label(
	struct building *b, const char *name, bool whole, int64_t label, struct err *err)
{
	if ((!whole || label < 0 || label >= 1 << LABEL_BITS) && b->lenient)
		label = RECORD_NO_LABEL;
	else if (!whole || label < 0 || label >= 1 << LABEL_BITS)
		return bad_member(b, name, "has no label from 0 to 16777215", err);
	b->group.labelled = true;
	b->group.label = label;
	return 0;
}

static int take_class(
	struct building *b, const struct tar_member *m, const unsigned char *bytes, struct err *err)
{
	struct csv_field cell = {(const char *)bytes + m->at, m->size, false};
	int64_t label = -1;
	bool whole;

	while (cell.size && (cell.at[cell.size - 1] == '\n' || cell.at[cell.size - 1] == '\r'))
		cell.size--;
	cell = csv_trim(cell);
	whole = decimal_whole(cell.at, cell.size, &label);
	return take_label(b, m->name, whole, label, err);
}

/* A time in JSON: a whole number as it is, seconds with a fraction or a date as microseconds. */
static bool json_time(const struct jvalue *value, int64_t *time)
{
	const char *text = jvalue_text(value);
	double number;

	if (jvalue_whole(value, time))
		return true;
	if (jvalue_number(value, &number) && number > -9e12 && number < 9e12) {
		*time = (int64_t)(number * 1e6);
		return true;
	}
	return text &&
	       (moment_date(text, strlen(text), time) || decimal_whole(text, strlen(text), time));
}

static int take_json(
	struct building *b, const struct tar_member *m, const unsigned char *bytes, struct err *err)
{
	static const char *const keys[] = {"label", "cls", "class"};
	const struct jvalue *label = NULL, *time;
	struct jvalue *value;
	char where[500];
	int64_t number = -1;
	int code;

	if (m->size > JSON_MOST)
		return bad_member(b, m->name, "is too large", err);
	snprintf(where, sizeof(where), "%.200s: %.200s", shard_name(b), m->name);
	code = jvalue_read(&value, (const char *)bytes + m->at, m->size, where, err);
	if (code && code != ERR_MEMORY && b->lenient)
		return take_label(b, m->name, false, -1, err);
	if (code)
		return code;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && !label; i++)
		label = jvalue_find(value, keys[i]);
	time = jvalue_find(value, "time");
	/* Captions and the like may come as JSON, too, and the label as .cls. */
	if (label) {
		const bool whole = jvalue_whole(label, &number);

		code = take_label(b, m->name, whole, number, err);
	}
	if (!code && time) {
		b->group.timed = json_time(time, &b->group.time);
		if (!b->group.timed && b->lenient)
			code = take_label(b, m->name, false, -1, err);
		else if (!b->group.timed)
			code = bad_member(b, m->name, "has a time that is none", err);
	}
	jvalue_free(value);
	return code;
}

static int take_image(struct building *b, const struct tar_member *m, struct err *err)
{
	struct group *g = &b->group;

	if (m->size > RECORD_IMAGE_MOST || m->at / TAR_BLOCK > UINT32_MAX)
		return bad_member(b, m->name, "is too large, or too far into the archive", err);
	g->image = true;
	memcpy(g->name, m->name, TAR_NAME);
	g->entry = (struct tar_entry){.block = (uint32_t)(m->at / TAR_BLOCK),
		.size = (uint32_t)m->size,
		.shard = b->shard & ((1 << SHARD_BITS) - 1)};
	return 0;
}

static int take_member(
	struct building *b, const struct tar_member *m, const unsigned char *bytes, struct err *err)
{
	struct group *g = &b->group;
	const char *name = path_name(m->name);
	const size_t key = (size_t)(name - m->name) + strcspn(name, ".");
	const bool same = strlen(g->key) == key && !memcmp(g->key, m->name, key);
	const bool image = path_is_image(name);
	int code = 0;

	if (*name == '.')
		return 0;
	if (!same || (image && g->image)) {
		code = flush(b, err);
		g->labelled = g->timed = false;
		memcpy(g->key, m->name, key);
		g->key[key] = '\0';
	}
	if (code)
		return code;
	if (image)
		return take_image(b, m, err);
	if (path_ends(name, ".cls"))
		return take_class(b, m, bytes, err);
	return path_ends(name, ".json") ? take_json(b, m, bytes, err) : 0;
}

static int read_shard(struct building *b, const struct mapped *shard, struct err *err)
{
	struct tar_cursor cursor = {0};
	struct tar_member member;
	int code = 0, found;

	while ((found = tar_next(&cursor, shard->data, shard->size, &member)) > 0 && !code)
		code = take_member(b, &member, shard->data, err);
	if (!code && found < 0)
		code = err_set(err, ERR_FORMAT, "%s: the member at byte %zu: %s", shard_name(b),
			cursor.at, cursor.why);
	if (!code)
		code = flush(b, err);
	b->group = (struct group){0};
	return code;
}

static int read_shards(struct building *b, const struct mapped *unpacked, struct err *err)
{
	int code = 0;

	for (b->shard = 0; b->shard < b->shards->count && !code; b->shard++) {
		struct mapped shard = {0};

		if (unpacked && unpacked[b->shard].path) {
			code = read_shard(b, unpacked + b->shard, err);
			continue;
		}
		code = mapped_open(&shard, shard_name(b), 0, err);
		if (!code)
			code = read_shard(b, &shard, err);
		mapped_close(&shard);
	}
	b->shard = 0;
	if (!code && !b->count)
		code = err_set(err, ERR_FORMAT, "%s: holds no images", shard_name(b));
	for (size_t i = 0; !code && b->lenient && b->labelled && i < b->count; i++)
		if (!b->entries[i].labelled) {
			b->entries[i].label = RECORD_NO_LABEL;
			b->bad++;
		}
	if (!code && b->labelled && b->labelled < b->count && !b->lenient)
		code = err_set(err, ERR_FORMAT, "%.450s: has no .cls or .json, and others have",
			b->unlabelled);
	return code;
}

/* Folders get their classes' numbers; all goes into one array, for mem_free. */
static int pack(struct building *b, unsigned char **bytes, size_t *size, struct err *err)
{
	const size_t named = b->labelled ? 0 : b->folders.names.count;
	struct tar_index_header header = {.count = b->count,
		.classes = (uint32_t)(b->labelled ? (size_t)b->largest + 1 : named),
		.class_names_size = named ? b->folders.names.size : 0,
		.timed = b->timed > 0,
		.parted = b->parted};
	const size_t fixed = sizeof(header) + b->count * (header.timed ? 24 : 16);
	uint32_t *ranks = NULL;
	int code = named ? vocabulary_sort(&b->folders, &ranks, err) : 0;

	if (code)
		return code;
	for (size_t i = 0; ranks && i < b->count; i++)
		if (b->entries[i].label != RECORD_NO_LABEL)
			b->entries[i].label = ranks[b->entries[i].label] & ((1 << LABEL_BITS) - 1);
	mem_free(ranks);
	*size = fixed + 4 * named + header.class_names_size + 1;
	*bytes = mem_new(*size, 1);
	if (!*bytes)
		return err_memory(err, shard_name(b), *size);
	memcpy(*bytes, &header, sizeof(header));
	memcpy(*bytes + sizeof(header), b->entries, b->count * sizeof(*b->entries));
	if (header.timed)
		memcpy(*bytes + sizeof(header) + 16 * b->count, b->times, 8 * b->count);
	for (size_t i = 0; i < named; i++)
		memcpy(*bytes + fixed + 4 * i, &(uint32_t){(uint32_t)b->folders.names.starts[i]},
			4);
	if (named)
		memcpy(*bytes + fixed + 4 * named, b->folders.names.bytes, b->folders.names.size);
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
	struct building b = {.shards = shards, .lenient = lenient};
	unsigned char *bytes = NULL;
	size_t size = 0;
	int code;

	*index = (struct tar_index){0};
	if (index_file_find(&index->file, &id) && unpack(index))
		return 0;
	index_file_release(&index->file);
	code = read_shards(&b, unpacked, err);
	if (!code)
		code = pack(&b, &bytes, &size, err);
	mem_free(b.entries);
	mem_free(b.times);
	vocabulary_release(&b.folders);
	if (code)
		return code;
	/* An index with bad labels is not kept: who does not bear them must be told of them. */
	index_file_make(
		&index->file, &id, bytes, size, bytes_total >= KEEP_FROM && !unpacked && !b.bad);
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
