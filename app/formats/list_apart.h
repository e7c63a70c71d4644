/*
 * Lists from readers that may not survive what they read. Libraries for very general
 * formats crash on damaged files. So such a reader works in a process of its own, a
 * copy of this one, and sends what it finds. If it dies, that is an ordinary error.
 */
#ifndef RETAIN_FORMATS_LIST_APART_H
#define RETAIN_FORMATS_LIST_APART_H

#include "base/err.h"
#include "formats/list_value.h"

/* Hands all values of a list to `visit`, and returns its first failure as it is. */
typedef int list_reader(void *job, list_visit *visit, void *self, struct err *err);

/*
 * Calls `read` in the other process, and hands the values to `visit` in this one.
 * Messages name the path, and the value if one is at fault. The reader must not wait
 * for other threads, which do not exist there; what it changes is not seen here.
 */
int list_apart(const char *path, list_reader *read, void *job, list_visit *visit, void *self,
	struct err *err);

#endif
