/*
 * JPEG's arithmetic, with libjpeg's roundings. The transform is that of Loeffler,
 * Ligtenberg and Moschytz (1989) in integers, columns first, written as sums of
 * two products; before a rounding, the order of exact sums does not matter.
 */
#include <string.h>
#include "images/kernels/declare.h"

typedef int16_t words __attribute__((vector_size(16)));
typedef int32_t longs __attribute__((vector_size(32)));

/* Broken files may overflow. */
typedef uint16_t modular_words __attribute__((vector_size(16)));
typedef uint32_t modular __attribute__((vector_size(32)));

/* Two vectors whose products with constants will be added. */
#if defined(__AVX2__)
typedef __m256i pair;

INLINE pair pair_of(words a, words b)
{
	return _mm256_set_m128i(_mm_unpackhi_epi16((__m128i)a, (__m128i)b),
		_mm_unpacklo_epi16((__m128i)a, (__m128i)b));
}

INLINE modular sum(pair p, int a, int b)
{
	return (modular)_mm256_madd_epi16(
		p, _mm256_set1_epi32((int)((uint32_t)b << 16 | (uint16_t)a)));
}

/* To 16 bits, what is beyond them becoming the utmost. */
INLINE words narrow(longs x)
{
	return (words)_mm_packs_epi32(
		_mm256_castsi256_si128((__m256i)x), _mm256_extracti128_si256((__m256i)x, 1));
}
#else
typedef struct {
	longs a, b;
} pair;

INLINE pair pair_of(words a, words b)
{
	return (pair){__builtin_convertvector(a, longs), __builtin_convertvector(b, longs)};
}

INLINE modular sum(pair p, int a, int b)
{
	return (modular)(p.a * a + p.b * b);
}

INLINE words narrow(longs x)
{
	words result;

	for (int i = 0; i < 8; i++)
		result[i] = (int16_t)(x[i] < INT16_MIN   ? INT16_MIN
				      : x[i] > INT16_MAX ? INT16_MAX
							 : x[i]);
	return result;
}
#endif

#define ZIP_LOW(a, b)  __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define ZIP_HIGH(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)

INLINE void transpose(words row[8])
{
	words next[8];

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 4; i++) {
			next[2 * i] = ZIP_LOW(row[i], row[i + 4]);
			next[2 * i + 1] = ZIP_HIGH(row[i], row[i + 4]);
		}
		memcpy(row, next, sizeof(next));
	}
}

/* Multiples of 2^-13: sqrt(2) times cosines and their sums, rounded one by one as libjpeg does. */
enum {
	C0_298 = 2446,
	C0_390 = 3196,
	C0_541 = 4433,
	C0_765 = 6270,
	C0_899 = 7373,
	C1_175 = 9633,
	C1_501 = 12299,
	C1_847 = 15137,
	C1_961 = 16069,
	C2_053 = 16819,
	C2_562 = 20995,
	C3_072 = 25172,
	ONE = 1 << 13,
};

/* One dimension, eight times side by side; results are shifted right, rounding to nearest. */
INLINE void one_dimension(words v[8], const int shift)
{
	const pair even = pair_of(v[0], v[4]), middle = pair_of(v[2], v[6]);
	const pair outer = pair_of(v[1], v[7]), inner = pair_of(v[3], v[5]);
	const modular half = (modular){0} + (1u << (shift - 1));
	const modular plus = sum(even, ONE, ONE) + half, minus = sum(even, ONE, -ONE) + half;
	const modular m0 = sum(middle, C0_541 + C0_765, C0_541);
	const modular m1 = sum(middle, C0_541, C0_541 - C1_847);
	const modular e[4] = {plus + m0, minus + m1, minus - m1, plus - m0};
	const modular o[4] = {
		sum(outer, C1_501 - C0_899 - C0_390 + C1_175, C1_175 - C0_899) +
			sum(inner, C1_175, C1_175 - C0_390),
		sum(outer, C1_175, C1_175 - C1_961) +
			sum(inner, C3_072 - C2_562 - C1_961 + C1_175, C1_175 - C2_562),
		sum(outer, C1_175 - C0_390, C1_175) +
			sum(inner, C1_175 - C2_562, C2_053 - C2_562 - C0_390 + C1_175),
		sum(outer, C1_175 - C0_899, C0_298 - C0_899 - C1_961 + C1_175) +
			sum(inner, C1_175 - C1_961, C1_175),
	};

	for (int i = 0; i < 4; i++) {
		v[i] = narrow((longs)(e[i] + o[i]) >> shift);
		v[7 - i] = narrow((longs)(e[i] - o[i]) >> shift);
	}
}

void KERNEL(transform)(
	const int16_t *coefficients, const uint16_t *steps, uint8_t *out, size_t stride)
{
	typedef int8_t bytes8 __attribute__((vector_size(8)));
	words v[8];

	for (int i = 0; i < 8; i++) {
		modular_words step;

		memcpy(&v[i], coefficients + 8 * i, sizeof(v[i]));
		memcpy(&step, steps + 8 * i, sizeof(step));
		v[i] = (words)((modular_words)v[i] * step);
	}
	one_dimension(v, 11);
	transpose(v);
	one_dimension(v, 18);
	transpose(v);
	for (int i = 0; i < 8; i++) {
		const words low = (words){0} - 128, high = (words){0} + 127;
		const words under = v[i]<low, over = v[i]> high;
		const words level = (low & under) | (high & over) | (v[i] & ~(under | over));
		const bytes8 pixels = __builtin_convertvector(level + 128, bytes8);

		memcpy(out + (size_t)i * stride, &pixels, sizeof(pixels));
	}
}

