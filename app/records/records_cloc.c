/*
 * The release of CLOC: lists of paths, labels and times saved by PyTorch, photos to
 * evaluate on in a CSV file. Users (train_userID) are not looked at. In the CSV file
 * the label comes first, the time third and the path last.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "formats/csv.h"
#include "records/image_list.h"
#include "formats/mapped.h"
#include "formats/decimal.h"
#include "base/paths.h"
#include "records/name_list.h"
#include "records/records_types.h"
#include "formats/torch_save.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

enum { COLUMNS_LEAST = 4, COLUMNS_MOST = 16, LABEL = 0, TIME = 2 };

static const struct option_row cloc_options[] = {
	{"cloc", "images", OPTION_TEXT, "", NULL,
		"folder that paths start from; empty: images/ or dataset/images/ in the release"},
	{NULL},
};

static const struct {
	const char *name, *paths, *labels, *times;
	enum records_part part;
} parts[] = {
	{"train", "train_store_loc.torchSave", "train_labels.torchSave", "train_time.torchSave",
		RECORDS_STREAM},
	{"cross_val", "cross_val_store_loc.torchSave", "cross_val_labels.torchSave",
		"cross_val_time.torchSave", RECORDS_PREPARE},
};

struct cloc {
	struct image_list *list;
	struct path_lists *lists;
	char *csv;  /* name of the CSV file; NULL: there is none */
	bool timed; /* as the stream is */
};

static bool has(const struct cloc *cloc, const char *name)
{
	char *path = path_join(cloc->list->root, name);
	const bool found = path && path_exists(path);

	mem_free(path);
	return found;
}

/* The one file whose name ends with val.csv, if there is one. */
static int find_csv(struct cloc *cloc, struct err *err)
{
	struct name_list found = {0};
	int code = name_list_of_folder(&found, cloc->list->root, err);

	for (size_t i = 0; i < found.count && !code; i++) {
		const char *name = name_list_at(&found, i);

		if (!path_ends(name, "val.csv"))
			continue;
		if (cloc->csv)
			code = err_set(err, ERR_FORMAT,
				"%s: both %s and %s could be the photos to evaluate on",
				cloc->list->root, cloc->csv, name);
		else if (!(cloc->csv = mem_text(name)))
			code = err_memory(err, "a path", strlen(name));
	}
	name_list_release(&found);
	return code;
}

static int read_list(struct cloc *cloc, const char *name, list_visit *visit, struct err *err)
{
	char *path = path_join(cloc->list->root, name);
	struct mapped file;
	int code = path ? mapped_open(&file, path, 0, err) : err_memory(err, "a path", 64);

	if (!code) {
		code = torch_save_read(&file, visit, cloc->lists, err);
		mapped_close(&file);
	}
	mem_free(path);
	return code;
}

static int read_parts(struct cloc *cloc, struct err *err)
{
	int code = 0;

	cloc->timed = has(cloc, parts[0].times);
	for (size_t i = 0; i < COUNT(parts) && !code; i++) {
		if (parts[i].part != RECORDS_STREAM && !has(cloc, parts[i].paths))
			continue;
		code = path_lists_part(cloc->lists, parts[i].part, parts[i].name, err);
		if (!code)
			code = read_list(cloc, parts[i].paths, path_lists_path, err);
		if (!code)
			code = read_list(cloc, parts[i].labels, path_lists_label, err);
		if (!code && cloc->timed)
			code = read_list(cloc, parts[i].times, path_lists_time, err);
	}
	return code;
}

/* The values of a row; what is no number stays a text, which is refused for its place. */
static struct list_value number_in(struct csv_field field)
{
	struct list_value value = {.kind = LIST_WHOLE};

	field = csv_trim(field);
	if (decimal_whole(field.at, field.size, &value.whole))
		return value;
	value.kind = decimal_number(field.at, field.size, &value.real) ? LIST_REAL : LIST_TEXT;
	return value;
}

static int read_row(struct cloc *cloc, const struct csv_field *fields, int n, struct err *err)
{
	const struct list_value label = number_in(fields[LABEL]), time = number_in(fields[TIME]);
	char path[PATH_LONGEST + 2];
	struct list_value text = {.kind = LIST_TEXT, .text = path};
	int code;

	if (!csv_text(fields + n - 1, path, sizeof(path)))
		return err_set(err, ERR_FORMAT, "its path is too long");
	text.size = strlen(path);
	code = path_lists_path(cloc->lists, &text, err);
	if (!code)
		code = path_lists_label(cloc->lists, &label, err);
	if (!code && cloc->timed)
		code = path_lists_time(cloc->lists, &time, err);
	return code;
}

