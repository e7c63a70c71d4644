/*
 * Samples that cannot be read: they count when they are given out, not when a
 * thread finds them; how many are too many; what a run that goes on knows of them.
 */
#include "../base/check.h"

#include "../base/folder.h"
#include "streams/substitutes.h"

static void list_state(void *object, struct state *state)
{
	substitutes_state(object, state);
}

static void bound(struct substitutes *list, int64_t stream, int64_t all, double most)
{
	const struct substitutes_config config = {
		.stream = stream, .all = all, .records = all, .most = most};

	substitutes_bound(list, &config);
}

static void only_what_is_given_counts(void **state)
{
	const int64_t first[] = {3, 7, 9}, second[] = {9, 2, 7};
	struct substitutes list;
	int64_t sample, by;
	const char *why;
	struct err err = {0};

	substitutes_init(&list);
	bound(&list, 8, 10, 1);
	assert_int_equal(substitutes_add(&list, 9, 8, "nine", &err), 0);
	assert_int_equal(substitutes_add(&list, 2, 1, "two", &err), 0);
	assert_int_equal(substitutes_add(&list, 7, 6, "seven", &err), 0);
	assert_int_equal(substitutes_add(&list, 7, 5, "again", &err), 0);
	assert_int_equal(substitutes_count(&list), 0);
	assert_int_equal(substitutes_tell(&list, &sample, &by, &why), 0);
	assert_int_equal(substitutes_find(&list, 7), 6);
	assert_int_equal(substitutes_find(&list, 3), 3);
	assert_int_equal(substitutes_give(&list, first, 3, &err), 0);
	assert_int_equal(substitutes_count(&list), 2);
	assert_int_equal(substitutes_tell(&list, &sample, &by, &why), 1);
	assert_int_equal(sample, 7);
	assert_int_equal(by, 6);
	assert_string_equal(why, "seven");
	assert_int_equal(substitutes_give(&list, second, 3, &err), 0);
	assert_int_equal(substitutes_tell(&list, &sample, &by, &why), 2);
	assert_int_equal(sample, 9);
	assert_int_equal(substitutes_tell(&list, &sample, &by, &why), 3);
	assert_string_equal(why, "two");
	assert_int_equal(substitutes_tell(&list, &sample, &by, &why), 0);
	substitutes_release(&list);
}

/* Up to a hundred of all samples there are; after that of those that were asked for. */
static void some_are_too_many(void **state)
{
	struct substitutes list;
	struct err err = {0};
	int64_t sample;

	substitutes_init(&list);
	bound(&list, 9000, 10000, 0.01);
	for (sample = 0; sample < 200; sample++)
		assert_int_equal(substitutes_add(&list, sample, 300, "bad", &err), 0);
	for (sample = 0; sample < 100; sample++)
		assert_int_equal(substitutes_give(&list, &sample, 1, &err), 0);
	assert_int_equal(substitutes_give(&list, &sample, 1, &err), ERR_FORMAT);
	assert_says(err, "bad; with it 101 samples could not be read");
	assert_says(err, "stream.max_bad = 0.01");
	substitutes_release(&list);

	substitutes_init(&list);
	bound(&list, 10, 10, 0.05);
	assert_int_equal(substitutes_add(&list, sample = 4, 3, "bad", &err), 0);
	assert_int_equal(substitutes_give(&list, &sample, 1, &err), ERR_FORMAT);
	substitutes_release(&list);
}

static int64_t tens(const void *context, int64_t sample)
{
	return sample % 10;
}

