/* A list of names: files in a folder, classes, archives. */
#ifndef RETAIN_BASE_WORDS_NAME_LIST_H
#define RETAIN_BASE_WORDS_NAME_LIST_H

#include <stddef.h>

#include "base/err.h"

/* Zeroed: empty. */
struct name_list {
	char *bytes;    /* the names in insertion order, each with its NUL */
	size_t *starts; /* of each name in bytes, in the list's order */
	size_t count, size, room, starts_room;
};

int name_list_add(struct name_list *list, const char *name, size_t size, struct err *err);
const char *name_list_at(const struct name_list *list, size_t i);
void name_list_sort(struct name_list *list); /* by bytes */
/* The index of a name in a sorted list, or -1. */
long name_list_find(const struct name_list *list, const char *name, size_t size);
void name_list_release(struct name_list *list);

/* Adds a folder's entries, sorted by bytes; names that begin with a dot are skipped. */
int name_list_of_folder(struct name_list *list, const char *folder, struct err *err);

#endif
