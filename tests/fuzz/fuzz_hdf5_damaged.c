/*
 * Damaged HDF5 files: zeros follow the input, so that files with much room in them are
 * small inputs. libhdf5 does not survive many of these, which must not show. Each is
 * read in a process of its own, as by the program, so this target is slow.
 */
#include <fcntl.h>
#include <hdf5.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "formats/hdf5_lists.h"
#include "fuzz.h"

enum { FILE_SIZE = 8192, VALUES_MOST = 1 << 15, BUSY_MOST = 100000 /* microseconds */ };

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

static int nowhere;
static bool apart;

/* Its time is short: a file that keeps it busy would keep the fuzzer busy, too. */
static void hush(void)
{
	apart = true;
	dup2(nowhere, STDERR_FILENO);
	setrlimit(RLIMIT_CPU, &(struct rlimit){1, 1});
	setitimer(ITIMER_VIRTUAL, &(struct itimerval){.it_value = {.tv_usec = BUSY_MOST}}, NULL);
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(NULL);
}

/* AddressSanitizer calls this before it looks up where it was, which takes longer than all else. */
void __asan_on_error(void);
void __asan_on_error(void)
{
	if (apart)
		_exit(1);
}

/* What libhdf5 does once is done once, and not by each process. */
static bool begin(void)
{
	nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	fuzz_check(nowhere >= 0 && H5open() >= 0);
	return !pthread_atfork(NULL, NULL, hush);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t file[FILE_SIZE];
	static bool begun;
	struct seen seen = {0};
	struct err err = {0};

	if (!begun)
		fuzz_check(begun = begin());
	if (size > FILE_SIZE)
		return 0;
	memcpy(file, data, size);
	memset(file + size, 0, FILE_SIZE - size);
	if (hdf5_list_read(fuzz_file("any.h5", file, FILE_SIZE), "a", see, &seen, &err))
		fuzz_check(err.code < 0 && *err.message);
	return 0;
}
