/*
 * CIFAR's binary files. The first byte says which of the two it is, the next two how
 * large the file is, at most three records; its bytes are the rest, over and over, so that
 * inputs can be small.
 */
#include <stdlib.h>

#include "fuzz.h"

enum { FILE_MOST = 3 * 3074 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t file_size;
	uint8_t *file;

	if (size < 4)
		return 0;
	file_size = (size_t)data[1] | (size_t)data[2] << 8;
	if (file_size > FILE_MOST)
		return 0;
	file = malloc(file_size + 1);
	fuzz_check(file);
	for (size_t i = 0; i < file_size; i++)
		file[i] = data[3 + i % (size - 3)];
	fuzz_records("cifar",
		fuzz_mapped(data[0] % 2 ? "train.bin" : "data_batch_1.bin", file, file_size), NULL);
	free(file);
	return 0;
}
