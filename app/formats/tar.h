/*
 * Members of a tar archive: ustar, GNU's long names and links, pax paths, links and sizes. A pure
 * function of its bytes: for any input, results lie within them.
 */
#ifndef RETAIN_FORMATS_TAR_H
#define RETAIN_FORMATS_TAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TAR_BLOCK = 512, TAR_NAME = 1024 };

/* Reading position. Initially zeroed. */
struct tar_cursor {
	size_t at;
	const char *why; /* the error, after tar_next has returned -1 */
};

/* TAR_OTHER: a device, a pipe, a sparse file (GNU), or an unknown type. */
enum tar_type { TAR_NONE, TAR_FILE, TAR_HARD_LINK, TAR_SYMBOLIC_LINK, TAR_OTHER };

struct tar_member {
	enum tar_type type;
	char name[TAR_NAME]; /* without a leading ./ */
	char link[TAR_NAME]; /* where a link leads */
	size_t at, size;     /* of its bytes; `at` is a multiple of TAR_BLOCK */
};

/*
 * Finds the next member: 1, 0 after the last one, -1 with cursor->why if the archive is damaged
 * at cursor->at. Folders are skipped.
 */
int tar_next(struct tar_cursor *cursor, const unsigned char *bytes, size_t size,
	struct tar_member *member);

/* The block that precedes a regular file's bytes; false: its name or size is beyond what ustar has. */
bool tar_head(unsigned char block[TAR_BLOCK], const char *name, uint64_t size);

#endif
