/* Paths are text; only path_exists, path_is_folder and names_of_folder look at the disk. */
#define _GNU_SOURCE 1
#include "base/paths.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/grow.h"

bool path_exists(const char *path)
{
	struct stat found;

	return !stat(path, &found);
}

bool path_is_folder(const char *path)
{
	struct stat found;

	return !stat(path, &found) && S_ISDIR(found.st_mode);
}

const char *path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *path_join(const char *folder, const char *name)
{
	const size_t before = strlen(folder), after = strlen(name);
	const bool slash = before && after && folder[before - 1] != '/';
	char *path;

	if (*name == '/' || !before)
		return mem_text(name);
	path = mem_new(before + slash + after + 1, 1);
	if (!path)
		return NULL;
	memcpy(path, folder, before);
	if (slash)
		path[before] = '/';
	memcpy(path + before + slash, name, after + 1);
	return path;
}

char *path_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = mem_text(slash ? path : ".");

	if (folder && slash)
		folder[slash == path ? 1 : slash - path] = '\0';
	return folder;
}

bool path_ends(const char *path, const char *end)
{
	const size_t size = strlen(path), tail = strlen(end);

	return size >= tail && !strcasecmp(path + size - tail, end);
}

bool path_is_image(const char *path)
{
	return path_ends(path, ".jpg") || path_ends(path, ".jpeg") || path_ends(path, ".png");
}

int names_add(struct names *names, const char *word, size_t size, struct err *err)
{
	if (!grow_room(&names->words, &names->room, names->size + size + 1, 1) ||
		!grow_room(&names->starts, &names->starts_room, names->count + 1,
			sizeof(*names->starts)))
		return err_memory(err, "a list of names", names->size + size + 1);
	memcpy(names->words + names->size, word, size);
	names->words[names->size + size] = '\0';
	names->starts[names->count++] = names->size;
	names->size += size + 1;
	return 0;
}

const char *names_at(const struct names *names, size_t i)
{
	return names->words + names->starts[i];
}

static int compare(const void *a, const void *b, void *words)
{
	return strcmp((char *)words + *(const size_t *)a, (char *)words + *(const size_t *)b);
}

void names_sort(struct names *names)
{
	if (names->count)
		qsort_r(names->starts, names->count, sizeof(*names->starts), compare, names->words);
}

long names_find(const struct names *names, const char *word, size_t size)
{
	size_t low = 0, high = names->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const char *name = names_at(names, middle);
		const size_t length = strlen(name), least = length < size ? length : size;
		int order = memcmp(name, word, least);

		if (!order)
			order = (length > size) - (length < size);
		if (!order)
			return (long)middle;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return -1;
}

void names_release(struct names *names)
{
	mem_free(names->words);
	mem_free(names->starts);
	*names = (struct names){0};
}

int names_of_folder(struct names *names, const char *folder, struct err *err)
{
	DIR *open = opendir(folder);
	struct dirent *entry = NULL;
	int code = 0;

	if (!open)
		return err_set(
			err, ERR_FILE, "%s: cannot open the folder: %s", folder, strerror(errno));
	for (errno = 0; !code && (entry = readdir(open)); errno = 0)
		if (*entry->d_name != '.')
			code = names_add(names, entry->d_name, strlen(entry->d_name), err);
	if (!code && errno)
		code = err_set(
			err, ERR_FILE, "%s: cannot read the folder: %s", folder, strerror(errno));
	closedir(open);
	if (!code)
		names_sort(names);
	return code;
}
