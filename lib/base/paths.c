/* Paths are text; only path_exists, path_is_folder and path_has access the disk. */
#include "base/paths.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/mem.h"

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

bool path_has(const char *folder, const char *name)
{
	char *path = path_join(folder, name);
	const bool found = path && path_exists(path);

	mem_free(path);
	return found;
}

char *path_trimmed(const char *path)
{
	char *trimmed = mem_text(path);

	for (size_t size = strlen(path); trimmed && size > 1 && path[size - 1] == '/'; size--)
		trimmed[size - 1] = '\0';
	return trimmed;
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
