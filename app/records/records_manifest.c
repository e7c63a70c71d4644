/*
 * Images named by a CSV file. Rows are parsed once, for the index; a record's path is read from
 * the manifest again when the record is.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "records/manifest_index.h"
#include "formats/mapped.h"
#include "base/paths.h"
#include "records/records_types.h"

static const struct option_row manifest_options[] = {
	{"manifest", "root", OPTION_TEXT, "", NULL,
		"folder that relative paths start from; empty is the manifest's own"},
	{NULL},
};

static void manifest_close(struct records *records)
{
	struct manifest *m = (struct manifest *)records;

	index_file_release(&m->images.file);
	mapped_close(&m->file);
	mem_free(m->root);
}

static int manifest_open(
	struct records *records, const char *path, const struct options *options, struct err *err)
{
	struct manifest *m = (struct manifest *)records;
	const char *root = options_text(options, "manifest.root");
	int code;

	m->root = *root ? mem_text(root) : path_folder(path);
	if (!m->root)
		return err_memory(err, "a path", strlen(path));
	code = mapped_open(&m->file, path, MAPPED_UNPACK, err);
	if (!code)
		code = manifest_index_open(m, records_lenient(options), err);
	if (!code)
		mapped_looked(&m->file);
	return code;
}

/* A CSV file whose first row has a cell that is an image's path, or is called one. */
static bool manifest_guess(const char *path)
{
	struct mapped file;
	bool found = false;

	if (!path_ends(path, ".csv") && !path_ends(path, ".tsv"))
		return false;
	if (path_is_folder(path) || mapped_open(&file, path, 0, NULL))
		return false;
	found = manifest_index_likely((const char *)file.data, file.size);
	mapped_close(&file);
	return found;
}

static void manifest_where(const struct records *records, int64_t i, char *out, size_t size)
{
	const struct manifest *m = (const struct manifest *)records;
	uint64_t number;
	size_t length;

	manifest_index_row(m, i, &length, &number);
	snprintf(out, size, "%s, row %llu", m->file.path, (unsigned long long)number);
}

/* The path of record i, from the row as it now stands in the file. */
static int path_of(struct manifest *m, int64_t i, struct record_bytes *bytes, char path[PATH_MAX],
	struct err *err)
{
	size_t size, root = strlen(m->root);
	uint64_t number;
	const uint64_t at = manifest_index_row(m, i, &size, &number);
	const int code = mapped_record(&m->file, at, size, bytes, err);
	char cell[PATH_MAX];

	if (code)
		return code;
	if (!manifest_index_path(m, (const char *)bytes->data, bytes->size, cell, sizeof(cell)))
		return err_set(err, ERR_FORMAT, "%s, row %llu: has no path that can be used",
			m->file.path, (unsigned long long)number);
	if (*cell == '/')
		root = 0;
	if ((size_t)snprintf(path, PATH_MAX, "%.*s%s%s", (int)root, m->root, root ? "/" : "",
		    cell) >= PATH_MAX)
		return err_set(err, ERR_FORMAT, "%s, row %llu: its path is too long", m->file.path,
			(unsigned long long)number);
	return 0;
}

static int manifest_read(
	struct records *records, int64_t i, struct record_bytes *bytes, struct err *err)
{
	struct manifest *m = (struct manifest *)records;
	char path[PATH_MAX], where[PATH_MAX];
	struct err why = {0};
	int code = path_of(m, i, bytes, path, err);

	if (code)
		return code;
	code = mapped_read_whole(path, RECORD_IMAGE_MOST, bytes, &why);
	if (!code)
		return 0;
	manifest_where(records, i, where, sizeof(where));
	return err_set(err, code, "%.200s: %.300s", where, why.message);
}

static int manifest_path(
	struct records *records, int64_t i, char *out, size_t size, struct err *err)
{
	struct record_bytes bytes = {0};
	char path[PATH_MAX];
	const int code = path_of((struct manifest *)records, i, &bytes, path, err);

	record_bytes_release(&bytes);
	if (!code)
		snprintf(out, size, "%s", path);
	return code;
}

const struct records_type records_manifest = {
	.name = "manifest",
	.help = "images named by the rows of a CSV file: path, label, time",
	.options = manifest_options,
	.guess = manifest_guess,
	.size = sizeof(struct manifest),
	.open = manifest_open,
	.close = manifest_close,
	.look = manifest_index_look,
	.read = manifest_read,
	.where = manifest_where,
	.path = manifest_path,
	.user = manifest_index_user,
	.class_name = image_records_class_name,
};
