/*
 * How (seed, purpose, counter) becomes Philox's input: the seed is the key; the
 * counter takes words 0 and 1, the block (which 128 bits of this counter)
 * word 2, the purpose word 3. Normals live in a block that rng_below never
 * reaches.
 *
 * The logarithm, sine and cosine are short series of our own, good to 1e-11,
 * because the C library's differ in the last bit between versions and
 * processors.
 */
#include "base/rng.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define BLOCK_NORMAL 0xffffffffu

/* Coefficients of artanh, sine and cosine by power. */
#define LN2 0.6931471805599453
#define L3  (1.0 / 3)
#define L5  (1.0 / 5)
#define L7  (1.0 / 7)
#define L9  (1.0 / 9)
#define L11 (1.0 / 11)
#define L13 (1.0 / 13)
#define S3  (-1.0 / 6)
#define S5  (1.0 / 120)
#define S7  (-1.0 / 5040)
#define S9  (1.0 / 362880)
#define S11 (-1.0 / 39916800)
#define C2  (-1.0 / 2)
#define C4  (1.0 / 24)
#define C6  (-1.0 / 720)
#define C8  (1.0 / 40320)
#define C10 (-1.0 / 3628800)
#define C12 (1.0 / 479001600)

__extension__ typedef unsigned __int128 uint128;

void rng_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
	uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
	uint32_t k0 = key[0], k1 = key[1];

	for (int round = 0; round < 10; round++) {
		uint64_t p0 = (uint64_t)0xD2511F53u * c0;
		uint64_t p1 = (uint64_t)0xCD9E8D57u * c2;

		c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
		c1 = (uint32_t)p1;
		c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
		c3 = (uint32_t)p0;
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
	out[0] = c0;
	out[1] = c1;
	out[2] = c2;
	out[3] = c3;
}

static void block_bits(struct rng rng, uint64_t counter, uint32_t block, uint32_t out[4])
{
	const uint32_t words[4] = {
		(uint32_t)counter, (uint32_t)(counter >> 32), block, rng.purpose};
	const uint32_t key[2] = {(uint32_t)rng.seed, (uint32_t)(rng.seed >> 32)};

	rng_philox(words, key, out);
}

static uint64_t join(uint32_t low, uint32_t high)
{
	return (uint64_t)high << 32 | low;
}

void rng_bits(struct rng rng, uint64_t counter, uint32_t out[4])
{
	block_bits(rng, counter, 0, out);
}

float rng_float(struct rng rng, uint64_t counter)
{
	uint32_t bits[4];

	rng_bits(rng, counter, bits);
	return (float)(bits[0] >> 8) * 0x1p-24f;
}

double rng_double(struct rng rng, uint64_t counter)
{
	uint32_t bits[4];

	rng_bits(rng, counter, bits);
	return (double)(join(bits[0], bits[1]) >> 11) * 0x1p-53;
}

/*
 * Lemire, "Fast random integer generation in an interval" (2019): the high half
 * of candidate * bound, unless the low half falls among the few that some
 * results have more of than others.
 */
uint64_t rng_below(struct rng rng, uint64_t counter, uint64_t bound)
{
	uint32_t bits[4];

	assert(bound >= 1);
	for (uint32_t block = 0;; block++) {
		block_bits(rng, counter, block, bits);
		for (int half = 0; half < 4; half += 2) {
			uint128 product = (uint128)join(bits[half], bits[half + 1]) * bound;
			uint64_t low = (uint64_t)product;

			/* -bound % bound is 2^64 mod bound; it is below bound, so mostly the
			 * slow division can be left out. */
			if (low >= bound || low >= -bound % bound)
				return (uint64_t)(product >> 64);
		}
	}
}

/* The natural logarithm of x in (0, 1), x normal. */
static inline double logarithm(double x)
{
	uint64_t bits;
	double s, t, e;

	/* x = 2^e * m with m in [sqrt 1/2, sqrt 2), then log m = 2 artanh((m - 1) / (m + 1)). */
	memcpy(&bits, &x, sizeof(bits));
	bits += 0x3ff0000000000000u - 0x3fe6a09e667f3bcdu;
	e = (double)((int32_t)(bits >> 52) - 0x3ff);
	bits = (bits & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu;
	memcpy(&x, &bits, sizeof(x));
	s = (x - 1) / (x + 1);
	t = s * s;
	return LN2 * e +
	       2 * s * (1 + t * (L3 + t * (L5 + t * (L7 + t * (L9 + t * (L11 + t * L13))))));
}

/* Of the angle turn / 2^32 turns: the nearest quarter turn is exact, the rest a series. */
static inline void cosine_sine(uint32_t turn, double *cosine, double *sine)
{
	uint32_t quarter = (turn + 0x20000000u) >> 30;
	double a = (int32_t)(turn - (quarter << 30)) * (6.283185307179586 * 0x1p-32);
	double t = a * a;
	double s = a * (1 + t * (S3 + t * (S5 + t * (S7 + t * (S9 + t * S11)))));
	double c = 1 + t * (C2 + t * (C4 + t * (C6 + t * (C8 + t * (C10 + t * C12)))));
	double swapped_c = quarter & 1 ? s : c, swapped_s = quarter & 1 ? c : s;

	*cosine = (quarter + 1) & 2 ? -swapped_c : swapped_c;
	*sine = quarter & 2 ? -swapped_s : swapped_s;
}

static inline void four_normals(struct rng rng, uint64_t group, float out[4])
{
	uint32_t bits[4];

	block_bits(rng, group, BLOCK_NORMAL, bits);
	for (int i = 0; i < 4; i += 2) {
		double radius = sqrt(-2 * logarithm((bits[i] + 0.5) * 0x1p-32));
		double c, s;

		cosine_sine(bits[i + 1], &c, &s);
		out[i] = (float)(radius * c);
		out[i + 1] = (float)(radius * s);
	}
}

float rng_normal(struct rng rng, uint64_t n)
{
	float four[4];

	four_normals(rng, n / 4, four);
	return four[n % 4];
}

void rng_normals(struct rng rng, uint64_t first, float *out, size_t count)
{
	size_t i = 0;

	while (i < count && (first + i) % 4)
		out[i] = rng_normal(rng, first + i), i++;
	for (; i + 4 <= count; i += 4)
		four_normals(rng, (first + i) / 4, out + i);
	for (; i < count; i++)
		out[i] = rng_normal(rng, first + i);
}

/* Fisher and Yates, from the end. */
void rng_shuffle32(struct rng rng, uint64_t first, uint32_t *ids, size_t count)
{
	for (size_t i = count; i-- > 1;) {
		size_t j = (size_t)rng_below(rng, first + i, i + 1);
		uint32_t id = ids[i];

		ids[i] = ids[j];
		ids[j] = id;
	}
}

void rng_shuffle64(struct rng rng, uint64_t first, int64_t *ids, size_t count)
{
	for (size_t i = count; i-- > 1;) {
		size_t j = (size_t)rng_below(rng, first + i, i + 1);
		int64_t id = ids[i];

		ids[i] = ids[j];
		ids[j] = id;
	}
}
