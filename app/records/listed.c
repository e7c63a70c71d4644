/* Images below a folder; the index is path_index.h's. */
#include "records/listed.h"

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

int listed_new(struct listed **listed, const char *root, struct err *err)
{
	struct listed *made = mem_new(1, sizeof(*made));

	*listed = NULL;
	if (!made)
		return err_memory(err, root, sizeof(*made));
	made->root = mem_text(root);
	if (!made->root) {
		mem_free(made);
		return err_memory(err, "a path", strlen(root) + 1);
	}
	for (size_t size = strlen(root); size > 1 && made->root[size - 1] == '/'; size--)
		made->root[size - 1] = '\0';
	*listed = made;
	return 0;
}

uint64_t listed_mark(const struct listed *listed, uint64_t mark, const char *name)
{
	char *path = path_join(listed->root, name);
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

static bool has_images(const struct listed *listed, const char *folder)
{
	const int64_t count = listed->base.info.count;
	const int64_t step = count > TRIES ? count / TRIES : 1;
	bool found = false;

	for (int64_t i = 0; i < count && !found; i += step) {
		const char *name = path_index_path(&listed->index, i);
		char *path = path_join(folder, name + strspn(name, "/"));

		found = path && path_exists(path);
		mem_free(path);
	}
	return found;
}

int listed_find_images(
	struct listed *listed, const char *images, const char *const *folders, struct err *err)
{
	char *first = NULL, *chosen = *images ? mem_text(images) : NULL;

	path_index_info(&listed->index, &listed->base.info);
	for (int i = 0; !chosen && folders[i]; i++) {
		char *folder = path_join(listed->root, folders[i]);

		if (folder && path_is_folder(folder) && has_images(listed, folder))
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
	listed->images = first ? first : mem_text(listed->root);
	return listed->images ? 0 : err_memory(err, "a path", strlen(listed->root));
}

void listed_close(struct records *records)
{
	struct listed *listed = (struct listed *)records;

	path_index_close(&listed->index);
	mem_free(listed->root);
	mem_free(listed->images);
	mem_free(listed);
}

void listed_look(const struct records *records, int64_t first, int n, struct record *out)
{
	const struct listed *listed = (const struct listed *)records;

	for (int k = 0; k < n; k++)
		out[k] = path_index_look(&listed->index, first + k);
}

void listed_where(const struct records *records, int64_t i, char *out, size_t size)
{
	const struct listed *listed = (const struct listed *)records;
	const char *path = path_index_path(&listed->index, i);

	snprintf(out, size, "%s/%s", listed->images, path + strspn(path, "/"));
}

int listed_path(struct records *records, int64_t i, char *out, size_t size, struct err *err)
{
	listed_where(records, i, out, size);
	return 0;
}

int listed_read(struct records *records, int64_t i, struct record_bytes *bytes, struct err *err)
{
	char path[PATH_MAX + PATH_LONGEST];

	listed_where(records, i, path, sizeof(path));
	return mapped_read_whole(path, RECORD_IMAGE_MOST, bytes, err);
}
