/*
 * Batches by threads: the same on any number of them, guesses or not, right or
 * wrong; and errors come from the first place that fails.
 */
#include "streams/loader.h"

#include <stdatomic.h>
#include <unistd.h>

#include "check.h"

enum { FLOATS = 3, N = 100, MODE = 1 };

static _Atomic int made_count;

/* A number that tells iteration, place and id apart; ids from 1000 on cannot be made. */
static int make(void *context, int worker, const struct loader_job *job, int place, float *out,
	struct err *err)
{
	const int workers = *(const int *)context;

	assert_true(worker >= 0 && worker < workers);
	made_count++;
	if (job->ids[place] >= 1000)
		return err_set(err, ERR_FORMAT, "place %d", place);
	for (int f = 0; f < FLOATS; f++)
		out[f] = (float)(job->ids[place] * 1000 + place) + 0.25f * (float)f +
			 100000.0f * (float)job->iteration;
	return 0;
}

static struct loader *loader_with(int threads, int *workers)
{
	struct loader_config config = {
		.threads = threads, .ahead = 2, .floats = FLOATS, .make = make, .context = workers};
	struct loader *loader;
	struct err err = {0};

	*workers = threads + 1;
	if (loader_new(&loader, &config, &err))
		fail_msg("%s", err.message);
	return loader;
}

static void fill_ids(int64_t *ids, int64_t from)
{
	for (int i = 0; i < N; i++)
		ids[i] = (from + 7 * i) % 900;
}

static void get_and_check(struct loader *loader, uint64_t iteration, int64_t from)
{
	static float out[N * FLOATS];
	int64_t ids[N];
	const struct loader_job job = {MODE, iteration, ids, N};
	struct err err = {0};

	fill_ids(ids, from);
	if (loader_get(loader, &job, out, &err))
		fail_msg("%s", err.message);
	for (int i = 0; i < N; i++)
		for (int f = 0; f < FLOATS; f++)
			assert_true(out[i * FLOATS + f] == (float)(ids[i] * 1000 + i) +
								   0.25f * (float)f +
								   100000.0f * (float)iteration);
}

static void expect_batch(struct loader *loader, uint64_t iteration, int64_t from)
{
	int64_t ids[N];

	fill_ids(ids, from);
	loader_expect(loader, &(struct loader_job){MODE, iteration, ids, N});
}

static void batches_are_the_same_on_any_number_of_threads(void **state)
{
	for (int threads = 0; threads <= 4; threads++) {
		int workers;
		struct loader *loader = loader_with(threads, &workers);

		for (uint64_t k = 1; k < 50; k++)
			get_and_check(loader, k, (int64_t)(13 * k));
		loader_free(loader);
	}
}

static void right_guesses_are_used(void **state)
{
	int workers;
	struct loader *loader = loader_with(2, &workers);

	made_count = 0;
	expect_batch(loader, 1, 5);
	expect_batch(loader, 2, 6);
	while (made_count < 2 * N) /* in the background */
		usleep(100);
	get_and_check(loader, 1, 5);
	get_and_check(loader, 2, 6);
	assert_int_equal(made_count, 2 * N);
	loader_free(loader);
}

/* Whatever is guessed, and whenever, what is asked for is what comes. */
static void wrong_guesses_do_no_harm(void **state)
{
	int workers;
	struct loader *loader = loader_with(3, &workers);

	for (uint64_t k = 1; k < 300; k++) {
		expect_batch(loader, k + 1, k % 3 ? (int64_t)(k + 1) : 0);
		expect_batch(loader, k + 2, 11);
		expect_batch(loader, k + 3, 12);
		get_and_check(loader, k, (int64_t)k);
	}
	loader_free(loader);
}

static void the_first_failure_is_told(void **state)
{
	int workers;
	struct loader *loader = loader_with(0, &workers);
	static float out[N * FLOATS];
	int64_t ids[N] = {0};
	struct err err = {0};

	ids[42] = ids[77] = 1000;
	assert_int_equal(
		loader_get(loader, &(struct loader_job){MODE, 1, ids, N}, out, &err), ERR_FORMAT);
	assert_string_equal(err.message, "place 42");
	get_and_check(loader, 2, 3);
	loader_free(loader);
	loader = loader_with(2, &workers);
	loader_expect(loader, &(struct loader_job){MODE, 1, ids, N});
	assert_int_equal(
		loader_get(loader, &(struct loader_job){MODE, 1, ids, N}, out, &err), ERR_FORMAT);
	get_and_check(loader, 2, 3);
	loader_free(loader);
	loader_free(NULL);
}

static int attempt(void *context, struct err *err)
{
	struct loader_config config = {
		.threads = 1, .ahead = 2, .floats = FLOATS, .make = make, .context = context};
	struct loader *loader;
	const int code = loader_new(&loader, &config, err);

	loader_free(loader);
	return code;
}

static void memory_may_run_out(void **state)
{
	int workers = 2;

	assert_true(each_allocation_fails(attempt, &workers) >= 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(batches_are_the_same_on_any_number_of_threads),
		cmocka_unit_test(right_guesses_are_used),
		cmocka_unit_test(wrong_guesses_do_no_harm),
		cmocka_unit_test(the_first_failure_is_told),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
