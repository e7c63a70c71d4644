/*
 * How (seed, purpose, counter) becomes Philox's input: the seed is the key; the counter takes
 * words 0 and 1, the block (which 128 bits of this counter) word 2, the purpose word 3. Normals
 * live in a block that rng_below never reaches.
 *
 * The logarithm, sine and cosine are our own short series, accurate to 1e-11, because the C
 * library's differ in the last bit between versions and processors.
 */
#include "base/rng.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define BLOCK_NORMAL 0xffffffffu

#define PHILOX_M0 0xD2511F53u
#define PHILOX_M1 0xCD9E8D57u
#define PHILOX_W0 0x9E3779B9u
#define PHILOX_W1 0xBB67AE85u

/* Normals are made in lanes of four where there are many of them: two pairs each. */
enum { LANES = 8, PAIRS = 2 * LANES };

#define ROOT_HALF 0x3fe6a09e667f3bcdu /* the bits of sqrt 1/2 */

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
		uint64_t p0 = (uint64_t)PHILOX_M0 * c0;
		uint64_t p1 = (uint64_t)PHILOX_M1 * c2;

		c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
		c1 = (uint32_t)p1;
		c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
		c3 = (uint32_t)p0;
		k0 += PHILOX_W0;
		k1 += PHILOX_W1;
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

/* Two words, each the low half of 64 bits, whatever the high half. */
typedef uint64_t two_words __attribute__((vector_size(16)));

#define BOTH(word)   ((two_words){(word), (word)})
#define LOW_HALVES   BOTH(0xffffffff)
#define FRONTS(a, b) __builtin_shufflevector(a, b, 0, 2)
#define BACKS(a, b)  __builtin_shufflevector(a, b, 1, 3)

static inline two_words product(two_words words, uint32_t by)
{
#if defined(__SSE2__)
	return (two_words)_mm_mul_epu32((__m128i)words, _mm_set1_epi64x(by));
#elif defined(__aarch64__)
	return (two_words)vmull_u32(vmovn_u64((uint64x2_t)words), vdup_n_u32(by));
#else
	return (words & LOW_HALVES) * BOTH(by);
#endif
}

/* Two times two blocks side by side, of the counters first .. first+3: by word of a block, then
 * pair. */
static inline void four_blocks(
	struct rng rng, uint64_t first, uint32_t block, two_words words[4][2])
{
	two_words k0 = BOTH((uint32_t)rng.seed), k1 = BOTH(rng.seed >> 32);
	two_words *c0 = words[0], *c1 = words[1], *c2 = words[2], *c3 = words[3];

	for (int i = 0; i < 2; i++) {
		const uint64_t at = first + 2 * (uint64_t)i;

		c0[i] = (two_words){at, at + 1};
		c1[i] = c0[i] >> 32;
		c2[i] = BOTH(block);
		c3[i] = BOTH(rng.purpose);
	}
	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < 2; i++) {
			const two_words p0 = product(c0[i], PHILOX_M0);
			const two_words p1 = product(c2[i], PHILOX_M1);

			c0[i] = (p1 >> 32) ^ c1[i] ^ k0;
			c1[i] = p1;
			c2[i] = (p0 >> 32) ^ c3[i] ^ k1;
			c3[i] = p0;
		}
		k0 += BOTH(PHILOX_W0);
		k1 += BOTH(PHILOX_W1);
	}
}

static inline void store(void *out, two_words words)
{
	memcpy(out, &words, sizeof(words));
}

/* The bits of the counters first .. first+3. */
static inline void four_bits(struct rng rng, uint64_t first, uint32_t out[4][4])
{
	two_words words[4][2];

	four_blocks(rng, first, 0, words);
	for (int i = 0; i < 2; i++) {
		const two_words front = (words[0][i] & LOW_HALVES) | words[1][i] << 32;
		const two_words back = (words[2][i] & LOW_HALVES) | words[3][i] << 32;

		store(out[2 * i], FRONTS(front, back));
		store(out[2 * i + 1], BACKS(front, back));
	}
}

