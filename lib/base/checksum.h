/* CRC-32 as zlib, PNG and gzip have it: tells a damaged file from a whole one. */
#ifndef RETAIN_BASE_CHECKSUM_H
#define RETAIN_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of what came before (0 for nothing) followed by these bytes. */
uint32_t checksum_add(uint32_t before, const void *data, size_t size);

#endif
