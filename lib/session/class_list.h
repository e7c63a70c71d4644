/*
 * The names of classes, by label. A class may have none. A name has one label; labels of new
 * names follow one another.
 */
#ifndef RETAIN_SESSION_CLASS_LIST_H
#define RETAIN_SESSION_CLASS_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* The longest name, in bytes. */
enum { CLASS_NAME = 500 };

/* A zeroed one is empty. */
struct class_list {
	char **names; /* [count]; NULL: without a name */
	size_t count, room;
	int32_t *table; /* labels + 1 by a hash of their names; 0: empty */
	size_t places;  /* of the table: a power of two, at least twice the count */
};

void class_list_release(struct class_list *list);

/* Refuses what can be no name: what is empty, too long or no UTF-8 (ERR_INPUT). */
int class_list_check(const char *name, struct err *err);

/* The label of a name; -1: there is none. */
int32_t class_list_find(const struct class_list *list, const char *name);

/* NULL: the class has no name. Lives as long as the list. */
const char *class_list_name(const struct class_list *list, int32_t label);

/*
 * Gives a label that is not in the list a name, which no other has; NULL: none. Labels
 * between have none.
 */
int class_list_add(struct class_list *list, int32_t label, const char *name, struct err *err);

#endif
