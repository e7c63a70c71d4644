/*
 * Lists from readers that may not survive what they read. Libraries for formats of
 * great generality do not withstand damaged files; so such a reader works in a process
 * of its own, a copy of this one, and sends what it finds. If it dies, that is an error
 * that can be told.
 */
#ifndef RETAIN_FORMATS_LIST_APART_H
#define RETAIN_FORMATS_LIST_APART_H

#include "base/err.h"
#include "formats/list_value.h"

/* Hands all values of a list to `visit`, and returns its first failure as it is. */
typedef int list_reader(void *job, list_visit *visit, void *self, struct err *err);

/*
 * Has `read` read in the other process, and hands the values to `visit` in this one.
 * Messages name the path, and the value where it is one's fault. The reader may not
 * expect that other threads go on, and changes nothing that is seen here.
 */
int list_apart(const char *path, list_reader *read, void *job, list_visit *visit, void *self,
	struct err *err);

#endif
