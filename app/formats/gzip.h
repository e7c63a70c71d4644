/* gzip as HTTP has it: bodies that arrive in pieces, and answers. gunzip.h unpacks whole files. */
#ifndef RETAIN_FORMATS_GZIP_H
#define RETAIN_FORMATS_GZIP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/text.h"

enum {
	GZIP_PIECE = 16 << 10,
	GZIP_MEMORY = 64 << 10, /* bytes that a reader takes, at most */
};

struct gzip_reader;

struct gzip_reader *gzip_reader_new(void); /* NULL: out of memory */
void gzip_reader_free(struct gzip_reader *reader);

/*
 * Gives the reader the next bytes, and takes what they unpack to piece by piece, until *got is 0.
 * ERR_FORMAT: it is not gzip, or more than one member.
 */
void gzip_reader_give(struct gzip_reader *reader, const void *bytes, size_t size);
int gzip_reader_take(
	struct gzip_reader *reader, char piece[GZIP_PIECE], size_t *got, struct err *err);

/* Whether all of it has come, and its checksum was right. */
bool gzip_reader_whole(const struct gzip_reader *reader);

/* Packs quickly rather than well. False, and `out` is as it was: not worth it, or out of memory. */
bool gzip_pack(const void *bytes, size_t size, struct text *out);

#endif
