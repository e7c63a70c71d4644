/* Shared by gzip.c and gunzip.c, the only files that unpack by zlib. */
#ifndef RETAIN_FORMATS_GZIP_IMPL_H
#define RETAIN_FORMATS_GZIP_IMPL_H

#include <zlib.h>

/* Begins to unpack gzip, for inflateEnd; zlib's own memory comes from base/mem.h. Z_OK, or not. */
int gzip_begin(z_stream *stream);

#endif