/* Samples 0 to 9 are records, which 10 to 19 show again. */
static void a_record_counts_once(void **state)
{
	const struct substitutes_config config = {
		.stream = 10, .all = 20, .records = 10, .most = 0.2, .record_of = tens};
	const int64_t twice[] = {13, 3, 7, 17}, more = 15;
	struct substitutes list, other;
	const char *path = in_folder("twice");
	int64_t sample, by;
	const char *why;
	struct err err = {0};

	substitutes_init(&list);
	substitutes_init(&other);
	substitutes_bound(&list, &config);
	substitutes_bound(&other, &config);
	for (int64_t i = 1; i < 20; i++)
		assert_int_equal(substitutes_add(&list, i, i - 1, "bad", &err), 0);
	assert_ok(substitutes_give(&list, twice, 4, &err), err);
	assert_int_equal(substitutes_count(&list), 2);
	assert_int_equal(substitutes_tell(&list, &sample, &by, &why), 1);
	assert_int_equal(sample, 13);
	assert_int_equal(substitutes_tell(&list, &sample, &by, &why), 2);
	assert_int_equal(sample, 7);
	assert_int_equal(substitutes_tell(&list, &sample, &by, &why), 0);
	assert_int_equal(state_save(path, list_state, &list, &err), 0);
	assert_int_equal(state_load(path, list_state, &other, &err), 0);
	assert_int_equal(substitutes_count(&other), 2);
	assert_int_equal(substitutes_find(&other, 3), 2);
	assert_int_equal(substitutes_give(&list, &more, 1, &err), ERR_FORMAT);
	assert_says(err, "with it 3 samples could not be read, which is more than the 2 that");
	substitutes_release(&list);
	substitutes_release(&other);
}

/* What was meant as a whole number is one, though its product with the share is a hair below. */
static void a_share_is_a_number_of_records(void **state)
{
	for (int64_t n = 11; n < 3000; n++)
		assert_int_equal(substitutes_share(10.0 / (double)n, n), 10);
	assert_int_equal(substitutes_share(0.29, 100), 29);
	assert_int_equal(substitutes_share(0.05, 10), 0);
	assert_int_equal(substitutes_share(1, 7), 7);
	assert_int_equal(substitutes_share(0, 7), 0);
}

/* Loaded, the list knows what was given out, and nothing of what came after. */
static void a_list_is_kept(void **state)
{
	const int64_t early[] = {5, 1}, late[] = {6};
	struct substitutes list, other;
	const char *path = in_folder("list");
	int64_t sample, by;
	const char *why;
	struct err err = {0};

	substitutes_init(&list);
	substitutes_init(&other);
	bound(&list, 10, 10, 1);
	bound(&other, 10, 10, 1);
	for (int64_t i = 1; i < 8; i++)
		assert_int_equal(substitutes_add(&list, i, 0, "bad", &err), 0);
	assert_int_equal(substitutes_give(&list, early, 2, &err), 0);
	assert_int_equal(state_save(path, list_state, &list, &err), 0);
	assert_int_equal(substitutes_give(&list, late, 1, &err), 0);
	assert_int_equal(state_load(path, list_state, &other, &err), 0);
	assert_int_equal(state_load(path, list_state, &list, &err), 0);
	for (int k = 0; k < 2; k++) {
		struct substitutes *loaded = k ? &list : &other;

		assert_int_equal(substitutes_count(loaded), 2);
		assert_int_equal(substitutes_find(loaded, 5), 0);
		assert_int_equal(loaded->seen[0], 6);
		assert_int_equal(substitutes_tell(loaded, &sample, &by, &why), 0);
	}
	assert_int_equal(substitutes_find(&other, 6), 6);
	assert_int_equal(substitutes_give(&list, late, 1, &err), 0);
	assert_int_equal(substitutes_tell(&list, &sample, &by, &why), 3);
	assert_string_equal(why, "bad");
	bound(&other, 5, 5, 1);
	assert_int_equal(state_load(path, list_state, &other, &err), ERR_FORMAT);
	assert_says(err, "cannot stand in");
	substitutes_release(&list);
	substitutes_release(&other);
}

static int attempt(void *context, struct err *err)
{
	struct substitutes list;
	int code = 0;

	substitutes_init(&list);
	for (int64_t i = 0; i < 100 && !code; i++)
		code = substitutes_add(&list, i, 0, "bad", err);
	substitutes_release(&list);
	return code;
}

static void memory_may_run_out(void **state)
{
	assert_true(each_allocation_fails(attempt, NULL) >= 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_is_given_counts),
		cmocka_unit_test(some_are_too_many),
		cmocka_unit_test_setup_teardown(a_record_counts_once, folder_make, folder_remove),
		cmocka_unit_test(a_share_is_a_number_of_records),
		cmocka_unit_test_setup_teardown(a_list_is_kept, folder_make, folder_remove),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
