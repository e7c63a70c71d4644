/*
 * Whether archives have their own labels or class folders is known only at their end: until then
 * an entry has whichever label it can have.
 */
#include "records/tar_scan.h"

#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/paths.h"
#include "formats/csv.h"
#include "base/words/decimal.h"
#include "base/words/moment.h"
#include "formats/tar.h"
#include "images/image.h"
#include "records/records_types.h"
#include "records/tar_links.h"

/* INSIDE_MOST: the most names per member that links to folders may reach. */
enum { JSON_MOST = 1 << 20, INSIDE_MOST = 16 };

/* What is known of a key so far. */
struct group {
	char key[TAR_NAME], name[TAR_NAME]; /* name: of the image, or else of the first member */
	bool image, labelled, timed;
	struct tar_entry entry;
	int64_t label, time;
};

struct scanning {
	struct tar_scan *scan;
	const struct name_list *shards;
	size_t shard;
	bool lenient;
	char unlabelled[2 * TAR_NAME]; /* the first image without a label */
	struct group group;
	bool linked;            /* the shard has links, */
	struct tar_links links; /* ... and this is where they lead */
	size_t inside;          /* names of the shard that were reached by links to folders */
};

static const char *shard_name(const struct scanning *s)
{
	return name_list_at(s->shards, s->shard);
}

static int bad_member(const struct scanning *s, const char *name, const char *why, struct err *err)
{
	return err_set(err, ERR_FORMAT, "%.200s: %.200s: %s", shard_name(s), name, why);
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
static int take_folders(struct scanning *s, struct err *err)
{
	struct group *g = &s->group;
	const char *slash = strrchr(g->name, '/'), *class = g->name;
	enum records_part part = part_of_shard(path_name(shard_name(s)));
	size_t above = slash ? (size_t)(slash - g->name) : 0;

	for (const char *c = g->name; slash && c < slash; c++)
		if (*c == '/')
			class = c + 1;
	if (!g->labelled) {
		if (!slash && s->lenient)
			g->label = RECORD_NO_LABEL;
		else if (slash)
			g->label = vocabulary_number(
				&s->scan->folders, class, (size_t)(slash - class), err);
		else
			return bad_member(
				s, g->name, "has no .cls or .json and is in no folder", err);
		above = class > g->name ? (size_t)(class - g->name - 1) : 0;
		if (!*s->unlabelled)
			snprintf(s->unlabelled, sizeof(s->unlabelled), "%.500s: %.500s",
				shard_name(s), g->name);
	}
	if (g->label < 0)
		return (int)g->label;
	part_of_folders(g->name, above, &part);
	g->entry.part = part & 3;
	s->scan->parted |= part != RECORDS_STREAM;
	return 0;
}

/* Ends a group: its image, if there is one, becomes an entry. */
static int flush(struct scanning *s, struct err *err)
{
	struct tar_scan *scan = s->scan;
	struct group *g = &s->group;
	int code = 0;

	if (!g->image)
		return *g->name ? name_list_add(&scan->left_out, g->name, strlen(g->name), err) : 0;
	g->image = false;
	if (g->entry.lost) {
		g->label = RECORD_NO_LABEL;
		g->labelled = false;
	} else {
		code = take_folders(s, err);
	}
	if (code)
		return code;
	if (g->label >= 1 << TAR_LABEL_BITS)
		return bad_member(s, g->name, "too many classes", err);
	if (!grow_room(&scan->entries, &scan->room, scan->count + 1, sizeof(*scan->entries)) ||
		!grow_room(&scan->times, &scan->times_room, scan->count + 1, sizeof(*scan->times)))
		return err_memory(err, shard_name(s), scan->count * sizeof(*scan->entries));
	g->entry.labelled = g->labelled;
	g->entry.label = (uint64_t)g->label & ((1 << TAR_LABEL_BITS) - 1);
	scan->entries[scan->count] = g->entry;
	scan->times[scan->count] = g->timed ? g->time : 0;
	scan->count++;
	scan->labelled += g->labelled;
	scan->timed += g->timed;
	scan->bad += g->label == RECORD_NO_LABEL;
	if (g->labelled && g->label > scan->largest && g->label != RECORD_NO_LABEL)
		scan->largest = g->label;
	g->labelled = g->timed = false;
	return 0;
}

static int take_label(
	struct scanning *s, const char *name, bool whole, int64_t label, struct err *err)
{
	if ((!whole || label < 0 || label >= 1 << TAR_LABEL_BITS) && s->lenient)
		label = RECORD_NO_LABEL;
	else if (!whole || label < 0 || label >= 1 << TAR_LABEL_BITS)
		return bad_member(s, name, "has no label from 0 to 16777215", err);
	s->group.labelled = true;
	s->group.label = label;
	return 0;
}

static int take_class(
	struct scanning *s, const struct tar_member *m, const unsigned char *bytes, struct err *err)
{
	struct csv_field cell = {(const char *)bytes + m->at, m->size, false};
	int64_t label = -1;
	bool whole;

	while (cell.size && (cell.at[cell.size - 1] == '\n' || cell.at[cell.size - 1] == '\r'))
		cell.size--;
	cell = csv_trim(&cell);
	whole = decimal_whole(cell.at, cell.size, &label);
	return take_label(s, m->name, whole, label, err);
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
	struct scanning *s, const struct tar_member *m, const unsigned char *bytes, struct err *err)
{
	static const char *const keys[] = {"label", "cls", "class"};
	const struct jvalue *label = NULL, *time;
	struct jvalue *value;
	char where[500];
	int64_t number = -1;
	int code;

	if (m->size > JSON_MOST)
		return bad_member(s, m->name, "is too large", err);
	snprintf(where, sizeof(where), "%.200s: %.200s", shard_name(s), m->name);
	code = jvalue_read(&value, (const char *)bytes + m->at, m->size, where, err);
	if (code && code != ERR_MEMORY && s->lenient)
		return take_label(s, m->name, false, -1, err);
	if (code)
		return code;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && !label; i++)
		label = jvalue_find(value, keys[i]);
	time = jvalue_find(value, "time");
	/* Captions and the like may come as JSON, too, and the label as .cls. */
	if (label) {
		const bool whole = jvalue_whole(label, &number);

		code = take_label(s, m->name, whole, number, err);
	}
	if (!code && time) {
		s->group.timed = json_time(time, &s->group.time);
		if (!s->group.timed && s->lenient)
			code = take_label(s, m->name, false, -1, err);
		else if (!s->group.timed)
			code = bad_member(s, m->name, "has a time that is none", err);
	}
	jvalue_free(value);
	return code;
}

