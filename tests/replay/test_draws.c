/* Draws: uniform over what is held, functions of (seed, iteration, position), and quick. */
#include "check.h"

#include <stdio.h>
#include <time.h>

enum { SEEN = 3000 };

static bool held[SEEN];

/* The counts of each id that may be drawn, in a row; returns how many these are. */
static int squeeze(int *counts, int64_t oldest)
{
	int cells = 0;

	for (int64_t id = 0; id < SEEN; id++)
		if (held[id] && id >= oldest)
			counts[cells++] = counts[id];
	return cells;
}

static void check_uniform(const struct pool *pool, int64_t oldest, int draws)
{
	static int counts[SEEN];
	int64_t ids[250];
	char what[100];
	int cells;

	snprintf(what, sizeof(what), "%s, %s, from %d on", pool->type->name,
		pool->config.validation ? "validation" : "training", (int)oldest);
	memset(counts, 0, sizeof(counts));
	for (int k = 0; k < draws / 250; k++) {
		assert_true(pool_draw(pool, (uint64_t)k, 0, oldest, ids, 250));
		for (int i = 0; i < 250; i++) {
			if (ids[i] < oldest || ids[i] >= SEEN || !held[ids[i]])
				fail_msg("%s: drew %d", what, (int)ids[i]);
			counts[ids[i]]++;
		}
	}
	cells = squeeze(counts, oldest);
	assert_true(cells > 0);
	assert_even(counts, cells, what);
}

static void draws_are_uniform(void **state)
{
	static const int64_t oldest[] = {0, 1500, 2900};

	(void)state;
	for (size_t k = 0; pool_types[k]; k++)
		for (int validation = 0; validation < 2; validation++) {
			const struct pool_config config = {
				pool_types[k]->name, 600, 10, 3, {3, 0.1}, validation};
			struct pool *pool = pool_of(&config);

			pool_fill(pool, SEEN, held);
			for (size_t o = 0; o < COUNT(oldest); o++)
				check_uniform(pool, oldest[o], o ? 300000 : 1000000);
			pool_free(pool);
		}
}

/* So few fit that tries run out and scans take over. */
static void rare_samples_are_found(void **state)
{
	const struct pool_config rare = {"unlimited", 0, 0, 3, {4, 0.002}, true};
	const struct pool_config large = {"reservoir", 2000, 0, 3, {4, 0.002}, false};
	struct pool *pool = pool_of(&rare);

	(void)state;
	pool_fill(pool, SEEN, held);
	assert_true(pool_count(pool) > 1 && pool_count(pool) < 15);
	check_uniform(pool, 0, 20000);
	pool_free(pool);

	pool = pool_of(&large);
	pool_fill(pool, SEEN, held);
	check_uniform(pool, SEEN - 8, 20000);
	pool_free(pool);
}

/* The two candidates of a block, and those mixed from them, must not know each other. */
static void neighbours_are_independent(void **state)
{
	(void)state;
	for (int validation = 0; validation < 2; validation++) {
		const struct pool_config config = {"unlimited", 0, 0, 3, {3, 0.5}, validation};
		struct pool *pool = pool_of(&config);
		int places[256] = {0}, times[256] = {0};
		int64_t last[2] = {0}, ids[2];

		pool_fill(pool, 1600, NULL);
		for (uint64_t k = 0; k < 200000; k++) {
			assert_true(pool_draw(pool, k, 0, 0, ids, 2));
			places[ids[0] / 100 * 16 + ids[1] / 100]++;
			times[ids[0] / 100 * 16 + last[0] / 100]++;
			last[0] = ids[0];
		}
		/* Cells are not even, since the holdout is random; compare with the margins. */
		for (int t = 0; t < 2; t++) {
			const int *cells = t ? times : places;
			double rows[16] = {0}, columns[16] = {0}, chi = 0;

			for (int i = 0; i < 256; i++)
				rows[i / 16] += cells[i], columns[i % 16] += cells[i];
			for (int i = 0; i < 256; i++) {
				const double expected = rows[i / 16] * columns[i % 16] / 200000;

				chi += pow(cells[i] - expected, 2) / expected;
			}
			if (chi > chi_limit(225))
				fail_msg("chi-square %g between %s", chi,
					t ? "iterations" : "positions");
		}
		pool_free(pool);
	}
}

