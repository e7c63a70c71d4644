/*
 * The release of CLOC: lists of paths, labels, times and users saved by PyTorch, photos to
 * evaluate on in a CSV file. In the CSV file the label comes first, the time third and the
 * path last; its users are not looked at.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "formats/csv.h"
#include "records/image_list.h"
#include "formats/mapped.h"
#include "base/decimal.h"
#include "base/paths.h"
#include "base/name_list.h"
#include "records/records_types.h"
#include "formats/torch_save.h"

enum { COLUMNS_LEAST = 4, COLUMNS_MOST = 16, LABEL = 0, TIME = 2 };

static const struct option_row cloc_options[] = {
	{"cloc", "images", OPTION_TEXT, "", NULL,
		"folder that paths start from; empty: images/ or dataset/images/ in the release"},
	{NULL},
};

static const struct image_list_part parts[] = {
	{"train", "train_store_loc.torchSave", "train_labels.torchSave", "train_time.torchSave",
		RECORDS_STREAM, "train_userID.torchSave"},
	{"cross_val", "cross_val_store_loc.torchSave", "cross_val_labels.torchSave",
		"cross_val_time.torchSave", RECORDS_PREPARE, "cross_val_userID.torchSave"},
	{0},
};

/* The one file whose name ends with val.csv, if there is one: *csv is for mem_free, or NULL. */
static int find_csv(char **csv, const char *root, struct err *err)
{
	struct name_list found = {0};
	int code = name_list_of_folder(&found, root, err);

	for (size_t i = 0; i < found.count && !code; i++) {
		const char *name = name_list_at(&found, i);

		if (!path_ends(name, "val.csv"))
			continue;
		if (*csv)
			code = err_set(err, ERR_FORMAT,
				"%s: both %s and %s could be the photos to evaluate on", root, *csv,
				name);
		else if (!(*csv = mem_text(name)))
			code = err_memory(err, "a path", strlen(name));
	}
	name_list_release(&found);
	return code;
}

static int read_list(const char *path, list_visit *visit, void *lists, struct err *err)
{
	struct mapped file;
	int code = mapped_open(&file, path, 0, err);

	if (code)
		return code;
	code = torch_save_read(&file, visit, lists, err);
	mapped_close(&file);
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

static int read_row(struct path_lists *lists, const struct csv_field *fields, int n, bool timed,
	struct err *err)
{
	const struct list_value label = number_in(fields[LABEL]), time = number_in(fields[TIME]);
	char path[PATH_LONGEST + 2];
	struct list_value text = {.kind = LIST_TEXT, .text = path};
	int code;

	if (!csv_text(fields + n - 1, path, sizeof(path)))
		return err_set(err, ERR_FORMAT, "its path is too long");
	text.size = strlen(path);
	code = path_lists_path(lists, &text, err);
	if (!code)
		code = path_lists_label(lists, &label, err);
	if (!code && timed)
		code = path_lists_time(lists, &time, err);
	return code;
}

static int read_rows(
	struct path_lists *lists, const struct mapped *file, bool timed, struct err *err)
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
			code = read_row(lists, fields, n, timed, &why);
		if (code)
			err_set(err, code, "%.200s, row %lld: %.250s", file->path, (long long)row,
				why.message);
	}
	return code;
}

static int read_csv(struct path_lists *lists, const char *path, bool timed, struct err *err)
{
	struct mapped file;
	int code = mapped_open(&file, path, 0, err);

	if (code)
		return code;
	code = read_rows(lists, &file, timed, err);
	mapped_close(&file);
	return code;
}

static int cloc_open(
	struct records *records, const char *path, const struct options *options, struct err *err)
{
	static const char *const folders[] = {"images", "dataset/images", "", NULL};
	static const struct image_list_kind kind = {.name = "cloc",
		.parts = parts,
		.folders = folders,
		.read_list = read_list,
		.read_more = read_csv};
	char *root = path_trimmed(path), *csv = NULL;
	int code = root ? find_csv(&csv, root, err) : err_memory(err, "a path", strlen(path));

	if (!code)
		code = image_list_open(
			records, root, &kind, csv, options_text(options, "cloc.images"), err);
	mem_free(csv);
	mem_free(root);
	return code;
}

static bool cloc_guess(const char *path)
{
	return path_has(path, parts[0].paths);
}

const struct records_type records_cloc = {
	.name = "cloc",
	.help = "CLOC's release: train_*.torchSave, *_val.csv, images in images/",
	.options = cloc_options,
	.guess = cloc_guess,
	.size = sizeof(struct image_list),
	.open = cloc_open,
	.close = image_list_close,
	.look = image_records_look,
	.read = image_list_read,
	.where = image_list_where,
	.path = image_list_path,
	.user = image_list_user,
};
