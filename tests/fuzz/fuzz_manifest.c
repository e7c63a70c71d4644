/* Images that a CSV file names. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct options *options;

	if (!options) {
		options = fuzz_records_options(NULL);
		fuzz_mapped("a.jpg", "image", 5);
	}
	fuzz_records("manifest", fuzz_mapped("list.csv", data, size), options);
	return 0;
}
