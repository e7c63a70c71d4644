/*
 * Damaged HDF5 files: zeros follow the input, so that files with much room in them are
 * small inputs. libhdf5 does not survive many of these, which must not show. Each is
 * read in a process of its own, as by the program, so this target is slow.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "formats/hdf5_lists.h"
#include "fuzz.h"

enum { FILE_SIZE = 8192, VALUES_MOST = 1 << 15 };

struct seen {
	uint64_t values, sum;
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

/* The process that libhdf5 works in may die as it likes: it tells neither the fuzzer nor the user. */
extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void hush(void)
{
	const int nowhere = open("/dev/null", O_WRONLY);

	dup2(nowhere, STDERR_FILENO);
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t file[FILE_SIZE];
	static bool hushed;
	struct seen seen = {0};
	struct err err = {0};

	if (!hushed)
		fuzz_check(!pthread_atfork(NULL, NULL, hush));
	hushed = true;
	if (size > FILE_SIZE)
		return 0;
	memcpy(file, data, size);
	memset(file + size, 0, FILE_SIZE - size);
	if (hdf5_list_read(fuzz_file("any.h5", file, FILE_SIZE), "a", see, &seen, &err))
		fuzz_check(err.code < 0 && *err.message);
	return 0;
}
