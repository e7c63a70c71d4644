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

/* Adds name, size and time of change of a file below root to a mark; it may be missing. */
static uint64_t mark_file(uint64_t mark, const char *root, const char *name)
{
	char *path = name ? path_join(root, name) : NULL;
	struct stat facts;
	const bool found = path && !stat(path, &facts);

	mem_free(path);
	if (!name)
		return mark;
	mark = mark_words(mark, name);
	if (!found)
		return mark_number(mark, -1);
	mark = mark_number(mark, facts.st_size);
	mark = mark_number(mark, facts.st_mtim.tv_sec);
	return mark_number(mark, facts.st_mtim.tv_nsec);
}

static int read_list(const struct image_list *list, const struct image_list_kind *kind,
	const char *name, list_visit *visit, struct path_lists *lists, struct err *err)
{
	char *path = path_join(list->root, name);
	const int code = path ? kind->read_list(path, visit, lists, err)
			      : err_memory(err, "a path", strlen(name));

	mem_free(path);
	return code;
}

static int read_parts(const struct image_list *list, const struct image_list_kind *kind, bool timed,
	struct path_lists *lists, struct err *err)
{
	const bool used = kind->parts->users && path_has(list->root, kind->parts->users);
	int code = 0;

	for (const struct image_list_part *p = kind->parts; p->name && !code; p++) {
		if (p->part != RECORDS_STREAM && !path_has(list->root, p->paths) &&
			!(kind->labels_count && path_has(list->root, p->labels)))
			continue;
		code = path_lists_part(lists, p->part, p->name, err);
		if (!code)
			code = read_list(list, kind, p->paths, path_lists_path, lists, err);
		if (!code)
			code = read_list(list, kind, p->labels, path_lists_label, lists, err);
		if (!code && timed)
			code = read_list(list, kind, p->times, path_lists_time, lists, err);
		if (!code && used && path_has(list->root, p->users))
			code = read_list(list, kind, p->users, path_lists_user, lists, err);
	}
	return code;
}

static int make_index(struct image_list *list, const struct image_list_kind *kind, const char *more,
	const struct index_id *id, struct err *err)
{
	const bool timed = kind->parts->times && path_has(list->root, kind->parts->times);
	char *path = more ? path_join(list->root, more) : NULL;
	struct path_lists *lists = NULL;
	int code = more && !path ? err_memory(err, "a path", strlen(more))
				 : path_lists_open(&lists, id, err);

	if (!code)
		code = read_parts(list, kind, timed, lists, err);
	if (!code && more)
		code = path_lists_part(lists, RECORDS_EVAL, more, err);
	if (!code && more)
		code = kind->read_more(lists, path, timed, err);
	mem_free(path);
	if (!code)
		return path_lists_end(lists, &list->images, err);
	path_lists_abort(lists);
	return code;
}

static bool has_images(const struct image_list *list, const char *folder)
{
	const int64_t count = list->images.base.info.count;
	const int64_t step = count > TRIES ? count / TRIES : 1;
	bool found = false;

	for (int64_t i = 0; i < count && !found; i += step) {
		const char *name = path_index_path(&list->images, i);

		found = path_has(folder, name + strspn(name, "/"));
	}
	return found;
}

static int find_folder(
	struct image_list *list, const char *said, const char *const *folders, struct err *err)
{
	char *first = NULL, *chosen = *said ? mem_text(said) : NULL;

	for (; !chosen && *folders; folders++) {
		char *folder = path_join(list->root, *folders);

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
	list->folder = first ? first : mem_text(list->root);
	return list->folder ? 0 : err_memory(err, "a path", strlen(list->root));
}

int image_list_open(struct records *records, const char *path, const struct image_list_kind *kind,
	const char *more, const char *folder, struct err *err)
{
	struct image_list *list = (struct image_list *)records;
	struct index_id id = {
		.kind = kind->name, .version = PATH_INDEX_VERSION, .mark = MARK_NOTHING};
	int code = 0;

	id.path = list->root = path_trimmed(path);
	if (!list->root)
		return err_memory(err, "a path", strlen(path) + 1);
	for (const struct image_list_part *p = kind->parts; p->name; p++) {
		id.mark = mark_file(id.mark, list->root, p->paths);
		id.mark = mark_file(id.mark, list->root, p->labels);
		id.mark = mark_file(id.mark, list->root, p->times);
		id.mark = mark_file(id.mark, list->root, p->users);
	}
	id.mark = mark_file(id.mark, list->root, more);
	if (!path_index_find(&list->images, &id))
		code = make_index(list, kind, more, &id, err);
	return code ? code : find_folder(list, folder, kind->folders, err);
}

void image_list_close(struct records *records)
{
	struct image_list *list = (struct image_list *)records;

	index_file_release(&list->images.file);
	mem_free(list->root);
	mem_free(list->folder);
}

void image_list_where(const struct records *records, int64_t i, char *out, size_t size)
{
	const struct image_list *list = (const struct image_list *)records;
	const char *path = path_index_path(&list->images, i);

	snprintf(out, size, "%s/%s", list->folder, path + strspn(path, "/"));
}

int image_list_path(struct records *records, int64_t i, char *out, size_t size, struct err *err)
{
	image_list_where(records, i, out, size);
	return 0;
}

int64_t image_list_user(const struct records *records, int64_t i)
{
	return ((const struct image_list *)records)->images.users[i];
}

int image_list_read(struct records *records, int64_t i, struct record_bytes *bytes, struct err *err)
{
	char path[PATH_MAX + PATH_LONGEST];

	image_list_where(records, i, path, sizeof(path));
	return mapped_read_whole(path, RECORD_IMAGE_MOST, bytes, err);
}
