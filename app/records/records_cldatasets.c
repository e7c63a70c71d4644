/*
 * Trees of CLDatasets: lists of paths and labels as HDF5 files in order_files/, images
 * in data/. There are no times; the order of the lists is the order of time.
 */
#include "base/paths.h"
#include "formats/hdf5_lists.h"
#include "records/image_list.h"
#include "records/records_types.h"

static const struct option_row cldatasets_options[] = {
	{"cldatasets", "images", OPTION_TEXT, "", NULL,
		"folder that paths start from; empty: data/ in the tree"},
	{NULL},
};

static const struct image_list_part parts[] = {
	{"train", "order_files/train_image_paths.hdf5", "order_files/train_labels.hdf5", NULL,
		RECORDS_STREAM},
	{"test", "order_files/test_image_paths.hdf5", "order_files/test_labels.hdf5", NULL,
		RECORDS_EVAL},
	{"pretrain", "order_files/pretrain_image_paths.hdf5", "order_files/pretrain_labels.hdf5",
		NULL, RECORDS_PREPARE},
	{0},
};

static int read_list(const char *path, list_visit *visit, void *lists, struct err *err)
{
	return hdf5_list_read(path, "store_list", visit, lists, err);
}

static int cldatasets_open(
	struct records *records, const char *path, const struct options *options, struct err *err)
{
	static const char *const folders[] = {"data", "", NULL};
	static const struct image_list_kind kind = {.name = "cldatasets",
		.parts = parts,
		.labels_count = true,
		.folders = folders,
		.read_list = read_list};

	return image_list_open(
		records, path, &kind, NULL, options_text(options, "cldatasets.images"), err);
}

static bool cldatasets_guess(const char *path)
{
	return path_has(path, parts[0].paths);
}

const struct records_type records_cldatasets = {
	.name = "cldatasets",
	.help = "a tree of CLDatasets: lists in order_files/*.hdf5, images in data/",
	.options = cldatasets_options,
	.guess = cldatasets_guess,
	.size = sizeof(struct image_list),
	.open = cldatasets_open,
	.close = image_list_close,
	.look = image_records_look,
	.read = image_list_read,
	.where = image_list_where,
	.path = image_list_path,
};
