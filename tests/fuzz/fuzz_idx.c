/* MNIST's two files: two bytes say how many of the rest are images, then come labels. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path;
	size_t images;

	if (size < 2)
		return 0;
	images = (size_t)data[0] | (size_t)data[1] << 8;
	data += 2;
	size -= 2;
	if (images > size)
		images = size;
	path = fuzz_mapped("train-images-idx3-ubyte", data, images);
	fuzz_mapped("train-labels-idx1-ubyte", data + images, size - images);
	fuzz_records("idx", path, NULL);
	return 0;
}
