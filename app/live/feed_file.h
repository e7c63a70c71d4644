/* Files as lines for a feed: descriptors, or a negative code. */
#ifndef RETAIN_LIVE_FEED_FILE_H
#define RETAIN_LIVE_FEED_FILE_H

#include <stddef.h>

#include "base/err.h"

/* A table in JSON (formats/json_rows.h) becomes rows of CSV; a packed file is unpacked. */
int feed_file(const char *path, struct err *err);

/* Bytes, which are copied. Messages begin with `name`. */
int feed_bytes(const char *name, const void *bytes, size_t size, struct err *err);

#endif
