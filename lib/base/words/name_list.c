/* A sort moves only the offsets of names, never their bytes. */
#include "base/words/name_list.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/mem.h"
#include "base/os.h"

int name_list_add(struct name_list *list, const char *word, size_t size, struct err *err)
{
	if (!grow_room(&list->bytes, &list->room, list->size + size + 1, 1) ||
		!grow_room(
			&list->starts, &list->starts_room, list->count + 1, sizeof(*list->starts)))
		return err_memory(err, "a list of names", list->size + size + 1);
	memcpy(list->bytes + list->size, word, size);
	list->bytes[list->size + size] = '\0';
	list->starts[list->count++] = list->size;
	list->size += size + 1;
	return 0;
}

const char *name_list_at(const struct name_list *list, size_t i)
{
	return list->bytes + list->starts[i];
}

static int compare(const void *a, const void *b, void *words)
{
	return strcmp((char *)words + *(const size_t *)a, (char *)words + *(const size_t *)b);
}

void name_list_sort(struct name_list *list)
{
	if (list->count)
		os_sort(list->starts, list->count, sizeof(*list->starts), compare, list->bytes);
}

long name_list_find(const struct name_list *list, const char *word, size_t size)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const char *name = name_list_at(list, middle);
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

void name_list_release(struct name_list *list)
{
	mem_free(list->bytes);
	mem_free(list->starts);
	*list = (struct name_list){0};
}

int name_list_of_folder(struct name_list *list, const char *folder, struct err *err)
{
	DIR *open = opendir(folder);
	struct dirent *entry = NULL;
	int code = 0;

	if (!open)
		return err_set(
			err, ERR_FILE, "%s: cannot open the folder: %s", folder, strerror(errno));
	for (errno = 0; !code && (entry = readdir(open)); errno = 0)
		if (*entry->d_name != '.')
			code = name_list_add(list, entry->d_name, strlen(entry->d_name), err);
	if (!code && errno)
		code = err_set(
			err, ERR_FILE, "%s: cannot read the folder: %s", folder, strerror(errno));
	closedir(open);
	if (!code)
		name_list_sort(list);
	return code;
}
