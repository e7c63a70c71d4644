/*
 * Packed files: gzip, zstd, xz and bzip2, told by their first bytes. Which of the last three can
 * be read depends on the libraries that the build found; the others are refused by name.
 */
#ifndef RETAIN_FORMATS_PACKED_H
#define RETAIN_FORMATS_PACKED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct packed_type {
	const char *name, *ending; /* "zstd", ".zst" */
	const char *tool;          /* a command that unpacks */
	const char *magic;         /* its first bytes; ? is any */
	size_t magic_size;
	/*
	 * Unpacks all of a file into memory: *out is for mem_free. Error messages begin with
	 * `name`. More than `most` bytes are an error, and so are bytes that belong to nothing.
	 * NULL: not in this build.
	 */
	int (*unpack)(const char *name, const void *data, size_t size, size_t most,
		unsigned char **out, size_t *out_size, struct err *err);
};

extern const struct packed_type packed_zstd, packed_xz, packed_bzip2;

/* The type of bytes; NULL: they are not packed. */
const struct packed_type *packed_find(const void *data, size_t size);
int packed_unpack(const char *name, const void *data, size_t size, size_t most, unsigned char **out,
	size_t *out_size, struct err *err);

/* Whether a path ends in this or in this and a packed file's ending, as .csv and .csv.zst. */
bool packed_ends(const char *path, const char *ending);

/* For rows: output that grows; packed_room makes room behind `size` for at least a byte. */
struct packed_out {
	const char *name;
	unsigned char *data;
	size_t size, room, most;
};
int packed_room(struct packed_out *out, struct err *err);
/* Hands it over; after an error, or if it is too large, frees it. */
int packed_end(
	struct packed_out *to, int code, unsigned char **out, size_t *out_size, struct err *err);

#endif
