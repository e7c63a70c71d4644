/*
 * Lists in HDF5 files: the dataset is called "a". If the first byte is even zeros follow
 * the rest, so that files with much room in them are small inputs. What libhdf5 does
 * with a file by itself is not instrumented, and only as sound as libhdf5 is.
 */
#include <string.h>

#include "data/hdf5_lists.h"
#include "fuzz.h"

enum { FILE_MOST = 8192, VALUES_MOST = 1 << 16 };

struct seen {
	unsigned values, sum;
};

static int see(void *self, const struct list_value *value, struct err *err)
{
	struct seen *seen = self;

	fuzz_check(value->kind == LIST_WHOLE || value->kind == LIST_TEXT);
	for (size_t i = 0; value->kind == LIST_TEXT && i < value->size; i++)
		seen->sum += (unsigned char)value->text[i];
	if (++seen->values > VALUES_MOST)
		return err_set(err, ERR_INPUT, "too many values");
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t file[FILE_MOST] = {0};
	struct seen seen = {0};
	struct err err = {0};
	const char *path;

	if (!size || size > FILE_MOST)
		return 0;
	memcpy(file, data + 1, size - 1);
	path = fuzz_file("lists.h5", file, data[0] % 2 ? size - 1 : sizeof(file));
	if (hdf5_list_read(path, "a", see, &seen, &err))
		fuzz_check(err.code < 0 && *err.message);
	return 0;
}