static int take_image(struct scanning *s, const struct tar_member *m, struct err *err)
{
	struct group *g = &s->group;

	if (m->size > RECORD_IMAGE_MOST || m->at / TAR_BLOCK > UINT32_MAX)
		return bad_member(s, m->name, "is too large, or too far into the archive", err);
	g->image = true;
	memcpy(g->name, m->name, TAR_NAME);
	g->entry = (struct tar_entry){.block = (uint32_t)(m->at / TAR_BLOCK),
		.size = (uint32_t)m->size,
		.shard = s->shard & ((1 << TAR_SHARD_BITS) - 1),
		.lost = m->type != TAR_FILE};
	return 0;
}

/* A file, or a member that should be one and is none. */
static int take_member(
	struct scanning *s, const struct tar_member *m, const unsigned char *bytes, struct err *err)
{
	struct group *g = &s->group;
	const char *name = path_name(m->name);
	const size_t key = (size_t)(name - m->name) + strcspn(name, ".");
	const bool same = strlen(g->key) == key && !memcmp(g->key, m->name, key);
	const bool lost = m->type != TAR_FILE;
	const bool image = image_named(name) || (lost && !tar_is_label(name));
	int code = 0;

	if (!same || (image && g->image)) {
		code = flush(s, err);
		g->labelled = g->timed = false;
		memcpy(g->key, m->name, key);
		g->key[key] = '\0';
		memcpy(g->name, m->name, TAR_NAME);
	}
	if (code)
		return code;
	if (image)
		return take_image(s, m, err);
	if (lost)
		return take_label(s, m->name, false, -1, err);
	if (path_ends(name, ".cls"))
		return take_class(s, m, bytes, err);
	return path_ends(name, ".json") ? take_json(s, m, bytes, err) : 0;
}

static int take(struct scanning *s, const struct mapped *shard, struct tar_member *m, bool inside,
	struct err *err);

/* All that is in the folder that a link leads to, as if it were in one of the link's name. */
static int take_inside(struct scanning *s, const struct mapped *shard,
	const struct tar_member *folder, const struct tar_inside *inside, struct err *err)
{
	int code = 0;

	for (size_t i = inside->first; i < inside->end && !code; i++) {
		struct tar_member m = {.type = TAR_SYMBOLIC_LINK, .at = folder->at};
		const char *name = name_list_at(&s->links.sorted, i);

		if (snprintf(m.name, TAR_NAME, "%s/%s", folder->name, name + inside->path) >=
				TAR_NAME ||
			snprintf(m.link, TAR_NAME, "/%s", name) >= TAR_NAME)
			return bad_member(s, name, "is reached by a name that is too long", err);
		if (++s->inside > INSIDE_MOST * s->links.count)
			return bad_member(s, folder->name,
				"more than 16 times as many names as members are reached by links",
				err);
		code = take(s, shard, &m, true, err);
	}
	return code;
}

