/* Where members of a ZIP archive lie that are stored without compression. A pure function. */
#ifndef RETAIN_FORMATS_ZIP_H
#define RETAIN_FORMATS_ZIP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct zip_member {
	size_t at, size; /* of its bytes in the archive */
};

bool zip_begins(const unsigned char *bytes, size_t size);

/*
 * Finds the first member whose name, after its first folder, is `name`: "data.pkl"
 * finds "archive/data.pkl". 0: found; 1: there is none.
 */
int zip_find(struct zip_member *member, const unsigned char *bytes, size_t size, const char *name,
	struct err *err);

#endif
