/* Unpacks whole gzip files. */
#ifndef RETAIN_FORMATS_GUNZIP_H
#define RETAIN_FORMATS_GUNZIP_H

#include <stddef.h>

#include "base/err.h"

/*
 * Unpacks all of a gzip file, of one member or several, into memory: *out is for mem_free.
 * Checksums are verified. Error messages begin with `name`. Bytes after the last member are an
 * error (ERR_FORMAT), and so are more than `most` bytes. If the size at the file's end exceeds
 * that, it is refused after the first 64 MiB; else as soon as the limit is exceeded. Memory never
 * exceeds `most`.
 */
int gunzip(const char *name, const void *data, size_t size, size_t most, unsigned char **out,
	size_t *out_size, struct err *err);

#endif
