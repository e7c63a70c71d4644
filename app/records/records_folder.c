/* Images in folders, one for each class: ImageNet's layout. The index is class_folder_index.h's. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "records/class_folder_index.h"
#include "formats/mapped.h"
#include "base/paths.h"
#include "records/name_list.h"
#include "records/records_types.h"

struct class_folder {
	struct records base;
	struct class_folder_index index;
	char *root;
};

static void class_folder_close(struct records *records)
{
	struct class_folder *folder = (struct class_folder *)records;

	class_folder_index_close(&folder->index);
	mem_free(folder->root);
	mem_free(folder);
}

static int class_folder_open(
	struct records **records, const char *path, const struct options *options, struct err *err)
{
	struct class_folder *folder = mem_new(1, sizeof(*folder));
	int code;

	(void)options;
	if (!folder)
		return err_memory(err, "a folder", sizeof(*folder));
	folder->root = mem_text(path);
	code = folder->root ? class_folder_index_open(&folder->index, path, err)
			    : err_memory(err, "a path", strlen(path));
	if (code) {
		class_folder_close(&folder->base);
		return code;
	}
	class_folder_index_info(&folder->index, &folder->base.info);
	*records = &folder->base;
	return 0;
}

/* Whether a folder has a folder with images in it, after a look at the first few names. */
static bool has_classes(const char *path)
{
	struct name_list outer = {0}, inner = {0};
	bool found = false;

	if (name_list_of_folder(&outer, path, NULL))
		outer.count = 0;
	for (size_t i = 0; i < outer.count && i < 8 && !found; i++) {
		char *below = path_join(path, name_list_at(&outer, i));

		name_list_release(&inner);
		if (below && path_is_folder(below) && !name_list_of_folder(&inner, below, NULL))
			for (size_t k = 0; k < inner.count && !found; k++)
				found = path_is_image(name_list_at(&inner, k));
		mem_free(below);
	}
	name_list_release(&outer);
	name_list_release(&inner);
	return found;
}

static bool class_folder_guess(const char *path)
{
	char *train = path_join(path, "train");
	const bool found =
		path_is_folder(path) && ((train && path_is_folder(train)) || has_classes(path));

	mem_free(train);
	return found;
}

static void class_folder_look(
	const struct records *records, int64_t first, int n, struct record *out)
{
	const struct class_folder *folder = (const struct class_folder *)records;

	for (int k = 0; k < n; k++)
		out[k] = class_folder_index_look(&folder->index, first + k);
}

static void class_folder_where(const struct records *records, int64_t i, char *out, size_t size)
{
	const struct class_folder *folder = (const struct class_folder *)records;
	const size_t root = strlen(folder->root);
	const bool slash = root && folder->root[root - 1] != '/';

	snprintf(out, size, "%s%s", folder->root, slash ? "/" : "");
	if (strlen(out) + 1 < size)
		class_folder_index_path(&folder->index, i, out + strlen(out), size - strlen(out));
}

static int class_folder_read(
	struct records *records, int64_t i, struct record_bytes *bytes, struct err *err)
{
	char path[PATH_MAX];

	class_folder_where(records, i, path, sizeof(path));
	return mapped_read_whole(path, RECORD_IMAGE_MOST, bytes, err);
}

static int class_folder_path(
	struct records *records, int64_t i, char *out, size_t size, struct err *err)
{
	class_folder_where(records, i, out, size);
	return 0;
}

static const char *class_folder_class_name(const struct records *records, int label)
{
	return class_folder_index_class(&((const struct class_folder *)records)->index, label);
}

const struct records_type records_folder = {
	.name = "folder",
	.help = "images in folders, one for each class; train/ and val/ above them or not",
	.guess = class_folder_guess,
	.open = class_folder_open,
	.close = class_folder_close,
	.look = class_folder_look,
	.read = class_folder_read,
	.where = class_folder_where,
	.path = class_folder_path,
	.class_name = class_folder_class_name,
};
