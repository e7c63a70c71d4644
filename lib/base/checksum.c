/* zlib's CRC-32. */
#include "base/checksum.h"

#include <zlib.h>

uint32_t checksum_add(uint32_t before, const void *data, size_t size)
{
	/* zlib takes a NULL for "start anew", which an empty array may well be. */
	return size ? (uint32_t)crc32_z(before, data, size) : before;
}
