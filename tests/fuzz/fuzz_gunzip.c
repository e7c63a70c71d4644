/* Gzip files. */

#include "formats/gunzip.h"
#include "base/mem.h"
#include "fuzz.h"

enum { MOST = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = {0};
	unsigned char *out;
	size_t out_size;

	if (gunzip("a file", data, size, MOST, &out, &out_size, &err)) {
		fuzz_check(err.code < 0 && *err.message);
		return 0;
	}
	fuzz_check(gunzip_begins(data, size) && out_size <= MOST);
	mem_free(out);
	return 0;
}
