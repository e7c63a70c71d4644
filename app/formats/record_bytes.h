/* The bytes of one record, as a file holds them. */
#ifndef RETAIN_FORMATS_RECORD_BYTES_H
#define RETAIN_FORMATS_RECORD_BYTES_H

#include <stddef.h>

#include "base/err.h"

/* Grows as needed and is reused. Zeroed: empty. */
struct record_bytes {
	unsigned char *data;
	size_t size, capacity;
};

/* Makes room for size bytes and sets the size. */
int record_bytes_resize(struct record_bytes *bytes, size_t size, struct err *err);
void record_bytes_release(struct record_bytes *bytes);

#endif