static int read_rows(struct cloc *cloc, const struct mapped *file, struct err *err)
{
	const char *bytes = (const char *)file->data;
	struct csv_field fields[COLUMNS_MOST];
	struct err why = {0};
	size_t used, at = csv_mark(bytes, file->size);
	int code = 0;

	for (int64_t row = 1; at < file->size && !code; row++, at += used) {
		const int n =
			csv_row(bytes + at, file->size - at, ',', fields, COLUMNS_MOST, &used);

		if (n == 1 && !csv_trim(fields[0]).size)
			continue;
		if (n < COLUMNS_LEAST || n > COLUMNS_MOST)
			code = err_set(&why, ERR_FORMAT, "%s",
				n < 0 ? csv_reason(n)
				      : "its columns are not label, date, time, user, path");
		else
			code = read_row(cloc, fields, n, &why);
		if (code)
			err_set(err, code, "%.200s, row %lld: %.250s", file->path, (long long)row,
				why.message);
	}
	return code;
}

static int read_csv(struct cloc *cloc, struct err *err)
{
	char *path = path_join(cloc->list->root, cloc->csv);
	struct mapped file;
	int code = path_lists_part(cloc->lists, RECORDS_EVAL, cloc->csv, err);

	if (!code)
		code = path ? mapped_open(&file, path, 0, err) : err_memory(err, "a path", 64);
	if (!code) {
		code = read_rows(cloc, &file, err);
		mapped_close(&file);
	}
	mem_free(path);
	return code;
}

static int make_index(struct cloc *cloc, const struct index_id *id, struct err *err)
{
	int code = path_lists_open(&cloc->lists, id, err);

	if (code)
		return code;
	code = read_parts(cloc, err);
	if (!code && cloc->csv)
		code = read_csv(cloc, err);
	if (!code)
		return path_lists_end(cloc->lists, &cloc->list->index, err);
	path_lists_abort(cloc->lists);
	return code;
}

static int open_all(struct cloc *cloc, const struct options *options, struct err *err)
{
	static const char *const folders[] = {"images", "dataset/images", "", NULL};
	struct index_id id = {.path = cloc->list->root,
		.kind = "cloc",
		.version = PATH_INDEX_VERSION,
		.mark = MARK_NOTHING};
	int code = find_csv(cloc, err);

	if (code)
		return code;
	for (size_t i = 0; i < COUNT(parts); i++) {
		id.mark = image_list_mark(cloc->list, id.mark, parts[i].paths);
		id.mark = image_list_mark(cloc->list, id.mark, parts[i].labels);
		id.mark = image_list_mark(cloc->list, id.mark, parts[i].times);
	}
	if (cloc->csv)
		id.mark = image_list_mark(cloc->list, id.mark, cloc->csv);
	if (!path_index_find(&cloc->list->index, &id))
		code = make_index(cloc, &id, err);
	return code ? code
		    : image_list_find_folder(
			      cloc->list, options_text(options, "cloc.images"), folders, err);
}

static int cloc_open(
	struct records **records, const char *path, const struct options *options, struct err *err)
{
	struct cloc cloc = {0};
	int code = image_list_new(&cloc.list, path, err);

	if (code)
		return code;
	code = open_all(&cloc, options, err);
	mem_free(cloc.csv);
	if (code)
		image_list_close(&cloc.list->base);
	else
		*records = &cloc.list->base;
	return code;
}

static bool cloc_guess(const char *path)
{
	char *paths = path_join(path, parts[0].paths);
	const bool found = paths && path_exists(paths);

	mem_free(paths);
	return found;
}

const struct records_type records_cloc = {
	.name = "cloc",
	.help = "CLOC's release: train_*.torchSave, *_val.csv, images in images/",
	.options = cloc_options,
	.guess = cloc_guess,
	.open = cloc_open,
	.close = image_list_close,
	.look = image_list_look,
	.read = image_list_read,
	.where = image_list_where,
	.path = image_list_path,
};