/*
 * A link is taken for the file or the folder that it leads to. A member that should be
 * a file and is none is an error or, where `lenient`, a bad record; others are passed
 * over. Within a linked folder links lead to no further folders: the way might not end.
 */
static int follow(struct scanning *s, const struct mapped *shard, struct tar_member *m, bool inside,
	struct err *err)
{
	static const char *const why[] = {
		[TAR_LEADS_TO_FILE] = "",
		[TAR_LEADS_TO_FOLDER] = "a folder",
		[TAR_LEADS_NOWHERE] = "which is not in the archive",
		[TAR_LEADS_OUTSIDE] = "which is outside of the archive",
		[TAR_LEADS_AROUND] = "which leads in a circle, or over more than 40 links",
		[TAR_LEADS_TO_OTHER] = "which is not a regular file",
	};
	const bool file = image_named(m->name) || tar_is_label(m->name);
	enum tar_lead lead = TAR_LEADS_TO_OTHER;
	char words[400] = "is not a regular file";
	struct tar_inside names;
	int code = 0;

	if (m->type != TAR_OTHER) {
		if (!s->linked)
			code = tar_links_open(&s->links, shard->data, shard->size, err);
		if (code)
			return code;
		s->linked = true;
		lead = tar_links_follow(&s->links, m, &names);
		snprintf(words, sizeof(words), "is a link to %.200s, %s%s", m->link, why[lead],
			inside ? " (by a link to a folder)" : "");
	}
	if (lead == TAR_LEADS_TO_FILE) {
		m->type = TAR_FILE;
		return take_member(s, m, shard->data, err);
	}
	if (lead == TAR_LEADS_TO_FOLDER && !file && !inside)
		return take_inside(s, shard, m, &names, err);
	if (lead != TAR_LEADS_TO_FOLDER && !file)
		return 0;
	return s->lenient ? take_member(s, m, shard->data, err)
			  : bad_member(s, m->name, words, err);
}

static int take(struct scanning *s, const struct mapped *shard, struct tar_member *m, bool inside,
	struct err *err)
{
	if (*path_name(m->name) == '.')
		return 0;
	return m->type == TAR_FILE ? take_member(s, m, shard->data, err)
				   : follow(s, shard, m, inside, err);
}

static int read_shard(struct scanning *s, const struct mapped *shard, struct err *err)
{
	struct tar_cursor cursor = {0};
	struct tar_member member;
	int code = 0, found = 0;

	while (!code && (found = tar_next(&cursor, shard->data, shard->size, &member)) > 0)
		code = take(s, shard, &member, false, err);
	if (!code && found < 0)
		code = err_set(err, ERR_FORMAT, "%s: the member at byte %zu: %s", shard_name(s),
			cursor.at, cursor.why);
	if (!code)
		code = flush(s, err);
	s->group = (struct group){0};
	tar_links_close(&s->links);
	s->linked = false;
	s->inside = 0;
	return code;
}

int tar_scan(struct tar_scan *scan, const struct name_list *shards, const struct mapped *unpacked,
	bool lenient, struct err *err)
{
	struct scanning s = {.scan = scan, .shards = shards, .lenient = lenient};
	int code = 0;

	*scan = (struct tar_scan){0};
	for (; s.shard < shards->count && !code; s.shard++) {
		struct mapped shard = {0};

		if (unpacked && unpacked[s.shard].path) {
			code = read_shard(&s, unpacked + s.shard, err);
			continue;
		}
		code = mapped_open(&shard, shard_name(&s), 0, err);
		if (!code)
			code = read_shard(&s, &shard, err);
		mapped_close(&shard);
	}
	if (!code && !scan->count)
		code = err_set(err, ERR_FORMAT, "%s: holds no images", name_list_at(shards, 0));
	for (size_t i = 0; !code && lenient && scan->labelled && i < scan->count; i++)
		if (!scan->entries[i].labelled) {
			scan->entries[i].label = RECORD_NO_LABEL;
			scan->bad++;
		}
	if (!code && scan->labelled && scan->labelled < scan->count && !lenient)
		code = err_set(err, ERR_FORMAT, "%.450s: has no .cls or .json, and others have",
			s.unlabelled);
	if (code)
		tar_scan_release(scan);
	return code;
}

void tar_scan_release(struct tar_scan *scan)
{
	mem_free(scan->entries);
	mem_free(scan->times);
	vocabulary_release(&scan->folders);
	name_list_release(&scan->left_out);
	*scan = (struct tar_scan){0};
}