static void any_split_draws_the_same(void **state)
{
	static const int pieces[] = {1, 2, 5, 32, 63};

	(void)state;
	for (size_t k = 0; pool_types[k]; k++)
		for (int validation = 0; validation < 2; validation++)
			for (int64_t oldest = 0; oldest <= 2000; oldest += 1000) {
				const struct pool_config config = {
					pool_types[k]->name, 600, 10, 3, {3, 0.1}, validation};
				struct pool *one = pool_of(&config), *other = pool_of(&config);
				int64_t whole[64], part[64], next[64];

				pool_fill(one, SEEN, NULL);
				pool_fill(other, SEEN, NULL);
				assert_true(pool_draw(one, 77, 0, oldest, whole, 64));
				assert_true(pool_draw(one, 78, 0, oldest, next, 64));
				assert_memory_not_equal(whole, next, sizeof(whole));
				for (size_t p = 0; p < COUNT(pieces); p++) {
					memset(part, 0, sizeof(part));
					for (int i = 0; i < 64; i += pieces[p])
						assert_true(pool_draw(other, 77, i, oldest,
							part + i,
							64 - i < pieces[p] ? 64 - i : pieces[p]));
					assert_memory_equal(part, whole, sizeof(whole));
				}
				pool_free(one);
				pool_free(other);
			}
}

static void nothing_to_draw(void **state)
{
	(void)state;
	for (size_t k = 0; pool_types[k]; k++) {
		struct pool_config config = {pool_types[k]->name, 100, 10, 3, {3, 0}, true};
		struct pool *pool = pool_of(&config);
		int64_t ids[2] = {-7, -7};

		assert_false(pool_draw(pool, 1, 0, 0, ids, 2));
		pool_fill(pool, 100, NULL);
		assert_false(pool_draw(pool, 1, 0, 0, ids, 2));
		pool_free(pool);

		config.validation = false;
		config.holdout.share = 0.5;
		pool = pool_of(&config);
		pool_fill(pool, 100, held);
		assert_false(pool_draw(pool, 1, 0, 100, ids, 2));
		assert_false(pool_draw(pool, 1, 0, INT64_MAX, ids, 2));
		/* From here on there are only held-out samples. */
		for (int64_t id = 99; !held[id]; id--)
			assert_false(pool_draw(pool, 1, 0, id, ids, 2));
		assert_int_equal(ids[0], -7);
		assert_int_equal(ids[1], -7);
		assert_true(
			pool_draw(pool, ((uint64_t)1 << 48) - 1, POOL_POSITIONS - 1, -5, ids, 1));
		assert_true(held[ids[0]]);
		pool_free(pool);
	}
}

static void seeds_and_sides_differ(void **state)
{
	struct pool_config config = {"unlimited", 0, 0, 3, {3, 0.5}, false};
	struct pool *training = pool_of(&config), *other, *validation;
	int64_t a[64], b[64];

	(void)state;
	config.seed++;
	other = pool_of(&config);
	config.seed--;
	config.validation = true;
	validation = pool_of(&config);
	assert_true(training->draws.seed != validation->draws.seed);
	assert_true(training->choices.seed != validation->choices.seed);
	assert_true(training->choices.seed != training->draws.seed);
	pool_fill(training, SEEN, NULL);
	pool_fill(other, SEEN, NULL);
	assert_true(pool_draw(training, 1, 0, 0, a, 64));
	assert_true(pool_draw(other, 1, 0, 0, b, 64));
	assert_memory_not_equal(a, b, sizeof(a));
	pool_free(training);
	pool_free(other);
	pool_free(validation);
}

