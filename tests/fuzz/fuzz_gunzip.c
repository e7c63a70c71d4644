/* Packed files: gzip and, where the build has them, zstd, xz and bzip2. */

#include "formats/gunzip.h"
#include "formats/packed.h"
#include "base/mem.h"
#include "fuzz.h"

enum { MOST = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = {0};
	unsigned char *out;
	const struct packed_type *type = packed_find(data, size);
	size_t out_size;

	if ((type ? packed_unpack : gunzip)("a file", data, size, MOST, &out, &out_size, &err)) {
		fuzz_check(err.code < 0 && *err.message);
		return 0;
	}
	fuzz_check(type && out_size <= MOST);
	mem_free(out);
	return 0;
}
