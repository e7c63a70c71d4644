/* Images in folders, one for each class: ImageNet's layout. The index is folder_index.h's. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "records/folder_index.h"
#include "formats/mapped.h"
#include "base/paths.h"
#include "records/records_types.h"

struct folder {
	struct records base;
	struct folder_index index;
	char *root;
};

static void folder_close(struct records *records)
{
	struct folder *folder = (struct folder *)records;

	folder_index_close(&folder->index);
	mem_free(folder->root);
	mem_free(folder);
}

static int folder_open(
	struct records **records, const char *path, const struct options *options, struct err *err)
{
	struct folder *folder = mem_new(1, sizeof(*folder));
	int code;

	(void)options;
	if (!folder)
		return err_memory(err, "a folder", sizeof(*folder));
	folder->root = mem_text(path);
	code = folder->root ? folder_index_open(&folder->index, path, err)
			    : err_memory(err, "a path", strlen(path));
	if (code) {
		folder_close(&folder->base);
		return code;
	}
	folder->base.info = (struct records_info){
		.form = RECORDS_IMAGE,
		.count = folder_index_count(&folder->index),
		.classes = folder_index_classes(&folder->index),
		.parted = folder_index_parted(&folder->index),
	};
	*records = &folder->base;
	return 0;
}

/* Whether a folder has a folder with images in it, after a look at the first few names. */
static bool has_classes(const char *path)
{
	struct names outer = {0}, inner = {0};
	bool found = false;

	if (names_of_folder(&outer, path, NULL))
		outer.count = 0;
	for (size_t i = 0; i < outer.count && i < 8 && !found; i++) {
		char *below = path_join(path, names_at(&outer, i));

		names_release(&inner);
		if (below && path_is_folder(below) && !names_of_folder(&inner, below, NULL))
			for (size_t k = 0; k < inner.count && !found; k++)
				found = path_is_image(names_at(&inner, k));
		mem_free(below);
	}
	names_release(&outer);
	names_release(&inner);
	return found;
}

static bool folder_guess(const char *path)
{
	char *train = path_join(path, "train");
	const bool found =
		path_is_folder(path) && ((train && path_is_folder(train)) || has_classes(path));

	mem_free(train);
	return found;
}

static void folder_look(const struct records *records, int64_t first, int n, struct record *out)
{
	const struct folder *folder = (const struct folder *)records;

	for (int k = 0; k < n; k++)
		out[k] = folder_index_look(&folder->index, first + k);
}

static void folder_where(const struct records *records, int64_t i, char *out, size_t size)
{
	const struct folder *folder = (const struct folder *)records;
	const size_t root = strlen(folder->root);
	const bool slash = root && folder->root[root - 1] != '/';

	snprintf(out, size, "%s%s", folder->root, slash ? "/" : "");
	if (strlen(out) + 1 < size)
		folder_index_path(&folder->index, i, out + strlen(out), size - strlen(out));
}

static int folder_read(
	struct records *records, int64_t i, struct record_bytes *bytes, struct err *err)
{
	char path[PATH_MAX];

	folder_where(records, i, path, sizeof(path));
	return mapped_read_whole(path, RECORD_IMAGE_MOST, bytes, err);
}

static int folder_path(struct records *records, int64_t i, char *out, size_t size, struct err *err)
{
	folder_where(records, i, out, size);
	return 0;
}

static const char *folder_class_name(const struct records *records, int label)
{
	return folder_index_class(&((const struct folder *)records)->index, label);
}

const struct records_type records_folder = {
	.name = "folder",
	.help = "images in folders, one for each class; train/ and val/ above them or not",
	.guess = folder_guess,
	.open = folder_open,
	.close = folder_close,
	.look = folder_look,
	.read = folder_read,
	.where = folder_where,
	.path = folder_path,
	.class_name = folder_class_name,
};
