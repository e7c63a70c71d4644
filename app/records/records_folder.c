/* Images in folders, one for each class: ImageNet's layout. The index is class_folder_index.h's. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "records/class_folder_index.h"
#include "formats/mapped.h"
#include "base/paths.h"
#include "base/words/name_list.h"
#include "images/image.h"
#include "records/records_types.h"

static void class_folder_close(struct records *records)
{
	struct class_folder *folder = (struct class_folder *)records;

	image_records_release(&folder->images);
	mem_free(folder->root);
}

static int class_folder_open(
	struct records *records, const char *path, const struct options *options, struct err *err)
{
	struct class_folder *folder = (struct class_folder *)records;

	(void)options;
	folder->root = path_trimmed(path);
	return folder->root ? class_folder_index_open(folder, err)
			    : err_memory(err, "a path", strlen(path));
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
				found = image_named(name_list_at(&inner, k));
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

static void class_folder_where(const struct records *records, int64_t i, char *out, size_t size)
{
	const struct class_folder *folder = (const struct class_folder *)records;
	const bool slash = strcmp(folder->root, "/") != 0;

	snprintf(out, size, "%s%s", folder->root, slash ? "/" : "");
	if (strlen(out) + 1 < size)
		class_folder_index_path(folder, i, out + strlen(out), size - strlen(out));
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

const struct records_type records_folder = {
	.name = "folder",
	.help = "images in folders, one for each class; train/ and val/ above them or not",
	.guess = class_folder_guess,
	.size = sizeof(struct class_folder),
	.open = class_folder_open,
	.close = class_folder_close,
	.look = image_records_look,
	.read = class_folder_read,
	.where = class_folder_where,
	.path = class_folder_path,
	.class_name = image_records_class_name,
	.left_out = image_records_left_out,
};