/* Sums of the two rows are on a scale of 4, or of 1 if there is but one. */
INLINE void widen_sums(const int16_t *s, int count, const int one, uint8_t *out)
{
	const int shift = one == 4 ? 4 : 2, low = one == 4 ? 8 : 1, high = one == 4 ? 7 : 2;

	out[0] = (uint8_t)((4 * s[0] + low * (one == 4)) >> shift);
	for (int i = 1; i < count; i++) {
		out[2 * i - 1] = (uint8_t)((3 * s[i - 1] + s[i] + high) >> shift);
		out[2 * i] = (uint8_t)((3 * s[i] + s[i - 1] + low) >> shift);
	}
	out[2 * count - 1] = (uint8_t)((4 * s[count - 1] + high * (one == 4)) >> shift);
}

void KERNEL(widen)(const uint8_t *row, const uint8_t *other, int count, uint8_t *out)
{
	enum { PIECE = 256 };
	int16_t sums[PIECE + 2];

	/* Pieces overlap by a sample on each side, whose results are overwritten or come before. */
	for (int first = 0; first < count; first += PIECE) {
		const int from = first ? first - 1 : 0,
			  end = first + PIECE + 1 < count ? first + PIECE + 1 : count;
		const uint8_t edge = first ? out[2 * from] : 0;

		for (int i = from; i < end; i++)
			sums[i - from] = (int16_t)(other ? 3 * row[i] + other[i] : row[i]);
		if (other)
			widen_sums(sums, end - from, 4, out + 2 * from);
		else
			widen_sums(sums, end - from, 1, out + 2 * from);
		if (first)
			out[2 * from] = edge;
	}
}

INLINE uint8_t clamp(int x)
{
	return (uint8_t)(x < 0 ? 0 : x > 255 ? 255 : x);
}

/* Multiples of 2^-16: 1.402, 0.34414, 0.71414 and 1.772. */
enum { RED = 91881, GREEN_B = 22554, GREEN_R = 46802, BLUE = 116130, WHOLE = 1 << 16 };

#if defined(__AVX2__)
INLINE __m256i load16(const uint8_t *p)
{
	return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)p));
}

INLINE void store16(uint8_t *p, __m256i x)
{
	const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi16(x, x), 8);

	_mm_storeu_si128((__m128i *)p, _mm256_castsi256_si128(packed));
}

/* x * factor / 2^16, rounded to nearest: half of what twice x gives, rounded down before. */
INLINE __m256i share(__m256i x, int factor)
{
	const __m256i twice =
		_mm256_mulhi_epi16(_mm256_add_epi16(x, x), _mm256_set1_epi16((short)factor));

	return _mm256_srai_epi16(_mm256_add_epi16(twice, _mm256_set1_epi16(1)), 1);
}

/* Factors are made small by taking out whole ones. */
INLINE void colour16(const uint8_t *py, const uint8_t *pb, const uint8_t *pr, uint8_t *red,
	uint8_t *green, uint8_t *blue)
{
	const __m256i factors =
		_mm256_set1_epi32((int)((uint32_t)(WHOLE - GREEN_R) << 16 | (uint16_t)-GREEN_B));
	const __m256i half = _mm256_set1_epi32(WHOLE / 2), middle = _mm256_set1_epi16(128);
	const __m256i y = load16(py), b = _mm256_sub_epi16(load16(pb), middle);
	const __m256i r = _mm256_sub_epi16(load16(pr), middle);
	const __m256i low = _mm256_madd_epi16(_mm256_unpacklo_epi16(b, r), factors);
	const __m256i high = _mm256_madd_epi16(_mm256_unpackhi_epi16(b, r), factors);
	const __m256i mixed = _mm256_packs_epi32(_mm256_srai_epi32(_mm256_add_epi32(low, half), 16),
		_mm256_srai_epi32(_mm256_add_epi32(high, half), 16));

	store16(red, _mm256_add_epi16(_mm256_add_epi16(y, r), share(r, RED - WHOLE)));
	store16(green, _mm256_add_epi16(_mm256_sub_epi16(y, r), mixed));
	store16(blue, _mm256_add_epi16(_mm256_add_epi16(y, _mm256_add_epi16(b, b)),
			      share(b, BLUE - 2 * WHOLE)));
}
#endif

void KERNEL(colour)(const uint8_t *restrict y, const uint8_t *restrict cb,
	const uint8_t *restrict cr, int count, uint8_t *restrict red, uint8_t *restrict green,
	uint8_t *restrict blue)
{
	int i = 0;

#if defined(__AVX2__)
	for (; i + 16 <= count; i += 16)
		colour16(y + i, cb + i, cr + i, red + i, green + i, blue + i);
#endif
	for (; i < count; i++) {
		const int b = cb[i] - 128, r = cr[i] - 128;

		red[i] = clamp(y[i] + ((RED * r + WHOLE / 2) >> 16));
		green[i] = clamp(y[i] + ((-GREEN_B * b - GREEN_R * r + WHOLE / 2) >> 16));
		blue[i] = clamp(y[i] + ((BLUE * b + WHOLE / 2) >> 16));
	}
}