void rng_fill_bits(struct rng rng, uint64_t first, uint32_t (*out)[4], size_t count)
{
	size_t i = 0;

	for (; i + 4 <= count; i += 4)
		four_bits(rng, first + i, out + i);
	for (; i < count; i++)
		rng_bits(rng, first + i, out[i]);
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

static inline double as_double(uint64_t bits)
{
	double number;

	memcpy(&number, &bits, sizeof(number));
	return number;
}

static inline uint64_t as_bits(double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	return bits;
}

/* A number in -2^51 .. 2^51-1 that wraps around 2^64, exactly. */
static inline double from_whole(uint64_t whole)
{
	return as_double(as_bits(0x1.8p52) + whole) - 0x1.8p52;
}

/* The natural logarithm of x in (0, 1), x normal. */
static inline double logarithm(double x)
{
	/* x = 2^e * m with m in [sqrt 1/2, sqrt 2), then log m = 2 artanh((m - 1) / (m + 1)). */
	const uint64_t bits = as_bits(x) + (0x3ff0000000000000u - ROOT_HALF);
	const double e = from_whole((bits >> 52) - 0x3ff);
	const double m = as_double((bits & 0x000fffffffffffffu) + ROOT_HALF);
	const double s = (m - 1) / (m + 1);
	const double t = s * s;

	return LN2 * e +
	       2 * s * (1 + t * (L3 + t * (L5 + t * (L7 + t * (L9 + t * (L11 + t * L13))))));
}

/* Of the angle turn / 2^32 turns: the nearest quarter turn is exact, the rest a series. */
static inline void cosine_sine(uint64_t turn, double *cosine, double *sine)
{
	const uint64_t quarter = (turn + 0x20000000u) >> 30;
	const double a = from_whole(turn - (quarter << 30)) * (6.283185307179586 * 0x1p-32);
	const double t = a * a;
	const double s = a * (1 + t * (S3 + t * (S5 + t * (S7 + t * (S9 + t * S11)))));
	const double c = 1 + t * (C2 + t * (C4 + t * (C6 + t * (C8 + t * (C10 + t * C12)))));
	const uint64_t swap = (as_bits(s) ^ as_bits(c)) & -(quarter & 1);

	*cosine = as_double(as_bits(c) ^ swap ^ ((quarter + 1) & 2) << 62);
	*sine = as_double(as_bits(s) ^ swap ^ (quarter & 2) << 62);
}

/* What the radius of a pair of normals is the root of. */
static inline double radius_squared(uint64_t word)
{
	return -2 * logarithm((from_whole(word) + 0.5) * 0x1p-32);
}

static void four_normals(struct rng rng, uint64_t group, float out[4])
{
	uint32_t bits[4];

	block_bits(rng, group, BLOCK_NORMAL, bits);
	for (int i = 0; i < 4; i += 2) {
		double radius = sqrt(radius_squared(bits[i]));
		double c, s;

		cosine_sine(bits[i + 1], &c, &s);
		out[i] = (float)(radius * c);
		out[i + 1] = (float)(radius * s);
	}
}

/* Words 0 and 2, or 1 and 3, of two blocks. */
static inline void store_words(uint64_t out[4], two_words first, two_words second)
{
	first &= LOW_HALVES;
	second &= LOW_HALVES;
	store(out, FRONTS(first, second));
	store(out + 2, BACKS(first, second));
}

/* Of LANES blocks of the normals from `group` on: words 0 and 2, and words 1 and 3. */
static inline void lane_words(
	struct rng rng, uint64_t group, uint64_t even[PAIRS], uint64_t odd[PAIRS])
{
	for (int i = 0; i < LANES; i += 4) {
		two_words words[4][2];

		four_blocks(rng, group + (uint64_t)i, BLOCK_NORMAL, words);
		for (int pair = 0; pair < 2; pair++) {
			const int at = 2 * i + 4 * pair;

			store_words(even + at, words[0][pair], words[2][pair]);
			store_words(odd + at, words[1][pair], words[3][pair]);
		}
	}
}

static inline void roots(double x[PAIRS])
{
	for (int i = 0; i < PAIRS; i++)
		x[i] = sqrt(x[i]);
}

/* four_normals of the groups group .. group+LANES-1, with the same bits, in loops that compilers
 * turn into vector instructions. */
static void many_normals(struct rng rng, uint64_t group, float out[2 * PAIRS])
{
	uint64_t even[PAIRS], odd[PAIRS];
	double radius[PAIRS];

	lane_words(rng, group, even, odd);
	for (int i = 0; i < PAIRS; i++)
		radius[i] = radius_squared(even[i]);
	roots(radius);
	for (int i = 0; i < PAIRS; i++) {
		double c, s;

		cosine_sine(odd[i], &c, &s);
		out[2 * i] = (float)(radius[i] * c);
		out[2 * i + 1] = (float)(radius[i] * s);
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
	for (; i + 2 * PAIRS <= count; i += 2 * PAIRS)
		many_normals(rng, (first + i) / 4, out + i);
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
