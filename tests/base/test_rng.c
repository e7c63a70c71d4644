#include "check.h"

#include <math.h>

#include "base/rng.h"

static const struct rng rng = {20240607, RNG_TEST};

/* Random123's known answers for philox4x32 with 10 rounds. */
static void published_vectors(void **state)
{
	static const struct {
		uint32_t counter[4], key[2], out[4];
	} rows[] = {
		{{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff},
			{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0},
			{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint32_t out[4];

		rng_philox(rows[i].counter, rows[i].key, out);
		assert_memory_equal(out, rows[i].out, sizeof(out));
	}
}

/* Runs made today must be repeatable tomorrow: how streams map to Philox is frozen here. */
static void streams_are_frozen(void **state)
{
	const uint32_t counter[4] = {0x89abcdef, 0x01234567, 0, RNG_POOL};
	const uint32_t key[2] = {0x76543210, 0xfedcba98};
	uint32_t expected[4], bits[4];

	(void)state;
	rng_philox(counter, key, expected);
	rng_bits((struct rng){0xfedcba9876543210, RNG_POOL}, 0x0123456789abcdef, bits);
	assert_memory_equal(bits, expected, sizeof(bits));
	assert_int_equal(RNG_INIT, 1);
	assert_int_equal(RNG_TEST, 9);
	assert_true(rng_float((struct rng){1, RNG_INIT}, 0) == 0x1.27beep-4f);
	assert_true(rng_double((struct rng){1, RNG_INIT}, 0) == 0x1.e047488127be8p-4);
	assert_true(rng_normal((struct rng){1, RNG_INIT}, 0) == -0x1.7fee9ep-2f);
	assert_true(rng_normal((struct rng){1, RNG_INIT}, 7) == -0x1.0370b8p+0f);
	assert_int_equal(rng_below((struct rng){1, RNG_INIT}, 0, 1000000), 117255);
}

static void everything_names_the_stream(void **state)
{
	const struct rng other_seed = {rng.seed + 1, rng.purpose};
	const struct rng far_seed = {rng.seed + (1ull << 32), rng.purpose};
	const struct rng other_purpose = {rng.seed, RNG_INIT};
	uint32_t a[4], b[4];

	(void)state;
	rng_bits(rng, 5, a);
	rng_bits(other_seed, 5, b);
	assert_memory_not_equal(a, b, sizeof(a));
	rng_bits(far_seed, 5, b);
	assert_memory_not_equal(a, b, sizeof(a));
	rng_bits(other_purpose, 5, b);
	assert_memory_not_equal(a, b, sizeof(a));
	rng_bits(rng, 5 + (1ull << 32), b);
	assert_memory_not_equal(a, b, sizeof(a));
}

static void order_of_calls_does_not_matter(void **state)
{
	float forward[1000];

	(void)state;
	for (int i = 0; i < 1000; i++)
		forward[i] = rng_float(rng, (uint64_t)i);
	for (int i = 1000; i-- > 0;) {
		rng_below(rng, (uint64_t)i * 3, 7);
		assert_true(rng_float(rng, (uint64_t)i) == forward[i]);
	}
}

/* Also where the counter's low word runs over, and the counter itself. */
static void rows_of_bits_are_single_ones(void **state)
{
	static const uint64_t firsts[] = {
		0, 1, 7, 0xfffffffd, 0xfffffff6, 0x0123456789abcdef, 0xfffffffffffffffe};
	const struct rng other = {0xfedcba9876543210, 0x80000000u | RNG_TEST};
	uint32_t row[21][4], one[4], spare[4];

	(void)state;
	memset(spare, 0x5a, sizeof(spare));
	for (size_t f = 0; f < COUNT(firsts); f++)
		for (size_t count = 0; count <= 20; count++) {
			const struct rng from = count % 2 ? rng : other;

			memset(row, 0x5a, sizeof(row));
			rng_fill_bits(from, firsts[f], row, count);
			for (size_t i = 0; i < count; i++) {
				rng_bits(from, firsts[f] + i, one);
				assert_memory_equal(row[i], one, sizeof(one));
			}
			assert_memory_equal(row[count], spare, sizeof(spare));
		}
}

#define DRAWS 200000

static void uniform_moments(void **state)
{
	double sum = 0, squares = 0, product = 0, last = 0.5;

	(void)state;
	for (uint64_t i = 0; i < DRAWS; i++) {
		double d = rng_double(rng, i);
		float f = rng_float(rng, i);

		assert_true(d >= 0 && d < 1);
		assert_true(f >= 0 && f < 1);
		sum += d - 0.5;
		squares += (f - 0.5) * (f - 0.5);
		product += (d - 0.5) * (last - 0.5);
		last = d;
	}
	/* Five standard errors each. */
	assert_true(fabs(sum / DRAWS) < 5 * sqrt(1.0 / 12 / DRAWS));
	assert_true(fabs(squares / DRAWS - 1.0 / 12) < 5 * sqrt(1.0 / 180 / DRAWS));
	assert_true(fabs(product / DRAWS) < 5 * sqrt(1.0 / 144 / DRAWS));
}

static float normals[DRAWS];

static void normal_moments(void **state)
{
	double sums[5] = {0}, neighbours = 0;
	int beyond[4] = {0};

	(void)state;
	rng_normals(rng, 0, normals, DRAWS);
	for (int i = 0; i < DRAWS; i++) {
		double power = 1;

		assert_true(fabsf(normals[i]) < 6.8f);
		for (int p = 0; p < 5; p++, power *= normals[i])
			sums[p] += power;
		for (int s = 1; s < 4; s++)
			beyond[s] += fabsf(normals[i]) > (float)s;
		if (i > 0)
			neighbours += normals[i] * normals[i - 1];
	}
	assert_true(fabs(sums[1] / DRAWS) < 5 * sqrt(1.0 / DRAWS));
	assert_true(fabs(sums[2] / DRAWS - 1) < 5 * sqrt(2.0 / DRAWS));
	assert_true(fabs(sums[3] / DRAWS) < 5 * sqrt(15.0 / DRAWS));
	assert_true(fabs(sums[4] / DRAWS - 3) < 5 * sqrt(96.0 / DRAWS));
	assert_true(fabs(neighbours / DRAWS) < 5 * sqrt(1.0 / DRAWS));
	for (int s = 1; s < 4; s++) {
		double expected = erfc(s / sqrt(2)) * DRAWS;

		assert_true(fabs(beyond[s] - expected) < 5 * sqrt(expected));
	}
}

/* The formula in the C library's words, for the accuracy of our own series. */
static void normals_are_box_muller(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < 4000; n += 2) {
		const uint32_t counter[4] = {n / 4, 0, 0xffffffff, rng.purpose};
		const uint32_t key[2] = {(uint32_t)rng.seed, (uint32_t)(rng.seed >> 32)};
		uint32_t bits[4];
		double radius, angle;

		rng_philox(counter, key, bits);
		radius = sqrt(-2 * log((bits[n % 4] + 0.5) / 4294967296.0));
		angle = 2 * 3.14159265358979323846 * (bits[n % 4 + 1] / 4294967296.0);
		assert_true(fabs(rng_normal(rng, n) - radius * cos(angle)) < 1e-6);
		assert_true(fabs(rng_normal(rng, n + 1) - radius * sin(angle)) < 1e-6);
	}
}

static void filling_in_pieces_is_the_same(void **state)
{
	static const size_t pieces[] = {1, 2, 3, 4, 5, 7, 8, 13, 64};
	float whole[200], part[200];

	(void)state;
	rng_normals(rng, 3, whole, COUNT(whole));
	for (size_t p = 0; p < COUNT(pieces); p++) {
		memset(part, 0, sizeof(part));
		for (size_t i = 0; i < COUNT(part); i += pieces[p]) {
			size_t left = COUNT(part) - i;

			rng_normals(rng, 3 + i, part + i, left < pieces[p] ? left : pieces[p]);
		}
		assert_memory_equal(part, whole, sizeof(whole));
	}
	for (size_t i = 0; i < COUNT(whole); i++)
		assert_true(rng_normal(rng, 3 + i) == whole[i]);
}

/* The upper end that chi-square with k degrees of freedom passes about once in a million times
 * (Wilson and Hilferty). */
static double chi_limit(int k)
{
	double a = 2.0 / (9.0 * k);

	return k * pow(1 - a + 4.75 * sqrt(a), 3);
}

static void check_even(const int *counts, int cells, int draws)
{
	double chi = 0, expected = (double)draws / cells;

	for (int i = 0; i < cells; i++)
		chi += (counts[i] - expected) * (counts[i] - expected) / expected;
	if (chi > chi_limit(cells - 1))
		fail_msg("chi-square %g over %d cells", chi, cells);
}

static void bounded_numbers_are_even(void **state)
{
	static const int bounds[] = {1, 2, 3, 7, 10, 100, 1000};

	(void)state;
	for (size_t b = 0; b < COUNT(bounds); b++) {
		int counts[1000] = {0};

		for (uint64_t i = 0; i < 100000; i++) {
			uint64_t drawn = rng_below(rng, i, (uint64_t)bounds[b]);

			assert_true(drawn < (uint64_t)bounds[b]);
			counts[drawn]++;
		}
		if (bounds[b] > 1)
			check_even(counts, bounds[b], 100000);
	}
}

/* With a bound of 3 * 2^62 a quarter of the candidates is rejected, and without the rejection every
 * third result would come up twice as often. */
static void rejection_removes_the_bias(void **state)
{
	const uint64_t bound = 3ull << 62;
	int counts[3] = {0}, thirds[3] = {0}, retried = 0;

	(void)state;
	for (uint64_t i = 0; i < 60000; i++) {
		uint64_t drawn = rng_below(rng, i, bound);
		uint32_t bits[4];
		uint64_t plain;

		assert_true(drawn < bound);
		counts[drawn % 3]++;
		thirds[drawn >> 62]++;
		rng_bits(rng, i, bits);
		plain = ((uint64_t)bits[1] << 32 | bits[0]) / 4 * 3;
		retried += drawn < plain || drawn - plain > 3;
	}
	check_even(counts, 3, 60000);
	check_even(thirds, 3, 60000);
	assert_true(retried > 14000 && retried < 16000);
}

static void permutations_are_even(void **state)
{
	int counts[24] = {0};

	(void)state;
	for (uint64_t i = 0; i < 48000; i++) {
		uint32_t ids[4] = {0, 1, 2, 3};
		int rank = 0;

		rng_shuffle32(rng, i * 4, ids, 4);
		assert_int_equal(1u << ids[0] | 1u << ids[1] | 1u << ids[2] | 1u << ids[3], 15);
		for (int a = 0; a < 4; a++) {
			int smaller = 0;

			for (int b = a + 1; b < 4; b++)
				smaller += ids[b] < ids[a];
			rank = rank * (4 - a) + smaller;
		}
		counts[rank]++;
	}
	check_even(counts, 24, 48000);
}

static void a_shuffle_keeps_all(void **state)
{
	uint32_t ids[500];
	bool seen[500] = {false};

	(void)state;
	for (uint32_t i = 0; i < 500; i++)
		ids[i] = i;
	rng_shuffle32(rng, 77, ids, 500);
	rng_shuffle32(rng, 0, ids, 0);
	rng_shuffle32(rng, 0, ids, 1);
	for (int i = 0; i < 500; i++) {
		assert_false(seen[ids[i]]);
		seen[ids[i]] = true;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_vectors),
		cmocka_unit_test(streams_are_frozen),
		cmocka_unit_test(everything_names_the_stream),
		cmocka_unit_test(order_of_calls_does_not_matter),
		cmocka_unit_test(rows_of_bits_are_single_ones),
		cmocka_unit_test(uniform_moments),
		cmocka_unit_test(normal_moments),
		cmocka_unit_test(normals_are_box_muller),
		cmocka_unit_test(filling_in_pieces_is_the_same),
		cmocka_unit_test(bounded_numbers_are_even),
		cmocka_unit_test(rejection_removes_the_bias),
		cmocka_unit_test(permutations_are_even),
		cmocka_unit_test(a_shuffle_keeps_all),
	};

	return cmocka_run_group_tests_name("rng", tests, NULL, NULL);
}
