/* NumPy's arrays: four bytes say how many of the rest are features, and how many labels; then times. */
#include "fuzz.h"

static size_t take(const uint8_t *length, size_t left)
{
	const size_t size = (size_t)length[0] | (size_t)length[1] << 8;

	return size < left ? size : left;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t features, labels;
	const uint8_t *rest;
	const char *path;

	if (size < 4)
		return 0;
	rest = data + 4;
	size -= 4;
	features = take(data, size);
	labels = take(data + 2, size - features);
	path = fuzz_mapped("x.npy", rest, features);
	fuzz_mapped("x-labels.npy", rest + features, labels);
	fuzz_mapped("x-times.npy", rest + features + labels, size - features - labels);
	fuzz_records("npy", path, NULL);
	return 0;
}
