/*
 * Trees of CLDatasets: lists of paths and labels as HDF5 files in order_files/, images
 * in data/. There are no times; the order of the lists is the order of time.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "formats/hdf5_lists.h"
#include "records/image_list.h"
#include "base/paths.h"
#include "records/records_types.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

static const struct option_row cldatasets_options[] = {
	{"cldatasets", "images", OPTION_TEXT, "", NULL,
		"folder that paths start from; empty: data/ in the tree"},
	{NULL},
};

static const char dataset[] = "store_list";

static const struct {
	const char *name, *paths, *labels;
	enum records_part part;
} parts[] = {
	{"train", "order_files/train_image_paths.hdf5", "order_files/train_labels.hdf5",
		RECORDS_STREAM},
	{"test", "order_files/test_image_paths.hdf5", "order_files/test_labels.hdf5", RECORDS_EVAL},
	{"pretrain", "order_files/pretrain_image_paths.hdf5", "order_files/pretrain_labels.hdf5",
		RECORDS_PREPARE},
};

static int read_list(const struct image_list *list, const char *name, list_visit *visit,
	struct path_lists *lists, struct err *err)
{
	char *path = path_join(list->root, name);
	const int code = path ? hdf5_list_read(path, dataset, visit, lists, err)
			      : err_memory(err, "a path", strlen(name));

	mem_free(path);
	return code;
}

static bool has(const struct image_list *list, const char *name)
{
	char *path = path_join(list->root, name);
	const bool found = path && path_exists(path);

	mem_free(path);
	return found;
}

static int read_parts(const struct image_list *list, struct path_lists *lists, struct err *err)
{
	int code = 0;

	for (size_t i = 0; i < COUNT(parts) && !code; i++) {
		if (parts[i].part != RECORDS_STREAM && !has(list, parts[i].paths) &&
			!has(list, parts[i].labels))
			continue;
		code = path_lists_part(lists, parts[i].part, parts[i].name, err);
		if (!code)
			code = read_list(list, parts[i].paths, path_lists_path, lists, err);
		if (!code)
			code = read_list(list, parts[i].labels, path_lists_label, lists, err);
	}
	return code;
}

static int make_index(struct image_list *list, const struct index_id *id, struct err *err)
{
	struct path_lists *lists;
	int code = path_lists_open(&lists, id, err);

	if (code)
		return code;
	code = read_parts(list, lists, err);
	if (!code)
		return path_lists_end(lists, &list->index, err);
	path_lists_abort(lists);
	return code;
}

static int cldatasets_open(
	struct records **records, const char *path, const struct options *options, struct err *err)
{
	static const char *const folders[] = {"data", "", NULL};
	struct index_id id = {.kind = "cldatasets", .version = PATH_INDEX_VERSION};
	struct image_list *list;
	int code = image_list_new(&list, path, err);

	if (code)
		return code;
	id.path = list->root;
	id.mark = MARK_NOTHING;
	for (size_t i = 0; i < COUNT(parts); i++) {
		id.mark = image_list_mark(list, id.mark, parts[i].paths);
		id.mark = image_list_mark(list, id.mark, parts[i].labels);
	}
	if (!path_index_find(&list->index, &id))
		code = make_index(list, &id, err);
	if (!code)
		code = image_list_find_folder(
			list, options_text(options, "cldatasets.images"), folders, err);
	if (code)
		image_list_close(&list->base);
	else
		*records = &list->base;
	return code;
}

static bool cldatasets_guess(const char *path)
{
	char *paths = path_join(path, parts[0].paths);
	const bool found = paths && path_exists(paths);

	mem_free(paths);
	return found;
}

const struct records_type records_cldatasets = {
	.name = "cldatasets",
	.help = "a tree of CLDatasets: lists in order_files/*.hdf5, images in data/",
	.options = cldatasets_options,
	.guess = cldatasets_guess,
	.open = cldatasets_open,
	.close = image_list_close,
	.look = image_list_look,
	.read = image_list_read,
	.where = image_list_where,
	.path = image_list_path,
};
