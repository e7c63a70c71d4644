/*
 * A file of data, opened once. While its kind of records opens it, it can be read as
 * one array of bytes; afterwards pieces of it are copied.
 *
 * The file's size is taken at open and everything is checked against it. A copy from
 * a file that has been cut short or written anew since is an error, never a crash.
 * Only while the array is read (indexes are built) the file must not be cut short:
 * the system ends a process that touches a mapped page that no longer exists. To
 * replace data that is in use, write another file and rename it.
 */
#ifndef RETAIN_FORMATS_MAPPED_H
#define RETAIN_FORMATS_MAPPED_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "formats/record_bytes.h"

struct mapped {
	char *path;
	const unsigned char *data; /* until mapped_looked; never NULL while open */
	size_t size;
	int64_t changed; /* when the file last was, in nanoseconds */
	int file;        /* -1: data was unpacked into memory */
	size_t reserved; /* what munmap wants */
};

/* The most that a gzipped file may unpack to in memory. */
#define MAPPED_UNPACK ((size_t)2 << 30)

/*
 * Opens a plain file, which may be empty. A gzipped file is unpacked into memory, up
 * to `unpack` bytes; if unpack is 0, it is shown as it is. mapped_close accepts a
 * struct whose open failed, and a zeroed one.
 */
int mapped_open(struct mapped *mapped, const char *path, size_t unpack, struct err *err);
void mapped_close(struct mapped *mapped);

/*
 * Ends the time in which the array may be read, and gives back its memory and address
 * space. What was unpacked stays.
 */
void mapped_looked(struct mapped *mapped);

/*
 * The same; a file of at most `most` bytes stays in memory, so that its copies are fast and
 * always alike.
 */
int mapped_keep(struct mapped *mapped, size_t most, struct err *err);

/* Copies bytes at .. at+size-1. Several threads may call it at a time. */
int mapped_copy(const struct mapped *mapped, uint64_t at, size_t size, void *out, struct err *err);

/* The same into a record's bytes. */
int mapped_record(const struct mapped *mapped, uint64_t at, size_t size, struct record_bytes *bytes,
	struct err *err);

/* Both for a file that is not kept open. `most` bounds what a whole file may have. */
int mapped_read_part(
	const char *path, uint64_t at, size_t size, struct record_bytes *bytes, struct err *err);
int mapped_read_whole(const char *path, size_t most, struct record_bytes *bytes, struct err *err);

#endif
