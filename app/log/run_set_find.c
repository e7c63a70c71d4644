/* Finding run folders, in the order in which a report shows them. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"
#include "base/os.h"
#include "base/paths.h"
#include "log/run_set_impl.h"

enum { DEPTH_MOST = 4, FOUND_MOST = 4 * RUN_SET_MOST, COMPARE_MOST = 1 << 26 };

static int search_folder(struct run_search *search, const char *path, int depth, struct err *err);

static int found_one(struct run_search *search, const char *path, struct err *err)
{
	if (search->count == RUN_SET_MOST)
		return err_set(err, ERR_INPUT, "%s: more than %d runs are too many for a report",
			path, RUN_SET_MOST);
	search->found[search->count] = arena_text(search->arena, path);
	if (!search->found[search->count])
		return err_memory(err, "a path", strlen(path));
	search->count++;
	return 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return os_compare_versions((*a)->d_name, (*b)->d_name);
}

static int not_hidden(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && strcmp(entry->d_name, "checkpoint") != 0;
}

static int search_below(struct run_search *search, const char *path, int depth, struct err *err)
{
	struct dirent **names;
	const int count = scandir(path, &names, not_hidden, by_name);
	int code = 0;

	if (count < 0)
		return err_set(err, ERR_FILE, "%s: %s", path, strerror(errno));
	for (int i = 0; i < count; i++) {
		char *below = path_join(path, names[i]->d_name);

		if (!code && !below)
			code = err_memory(err, "a path", strlen(path));
		if (!code && path_is_folder(below))
			code = search_folder(search, below, depth + 1, err);
		mem_free(below);
		free(names[i]);
	}
	free(names);
	return code;
}

static int search_folder(struct run_search *search, const char *path, int depth, struct err *err)
{
	if (run_log_here(path))
		return found_one(search, path, err);
	if (depth == DEPTH_MOST || search->looked++ > FOUND_MOST)
		return 0;
	return search_below(search, path, depth, err);
}

/* Where a comparison names a folder below it, or after all that it names. */
static size_t rank_of(const struct jvalue *runs, const char *folder)
{
	for (size_t i = 0; i < jvalue_count(runs); i++) {
		const char *name = jvalue_text(jvalue_find(jvalue_at(runs, i), "folder"));

		if (name && !strcmp(name, folder))
			return i;
	}
	return jvalue_count(runs);
}

/* By insertion: there are few, and those of equal rank keep their order. */
static void sort_found(
	const struct run_search *search, int first, const struct jvalue *runs, size_t length)
{
	size_t ranks[RUN_SET_MOST];

	for (int i = first; i < search->count; i++) {
		const char *moving = search->found[i];
		const size_t rank = rank_of(runs, moving + length);
		int to = i;

		for (; to > first && rank < ranks[to - 1]; to--) {
			search->found[to] = search->found[to - 1];
			ranks[to] = ranks[to - 1];
		}
		search->found[to] = moving;
		ranks[to] = rank;
	}
}

/*
 * retain compare says in compare.json which of its variants comes first. Where that
 * cannot be read the order of names is as good, so only want of memory is an error.
 */
static int order_found(
	const struct run_search *search, int first, const char *path, struct err *err)
{
	const size_t length = strlen(path) + (path[strlen(path) - 1] != '/');
	struct jvalue *root = NULL;
	char *file = path_join(path, "compare.json"), *bytes = NULL;
	size_t size;
	int code = file ? file_read(file, COMPARE_MOST, &bytes, &size, err)
			: err_memory(err, "a path", strlen(path));

	if (!code)
		code = jvalue_read(&root, bytes, size, file, err);
	if (!code)
		sort_found(search, first, jvalue_find(root, "runs"), length);
	jvalue_free(root);
	mem_free(bytes);
	mem_free(file);
	return code == ERR_MEMORY ? code : 0;
}

int run_search_path(struct run_search *search, const char *path, struct err *err)
{
	const int before = search->count;
	struct stat found;
	int code;

	if (!*path || stat(path, &found))
		return err_set(err, ERR_INPUT, "%s: %s", path, strerror(*path ? errno : ENOENT));
	if (!S_ISDIR(found.st_mode))
		return err_set(err, ERR_INPUT, "%s: not a folder; a run is a folder", path);
	code = search_folder(search, path, 0, err);
	if (!code && search->count == before)
		return err_set(err, ERR_INPUT,
			"%s: holds no run: there is no config.ini in it or in a folder below",
			path);
	/* Alone, the run is the path itself. */
	return code || search->count == before + 1 ? code : order_found(search, before, path, err);
}
