/* Permutations that nobody writes down: complete, and as likely as one another where that shows. */
#include "check.h"

#include "replay/shuffle.h"

static const struct rng rng = {20240607, RNG_TEST};

static void every_number_once(void **state)
{
	static const uint64_t sizes[] = {
		1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 1000, 65536, 65537, 99999};
	static bool seen[99999];

	(void)state;
	for (size_t s = 0; s < COUNT(sizes); s++) {
		struct shuffle shuffle;

		memset(seen, 0, sizeof(seen));
		shuffle_init(&shuffle, rng, s, sizes[s]);
		for (uint64_t i = 0; i < sizes[s]; i++) {
			const uint64_t place = shuffle_at(&shuffle, i);

			if (place >= sizes[s] || seen[place])
				fail_msg("%d goes to %d of %d", (int)i, (int)place, (int)sizes[s]);
			seen[place] = true;
		}
	}
}

static void places_are_even(void **state)
{
	static const uint64_t sizes[] = {2, 3, 4, 5, 10, 16, 17, 37, 64};
	enum { TIMES = 20000 };
	static int counts[64 * 64];

	(void)state;
	for (size_t s = 0; s < COUNT(sizes); s++) {
		const uint64_t size = sizes[s];
		double chi = 0, freedom = (double)((size - 1) * (size - 1));

		memset(counts, 0, sizeof(counts));
		for (uint64_t t = 0; t < TIMES; t++) {
			struct shuffle shuffle;

			shuffle_init(&shuffle, rng, t, size);
			for (uint64_t i = 0; i < size; i++)
				counts[i * size + shuffle_at(&shuffle, i)]++;
		}
		/* Rows and columns sum up by construction, which a factor makes up for. */
		for (uint64_t i = 0; i < size * size; i++)
			chi += pow(counts[i] - (double)TIMES / (double)size, 2) * (double)size /
			       TIMES;
		chi *= (double)(size - 1) / (double)size;
		if (chi > chi_limit(freedom))
			fail_msg("size %d: chi-square %g", (int)size, chi);
	}
}

/* Where 0 and 1 go together: all ordered pairs alike. */
static void pairs_are_even(void **state)
{
	static const uint64_t sizes[] = {3, 4, 6, 8, 11, 20};

	(void)state;
	for (size_t s = 0; s < COUNT(sizes); s++) {
		const uint64_t size = sizes[s];
		int counts[20 * 20] = {0}, cells = 0;

		for (uint64_t t = 0; t < 40000; t++) {
			struct shuffle shuffle;

			shuffle_init(&shuffle, rng, t, size);
			counts[shuffle_at(&shuffle, 0) * size + shuffle_at(&shuffle, 1)]++;
		}
		for (uint64_t i = 0; i < size * size; i++)
			if (i / size != i % size)
				counts[cells++] = counts[i];
		assert_even(counts, cells, "pairs");
	}
}

static void large_sizes(void **state)
{
	static const uint64_t sizes[] = {40000000, (uint64_t)1 << 32, ((uint64_t)1 << 33) + 1,
		((uint64_t)1 << 62) + 12345, (uint64_t)1 << 63};

	(void)state;
	for (size_t s = 0; s < COUNT(sizes); s++) {
		struct shuffle shuffle;
		int counts[64] = {0}, steps = 0;
		uint64_t last = 0;

		shuffle_init(&shuffle, rng, s, sizes[s]);
		for (uint64_t i = 0; i < 64000; i++) {
			const uint64_t place = shuffle_at(&shuffle, i);

			assert_true(place < sizes[s]);
			counts[place / (sizes[s] / 64 + 1)]++;
			steps += place > last;
			last = place;
		}
		assert_even(counts, 64, "places");
		assert_true(steps > 31000 && steps < 33000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_number_once),
		cmocka_unit_test(places_are_even),
		cmocka_unit_test(pairs_are_even),
		cmocka_unit_test(large_sizes),
	};

	return cmocka_run_group_tests_name("shuffle", tests, NULL, NULL);
}
