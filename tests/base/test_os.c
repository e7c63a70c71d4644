/* What differs between systems behaves the same on this one. */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os.h"

static int by_key(const void *a, const void *b, void *keys)
{
	const int *k = keys;

	return k[*(const int *)a] - k[*(const int *)b];
}

static void sorts_with_a_context(void **state)
{
	int keys[] = {30, 10, 20}, rows[] = {0, 1, 2};

	os_sort(rows, 3, sizeof(*rows), by_key, keys);
	assert_int_equal(rows[0], 1);
	assert_int_equal(rows[1], 2);
	assert_int_equal(rows[2], 0);
}

static void names_are_compared_by_their_numbers(void **state)
{
	assert_true(os_compare_versions("fig2", "fig10") < 0);
	assert_true(os_compare_versions("fig10", "fig2") > 0);
	assert_true(os_compare_versions("fig2b", "fig2a") > 0);
	assert_int_equal(os_compare_versions("fig2", "fig2"), 0);
}

static void the_last_byte_is_found(void **state)
{
	const char text[] = "a\nb\nc";

	assert_ptr_equal(os_find_last(text, '\n', sizeof(text)), text + 3);
	assert_ptr_equal(os_find_last(text, '\n', 3), text + 1);
	assert_null(os_find_last(text, '\n', 1));
}

static void pipes_are_closed_on_exec(void **state)
{
	for (int blocks = 0; blocks < 2; blocks++) {
		int ends[2];

		assert_int_equal(os_pipe(ends, blocks), 0);
		for (int i = 0; i < 2; i++) {
			assert_true(fcntl(ends[i], F_GETFD) & FD_CLOEXEC);
			assert_int_equal(!(fcntl(ends[i], F_GETFL) & O_NONBLOCK), blocks);
			close(ends[i]);
		}
	}
}

static void a_file_without_a_name_keeps_bytes(void **state)
{
	char back[3] = "";
	const int fd = os_unnamed_file();

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "ab", 2), 2);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(read(fd, back, 2), 2);
	assert_string_equal(back, "ab");
	close(fd);
}

static void the_program_is_there(void **state)
{
	assert_non_null(os_program());
	assert_int_equal(access(os_program(), X_OK), 0);
	assert_true(os_processors() >= 1);
}

static void a_wait_ends_when_its_time_is_over(void **state)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t never;
	const double start = clock_now();
	int code = 0;

	os_condition_init(&never);
	pthread_mutex_lock(&lock);
	while (!code) /* a wake-up without cause returns 0 */
		code = os_condition_wait(&never, &lock, 0.02 - (clock_now() - start));
	pthread_mutex_unlock(&lock);
	assert_int_equal(code, ETIMEDOUT);
	assert_true(clock_now() - start >= 0.02);
	pthread_cond_destroy(&never);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sorts_with_a_context),
		cmocka_unit_test(names_are_compared_by_their_numbers),
		cmocka_unit_test(the_last_byte_is_found),
		cmocka_unit_test(pipes_are_closed_on_exec),
		cmocka_unit_test(a_file_without_a_name_keeps_bytes),
		cmocka_unit_test(the_program_is_there),
		cmocka_unit_test(a_wait_ends_when_its_time_is_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
