/* Images below a folder; the index is path_index.h's. */
#include "records/image_list.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "formats/mapped.h"
#include "base/paths.h"
#include "records/records_types.h"

/* So many images are looked for in a folder: some may be missing on purpose. */
enum { TRIES = 64 };

int image_list_new(struct image_list **list, const char *root, struct err *err)
{
	struct image_list *made = mem_new(1, sizeof(*made));

	*list = NULL;
	if (!made)
		return err_memory(err, root, sizeof(*made));
	made->root = mem_text(root);
	if (!made->root) {
		mem_free(made);
		return err_memory(err, "a path", strlen(root) + 1);
	}
	for (size_t size = strlen(root); size > 1 && made->root[size - 1] == '/'; size--)
		made->root[size - 1] = '\0';
	*list = made;
	return 0;
}

uint64_t image_list_mark(const struct image_list *list, uint64_t mark, const char *name)
{
	char *path = path_join(list->root, name);
	struct stat facts;
	const bool found = path && !stat(path, &facts);

	mem_free(path);
	mark = mark_words(mark, name);
	if (!found)
		return mark_number(mark, -1);
	mark = mark_number(mark, facts.st_size);
	mark = mark_number(mark, facts.st_mtim.tv_sec);
	return mark_number(mark, facts.st_mtim.tv_nsec);
}

static bool has_images(const struct image_list *list, const char *folder)
{
	const int64_t count = list->base.info.count;
	const int64_t step = count > TRIES ? count / TRIES : 1;
	bool found = false;

	for (int64_t i = 0; i < count && !found; i += step) {
		const char *name = path_index_path(&list->index, i);
		char *path = path_join(folder, name + strspn(name, "/"));

		found = path && path_exists(path);
		mem_free(path);
	}
	return found;
}

int image_list_find_folder(
	struct image_list *list, const char *images, const char *const *folders, struct err *err)
{
	char *first = NULL, *chosen = *images ? mem_text(images) : NULL;

	path_index_info(&list->index, &list->base.info);
	for (int i = 0; !chosen && folders[i]; i++) {
		char *folder = path_join(list->root, folders[i]);

		if (folder && path_is_folder(folder) && has_images(list, folder))
			chosen = folder;
		else if (folder && path_is_folder(folder) && !first)
			first = folder;
		else
			mem_free(folder);
	}
	if (chosen) {
		mem_free(first);
		first = chosen;
	}
	list->images = first ? first : mem_text(list->root);
	return list->images ? 0 : err_memory(err, "a path", strlen(list->root));
}

void image_list_close(struct records *records)
{
	struct image_list *list = (struct image_list *)records;

	path_index_close(&list->index);
	mem_free(list->root);
	mem_free(list->images);
	mem_free(list);
}

void image_list_look(const struct records *records, int64_t first, int n, struct record *out)
{
	const struct image_list *list = (const struct image_list *)records;

	for (int k = 0; k < n; k++)
		out[k] = path_index_look(&list->index, first + k);
}

void image_list_where(const struct records *records, int64_t i, char *out, size_t size)
{
	const struct image_list *list = (const struct image_list *)records;
	const char *path = path_index_path(&list->index, i);

	snprintf(out, size, "%s/%s", list->images, path + strspn(path, "/"));
}

int image_list_path(struct records *records, int64_t i, char *out, size_t size, struct err *err)
{
	image_list_where(records, i, out, size);
	return 0;
}

int image_list_read(struct records *records, int64_t i, struct record_bytes *bytes, struct err *err)
{
	char path[PATH_MAX + PATH_LONGEST];

	image_list_where(records, i, path, sizeof(path));
	return mapped_read_whole(path, RECORD_IMAGE_MOST, bytes, err);
}
