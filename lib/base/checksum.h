/* CRC-32 as in zlib, PNG and gzip: detects damaged files. */
#ifndef RETAIN_BASE_CHECKSUM_H
#define RETAIN_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Extends a checksum (0 initially) by these bytes. */
uint32_t checksum_add(uint32_t before, const void *data, size_t size);

#endif
