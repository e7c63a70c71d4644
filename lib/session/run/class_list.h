/*
 * Class names by label. A class may be unnamed. Names are unique; new names get consecutive
 * labels.
 */
#ifndef RETAIN_SESSION_RUN_CLASS_LIST_H
#define RETAIN_SESSION_RUN_CLASS_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* The longest name, in bytes. */
enum { CLASS_NAME = 500 };

/* Zeroed: empty. */
struct class_list {
	char **names; /* [count]; NULL: unnamed */
	size_t count, room;
	int32_t *table; /* hash table of label + 1; 0: empty */
	size_t places;  /* slots of the table: a power of two, at least twice the count */
};

void class_list_release(struct class_list *list);

/* Rejects names that are empty, too long or not UTF-8 (ERR_INPUT). */
int class_list_check(const char *name, struct err *err);

/* The label of a name; -1 if unknown. */
int32_t class_list_find(const struct class_list *list, const char *name);

/* NULL: unnamed. Lives as long as the list. */
const char *class_list_name(const struct class_list *list, int32_t label);

/*
 * Adds a label that is not in the list with a name that is not in it either; NULL: unnamed.
 * Labels skipped over are unnamed.
 */
int class_list_add(struct class_list *list, int32_t label, const char *name, struct err *err);

#endif
