/*
 * Members of a tar archive: ustar, GNU's long names, pax paths and sizes. A pure
 * function of its bytes: whatever they are, what is found lies within them.
 */
#ifndef RETAIN_FORMATS_TAR_H
#define RETAIN_FORMATS_TAR_H

#include <stddef.h>
#include <stdint.h>

enum { TAR_BLOCK = 512, TAR_NAME = 1024 };

/* Where reading has come to. Begins zeroed. */
struct tar_cursor {
	size_t at;
	const char *why; /* what is wrong, after tar_next has returned -1 */
};

struct tar_member {
	char name[TAR_NAME]; /* without a leading ./ */
	size_t at, size;     /* of its bytes; `at` is a multiple of TAR_BLOCK */
};

/*
 * Finds the next plain file: 1, 0 after the last one, -1 with cursor->why if the
 * archive is damaged at cursor->at. Folders, links and what else there may be are
 * passed over.
 */
int tar_next(struct tar_cursor *cursor, const unsigned char *bytes, size_t size,
	struct tar_member *member);

#endif