/* Runs made today must be repeatable tomorrow. */
static void draws_are_frozen(void **state)
{
	static const int64_t expected[][4] = {
		{1710, 1005, 1215, 1914},
		{1517, 1614, 1254, 490},
		{2726, 2574, 2620, 2770},
		{2597, 2670, 1993, 769},
		{2238, 2350, 2581, 1276},
	};
	int64_t ids[4];

	(void)state;
	for (size_t k = 0; pool_types[k]; k++) {
		const struct pool_config config = {
			pool_types[k]->name, 600, 10, 3, {4, 0.05}, k % 2};
		struct pool *pool = pool_of(&config);

		assert_true(k < COUNT(expected));
		pool_fill(pool, SEEN, NULL);
		assert_true(pool_draw(pool, 5, 2, 0, ids, 4));
		if (memcmp(ids, expected[k], sizeof(ids)) != 0)
			fail_msg("%s drew {%d, %d, %d, %d}", pool_types[k]->name, (int)ids[0],
				(int)ids[1], (int)ids[2], (int)ids[3]);
		pool_free(pool);
	}
}

static void newest_by_span(void **state)
{
	struct pool_config config = {"unlimited", 100, 10, 3, {3, 0.1}, false};
	struct pool *pool;

	(void)state;
	for (size_t k = 0; pool_types[k]; k++) {
		int64_t start = 0;

		config.kind = pool_types[k]->name;
		pool = pool_of(&config);
		assert_int_equal(pool_newest(pool, 0.1), 0);
		pool_fill(pool, 1000, held);
		if (!strcmp(config.kind, "fifo"))
			while (!held[start])
				start++;
		assert_int_equal(pool_newest(pool, 1), start);
		assert_int_equal(pool_newest(pool, 0.5), 1000 - (1000 - start + 1) / 2);
		assert_int_equal(pool_newest(pool, 1e-9), 999);
		pool_free(pool);
	}
}

static double microseconds(const struct pool *pool, int n, int64_t oldest)
{
	double best = 1e9;
	int64_t ids[128];

	for (int round = 0; round < 5; round++) {
		struct timespec start, end;

		clock_gettime(CLOCK_MONOTONIC, &start);
		for (uint64_t k = 0; k < 200; k++)
			assert_true(pool_draw(pool, k, 0, oldest, ids, n));
		clock_gettime(CLOCK_MONOTONIC, &end);
		best = fmin(best, ((double)(end.tv_sec - start.tv_sec) * 1e9 +
					  (double)(end.tv_nsec - start.tv_nsec)) /
					  200e3);
	}
	return best;
}

/* A draw costs the same after a thousand samples and a million; the numbers are for the eye. */
static void what_draws_cost(void **state)
{
	(void)state;
	for (size_t k = 0; pool_types[k]; k++)
		for (int validation = 0; validation < 2; validation++) {
			const struct pool_config config = {
				pool_types[k]->name, 1000, 10, 3, {3, 0.05}, validation};
			struct pool *pool = pool_of(&config);
			double early, late;

			pool_fill(pool, 1000, NULL);
			early = microseconds(pool, validation ? 128 : 64, 0);
			pool_fill(pool, 1000000, NULL);
			late = microseconds(pool, validation ? 128 : 64, 0);
			print_message("# %s: %d %s draws: %.2f us after 10^3 samples, %.2f us "
				      "after 10^6\n",
				pool_types[k]->name, validation ? 128 : 64,
				validation ? "validation" : "training", early, late);
			if (late > 10 * early + 50)
				fail_msg("%s: draws get slower", pool_types[k]->name);
			pool_free(pool);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(draws_are_uniform),
		cmocka_unit_test(rare_samples_are_found),
		cmocka_unit_test(neighbours_are_independent),
		cmocka_unit_test(any_split_draws_the_same),
		cmocka_unit_test(nothing_to_draw),
		cmocka_unit_test(seeds_and_sides_differ),
		cmocka_unit_test(draws_are_frozen),
		cmocka_unit_test(newest_by_span),
		cmocka_unit_test(what_draws_cost),
	};

	return cmocka_run_group_tests_name("draws", tests, NULL, NULL);
}
