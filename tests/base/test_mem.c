#include "check.h"

#include <pthread.h>

#define MIB ((size_t)1 << 20)

static bool all_zero(const unsigned char *block, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (block[i])
			return false;
	return true;
}

static void blocks_are_aligned_and_zeroed(void **state)
{
	static const size_t sizes[] = {
		0, 1, 63, 64, 65, 1000, 65536, 4 * MIB - 1, 4 * MIB, 9 * MIB + 5};

	(void)state;
	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < COUNT(sizes); i++) {
			unsigned char *block = mem_new(sizes[i], 1);
			size_t align = sizes[i] >= 4 * MIB ? 2 * MIB : MEM_ALIGN;

			assert_non_null(block);
			assert_int_equal((uintptr_t)block % align, 0);
			assert_true(all_zero(block, sizes[i]));
			memset(block, 0xa5, sizes[i]); /* the second round must not see this */
			mem_free(block);
		}
	mem_free(NULL);
}

static void overflow_is_refused(void **state)
{
	void *block = mem_new(10, 1);

	(void)state;
	assert_null(mem_new(SIZE_MAX / 2, 3));
	assert_null(mem_new(SIZE_MAX, 1));
	assert_null(mem_resize(block, SIZE_MAX / 2, 3));
	assert_null(mem_resize(block, SIZE_MAX - 8, 1));
	mem_free(block);
}

static void resize_keeps_content(void **state)
{
	static const size_t sizes[] = {100, 3, 5000, 5 * MIB, 6 * MIB, 1000};
	size_t least = SIZE_MAX;
	unsigned char *block = NULL;

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		size_t kept = i ? (sizes[i] < sizes[i - 1] ? sizes[i] : sizes[i - 1]) : 0;

		least = kept < least ? kept : least;
		block = mem_resize(block, sizes[i], 1);
		assert_non_null(block);
		assert_int_equal((uintptr_t)block % MEM_ALIGN, 0);
		for (size_t j = 0; j < kept; j++)
			assert_int_equal(block[j], (unsigned char)(j * 7));
		for (size_t j = 0; j < sizes[i]; j++)
			block[j] = (unsigned char)(j * 7);
	}
	mem_fail_at(1);
	assert_null(mem_resize(block, 100000, 1));
	assert_int_equal(block[999], (unsigned char)(999 * 7));
	mem_free(block);
}

static void text_is_copied(void **state)
{
	char *copy = mem_text("hold on");

	(void)state;
	assert_string_equal(copy, "hold on");
	mem_free(copy);
}

static void counts_and_fails_the_nth(void **state)
{
	uint64_t before = mem_count();
	void *a, *b, *c;

	(void)state;
	mem_fail_at(2);
	a = mem_new(1, 1);
	b = mem_new(1, 1);
	c = mem_new(1, 1);
	assert_non_null(a);
	assert_null(b);
	assert_non_null(c); /* once only */
	assert_int_equal(mem_count() - before, 3);
	mem_fail_at(1);
	mem_fail_at(0);
	b = mem_new(1, 1);
	assert_non_null(b);
	mem_free(a);
	mem_free(b);
	mem_free(c);
}

#define THREADS 4
#define ROUNDS  500

static void *allocate_much(void *failures)
{
	for (int i = 0; i < ROUNDS; i++) {
		void *block = mem_new(1, 100);

		if (!block)
			++*(int *)failures;
		mem_free(block);
	}
	return NULL;
}

static void hooks_are_thread_safe(void **state)
{
	pthread_t threads[THREADS];
	int failures[THREADS] = {0}, sum = 0;
	uint64_t before = mem_count();

	(void)state;
	mem_fail_at(THREADS * ROUNDS / 2);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, allocate_much, &failures[i]), 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum += failures[i];
	}
	assert_int_equal(mem_count() - before, THREADS * ROUNDS);
	assert_int_equal(sum, 1);
}

static void arena_objects_stay_put(void **state)
{
	static const size_t sizes[] = {1, 64, 65, 1000, 60000, 10, 200000, 0, 30, 5 * MIB, 70};
	unsigned char *blocks[20 * COUNT(sizes)];
	struct arena arena = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(blocks); i++) {
		size_t size = sizes[i % COUNT(sizes)];

		if (size > MIB && i > COUNT(sizes))
			size = 1;
		blocks[i] = arena_new(&arena, size, 1);
		assert_non_null(blocks[i]);
		assert_int_equal((uintptr_t)blocks[i] % MEM_ALIGN, 0);
		assert_true(all_zero(blocks[i], size));
		if (size)
			memset(blocks[i], (int)i + 1, size);
	}
	for (size_t i = 0; i < COUNT(blocks); i++) {
		size_t size = sizes[i % COUNT(sizes)];

		if (size > MIB && i > COUNT(sizes))
			size = 1;
		for (size_t j = 0; j < size; j++)
			if (blocks[i][j] != (unsigned char)(i + 1))
				fail_msg("block %zu was overwritten at %zu", i, j);
	}
	arena_release(&arena);
	assert_null(arena.chunks);
	arena_release(&arena);
}

static void arena_is_thrifty(void **state)
{
	struct arena arena = {0};
	uint64_t before = mem_count();

	(void)state;
	/* Large objects between small ones do not make the small ones start new chunks. */
	for (int i = 0; i < 100; i++) {
		assert_non_null(arena_new(&arena, 1, 64));
		if (i % 10 == 5)
			assert_non_null(arena_new(&arena, 1, 100000));
	}
	assert_int_equal(mem_count() - before, 11);
	arena_release(&arena);
}

static void arena_failures(void **state)
{
	struct arena arena = {0};
	char *text;

	(void)state;
	assert_null(arena_new(&arena, SIZE_MAX, 2));
	assert_null(arena_new(&arena, SIZE_MAX - 1, 1));
	mem_fail_at(1);
	assert_null(arena_text(&arena, "words"));
	text = arena_text(&arena, "words");
	assert_string_equal(text, "words");
	mem_fail_at(1);
	assert_null(arena_new(&arena, 1, MIB));
	assert_string_equal(text, "words");
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_aligned_and_zeroed),
		cmocka_unit_test(overflow_is_refused),
		cmocka_unit_test(resize_keeps_content),
		cmocka_unit_test(text_is_copied),
		cmocka_unit_test(counts_and_fails_the_nth),
		cmocka_unit_test(hooks_are_thread_safe),
		cmocka_unit_test(arena_objects_stay_put),
		cmocka_unit_test(arena_is_thrifty),
		cmocka_unit_test(arena_failures),
	};

	return cmocka_run_group_tests_name("mem", tests, NULL, NULL);
}
