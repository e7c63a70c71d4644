/* Images that a CSV file names. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *image;

	if (!image)
		image = fuzz_mapped("a.jpg", "image", 5);
	fuzz_records("manifest", fuzz_mapped("list.csv", data, size), NULL);
	return 0;
}
