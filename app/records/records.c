/*
 * The table of kinds, and the parsing of "KIND:PATH". A path that exists as written is a path,
 * whatever precedes its first colon.
 */
#include "records/records.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/words/name_list.h"
#include "base/paths.h"
#include "formats/csv.h"
#include "formats/mapped.h"
#include "images/image.h"
#include "records/records_types.h"

/* So many files that are left out are named, and the rest is counted. */
enum { LEFT_OUT_NAMED = 5 };

const struct records_type *const records_types[] = {
	&records_idx,
	&records_cifar,
	&records_tar,
	&records_folder,
	&records_manifest,
	&records_npy,
	&records_table,
	NULL,
};

/* The row that words begin with, and where its path begins; NULL if there is none. */
static const struct records_type *named(const char *words, const char **path)
{
	for (int i = 0; records_types[i]; i++) {
		const size_t length = strlen(records_types[i]->name);

		if (strncmp(words, records_types[i]->name, length) || words[length] != ':')
			continue;
		*path = words + length + 1;
		return records_types[i];
	}
	return NULL;
}

/*
 * The kind of data set that pyretain.convert makes a manifest of, if words name one or are a
 * folder of its form; NULL: they are neither.
 */
static const char *unconverted(const char *words, const char **path)
{
	static const struct {
		const char *kind, *file;
	} rows[] = {{"cloc", "train_store_loc.torchSave"},
		{"cldatasets", "order_files/train_image_paths.hdf5"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const size_t length = strlen(rows[i].kind);
		const bool begins = !strncmp(words, rows[i].kind, length) && words[length] == ':';

		*path = begins ? words + length + 1 : words;
		if (begins || path_has(words, rows[i].file))
			return rows[i].kind;
	}
	return NULL;
}

const char *records_words_path(const char *words)
{
	const char *path = words;

	if (!path_exists(words))
		named(words, &path);
	return path;
}

bool records_likely(const char *words)
{
	const char *path;
	bool likely = false;

	if (unconverted(words, &path))
		return true;
	if (!path_exists(words))
		return named(words, &path) != NULL;
	for (int i = 0; records_types[i] && !likely; i++)
		likely = records_types[i]->guess(words);
	return likely;
}

/* Whether pictures lie in the folder itself. */
static bool holds_pictures(const char *folder)
{
	struct name_list names = {0};
	bool found = false;

	if (path_is_folder(folder) && !name_list_of_folder(&names, folder, NULL))
		for (size_t i = 0; i < names.count && !found; i++)
			found = image_named(name_list_at(&names, i));
	name_list_release(&names);
	return found;
}

/* How JSON begins: { is an object, [ an array, unless it is a config's [section]; 0 is neither. */
static char json_start(const char *path)
{
	struct mapped file;
	const char *at, *end;
	char start = 0;

	if (mapped_open(&file, path, 0, NULL))
		return 0;
	at = (const char *)file.data + csv_mark((const char *)file.data, file.size);
	end = (const char *)file.data + file.size;
	while (at < end && strchr(" \t\r\n", *at))
		at++;
	if (at < end && strchr("[{", *at))
		start = *at++;
	while (start == '[' && at < end && strchr(" \t\r\n", *at))
		at++;
	if (start == '[' && at < end && !strchr("{[\"-0123456789]", *at))
		start = 0;
	mapped_close(&file);
	return start;
}

/* Whether the first line is one of a live stream: an id, and an input or a label. */
static bool is_live(const char *path)
{
	struct mapped file;
	struct jvalue *first = NULL;
	bool live = false;

	if (mapped_open(&file, path, 0, NULL))
		return false;
	if (file.size) {
		const char *at = (const char *)file.data, *end = memchr(at, '\n', file.size);

		jvalue_read(&first, at, end ? (size_t)(end - at) : file.size, path, NULL);
	}
	live = jvalue_find(first, "id") &&
	       (jvalue_find(first, "input") || jvalue_find(first, "label"));
	jvalue_free(first);
	mapped_close(&file);
	return live;
}

int records_refuse_json(const char *path, struct err *err)
{
	const bool lines = path_ends(path, ".ndjson") || path_ends(path, ".jsonl");
	const char start = path_exists(path) && !path_is_folder(path) ? json_start(path) : 0;

	if (lines ? !path_exists(path) : !start)
		return 0;
	if (start == '[')
		return err_set(err, ERR_INPUT,
			"%s: is a JSON array, and its first value is not a row of a table: an "
			"object of numbers and words, as pandas writes with orient=\"records\"",
			path);
	if (is_live(path))
		return err_set(err, ERR_INPUT,
			"%s: lines of JSON are learned as they come: retain run - < %s", path,
			path);
	return err_set(err, ERR_INPUT,
		"%s: is JSON, but neither a table, which is a list of flat objects or one per "
		"line, nor lines of a live stream, which have an id and an input",
		path);
}

static int find_type(
	const struct records_type **type, const char *words, const char **path, struct err *err)
{
	const char *kind;

	*path = words;
	*type = path_exists(words) ? NULL : named(words, path);
	kind = *type ? NULL : unconverted(words, path);
	if (kind)
		return err_set(err, ERR_INPUT,
			"%s: make a manifest of it first: python -m pyretain.convert %s %s; then "
			"use manifest:%s/manifest.csv",
			words, kind, *path, *path);
	for (int i = 0; records_types[i] && !*type; i++)
		if (records_types[i]->guess(words))
			*type = records_types[i];
	if (*type)
		return 0;
	if (holds_pictures(words))
		return err_set(err, ERR_INPUT,
			"%s: holds pictures, and nothing says of which classes: put those of each "
			"class into a folder of its name, or list them in a CSV file with columns "
			"path and label",
			words);
	if (records_refuse_json(words, err))
		return ERR_INPUT;
	if (path_exists(words) && access(words, R_OK))
		return err_set(err, ERR_FILE, "%s: %s", words, strerror(errno));
	if (path_exists(words))
		return err_set(err, ERR_INPUT,
			"%s: retain cannot tell what kind of data this is; name it, as in "
			"folder:%s "
			"(retain list shows all kinds)",
			words, words);
	return err_set(err, ERR_INPUT,
		"%s: there is no such source and no such file (retain list shows all sources)",
		words);
}

bool records_tabular(const char *words)
{
	const struct records_type *type;
	const char *path;

	return !find_type(&type, words, &path, NULL) && type == &records_table;
}

/*
 * The manifest of "cloc:PATH" or "cldatasets:PATH", if it was made: runs of earlier versions go on
 * with it to the same bits. NULL: there is none; else for mem_free.
 */
static char *converted(const char *words)
{
	const char *path;

	if (path_exists(words) || named(words, &path) || !unconverted(words, &path) ||
		path == words || !path_has(path, "manifest.csv"))
		return NULL;
	return path_join(path, "manifest.csv");
}

int records_open(
	struct records **records, const char *words, const struct options *options, struct err *err)
{
	char *manifest = converted(words);
	const struct records_type *type = &records_manifest;
	const char *path = manifest;
	int code = manifest ? 0 : find_type(&type, words, &path, err);

	*records = NULL;
	if (code)
		return code;
	*records = mem_new(1, type->size);
	if (!*records) {
		mem_free(manifest);
		return err_memory(err, words, type->size);
	}
	(*records)->type = type;
	code = type->open(*records, path, options, err);
	mem_free(manifest);
	if (code) {
		records_close(*records);
		*records = NULL;
	}
	return code;
}

bool records_lenient(const struct options *options)
{
	return options_has(options, "stream.on_bad") &&
	       !strcmp(options_text(options, "stream.on_bad"), "skip");
}

void records_close(struct records *records)
{
	if (!records)
		return;
	records->type->close(records);
	mem_free(records);
}

const struct records_info *records_info(const struct records *records)
{
	return &records->info;
}

struct record records_look(const struct records *records, int64_t i)
{
	return records->type->look(records, i);
}

const float *records_numbers(const struct records *records, int64_t i)
{
	return records->type->numbers(records, i);
}

const char *records_number_names(const struct records *records)
{
	return records->info.numbers > 1 ? records->type->number_names(records) : NULL;
}

int64_t records_user(const struct records *records, int64_t i)
{
	return records->type->user(records, i);
}

int records_read(struct records *records, int64_t i, struct record_bytes *bytes, struct err *err)
{
	return records->type->read(records, i, bytes, err);
}

void records_where(const struct records *records, int64_t i, char *out, size_t size)
{
	records->type->where(records, i, out, size);
}

int records_path(struct records *records, int64_t i, char *out, size_t size, struct err *err)
{
	if (!records->type->path)
		return err_set(err, ERR_INPUT,
			"records of kind %s are no files of their own, so no manifest can name "
			"them",
			records->type->name);
	return records->type->path(records, i, out, size, err);
}

const char *records_class_name(const struct records *records, int label)
{
	return records->type->class_name ? records->type->class_name(records, label) : NULL;
}

const struct schema *records_schema(const struct records *records)
{
	return records->type->schema ? records->type->schema(records) : NULL;
}

const char *records_notes(const struct records *records)
{
	return records->type->notes ? records->type->notes(records) : NULL;
}

const struct name_list *records_left_out(const struct records *records)
{
	const struct name_list *names =
		records->type->left_out ? records->type->left_out(records) : NULL;

	return names && names->count ? names : NULL;
}

void left_out_say(const struct name_list *names, bool classed, struct text *words)
{
	const size_t named = names->count < LEFT_OUT_NAMED ? names->count : LEFT_OUT_NAMED;

	text_addf(words,
		"%zu file%s left out, not being a " IMAGE_FORMATS " image%s: ", names->count,
		names->count == 1 ? " is" : "s are", classed ? " in a class's folder" : "");
	for (size_t i = 0; i < named; i++)
		text_addf(words, "%s%s", i ? ", " : "", name_list_at(names, i));
	if (named < names->count)
		text_addf(words, " and %zu more", names->count - named);
	if (!words->failed)
		text_tame(words->data);
}

void records_about(const struct records *records, struct text *words)
{
	const struct records_info *info = &records->info;

	if (records->type->about)
		records->type->about(records, words);
	else if (info->form == RECORDS_IMAGE)
		text_addf(words, "picture files");
	else if (info->height * info->width > 1)
		text_addf(words, "pictures of %d x %d", info->width, info->height);
	else
		text_addf(words, "%d numbers each", info->channels);
}

bool part_from_word(const char *word, size_t size, enum records_part *part)
{
	static const struct {
		const char *word;
		enum records_part part;
	} rows[] = {{"train", RECORDS_STREAM}, {"training", RECORDS_STREAM},
		{"stream", RECORDS_STREAM}, {"val", RECORDS_EVAL}, {"valid", RECORDS_EVAL},
		{"validation", RECORDS_EVAL}, {"test", RECORDS_EVAL}, {"eval", RECORDS_EVAL},
		{"t10k", RECORDS_EVAL}, {"prepare", RECORDS_PREPARE},
		{"pretrain", RECORDS_PREPARE}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (strlen(rows[i].word) == size && !strncasecmp(rows[i].word, word, size)) {
			*part = rows[i].part;
			return true;
		}
	return false;
}
