/* One value of a list that a file holds, as hdf5_lists.h and torch_save.h hand them out. */
#ifndef RETAIN_FORMATS_LIST_VALUE_H
#define RETAIN_FORMATS_LIST_VALUE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum list_kind { LIST_WHOLE, LIST_REAL, LIST_TEXT };

struct list_value {
	enum list_kind kind;
	int64_t whole;
	double real;
	const char *text; /* of size bytes, without a NUL; valid during the visit */
	size_t size;
};

/*
 * Is given the values in their order. A failure ends the list; its sentence says what
 * is wrong with the value, and the reader of the list puts file and place before it.
 */
typedef int list_visit(void *self, const struct list_value *value, struct err *err);

#endif
