/*
 * A data file, opened once. While its kind of records opens it, it can be read as one array of
 * bytes; afterwards parts of it are copied.
 *
 * The file's size is taken at open and everything is checked against it. A copy from a file that
 * was truncated or rewritten since is an error, never a crash. But while the array is read
 * (indexes are built) the file must not be truncated: the system kills a process that touches a
 * mapped page that no longer exists. To replace data in use, write another file and rename it.
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
	int64_t changed; /* modification time, in nanoseconds */
	int file;        /* -1: data was unpacked into memory */
	size_t reserved; /* length for munmap */
};

/* The most that a packed file may unpack to in memory. */
#define MAPPED_UNPACK ((size_t)2 << 30)

/*
 * Opens a regular file, which may be empty. A packed file (formats/packed.h) is unpacked into memory, up to
 * `unpack` bytes; if unpack is 0, its raw bytes are mapped. mapped_close accepts a struct whose
 * open failed, and a zeroed one.
 */
int mapped_open(struct mapped *mapped, const char *path, size_t unpack, struct err *err);
void mapped_close(struct mapped *mapped);

/* Puts other bytes, from base/mem.h, in place of the file's; they are mapped_close's to free. */
void mapped_replace(struct mapped *mapped, unsigned char *data, size_t size);

/* Ends access to the array and releases its memory and address space. Unpacked data stays. */
void mapped_looked(struct mapped *mapped);

/*
 * The same, but a file of at most `most` bytes stays in memory, so that copies are fast and
 * always consistent.
 */
int mapped_keep(struct mapped *mapped, size_t most, struct err *err);

/* Copies bytes at .. at+size-1. Thread-safe. */
int mapped_copy(const struct mapped *mapped, uint64_t at, size_t size, void *out, struct err *err);

/* The same into a record's bytes. */
int mapped_record(const struct mapped *mapped, uint64_t at, size_t size, struct record_bytes *bytes,
	struct err *err);

/* Both for a file that is not kept open. `most` limits the size of a whole file. */
int mapped_read_part(
	const char *path, uint64_t at, size_t size, struct record_bytes *bytes, struct err *err);
int mapped_read_whole(const char *path, size_t most, struct record_bytes *bytes, struct err *err);

#endif
