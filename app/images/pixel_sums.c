/*
 * Sums of rows and of columns, 16 numbers of 16 bits at a time. Columns are
 * summed as rows of the transposed, so that nothing is ever gathered: the first
 * kernel transposes what it writes, the second transposes back. Compiled once per
 * instruction set; pixel_kernels.h says what each kernel does.
 */
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif
#include "images/pixel_kernels.h"

#define JOIN2(name, isa) name##_##isa
#define JOIN(name, isa)  JOIN2(name, isa)
#define TEXT2(isa)       #isa
#define TEXT(isa)        TEXT2(isa)

#define INLINE static inline __attribute__((always_inline))

typedef int16_t lanes __attribute__((vector_size(2 * PIXEL_LANES)));
typedef float floats __attribute__((vector_size(2 * PIXEL_LANES)));

#if defined(__AVX2__)
/* a * b / 2^15, rounded to nearest, halves up. */
INLINE lanes multiply(lanes a, int16_t b)
{
	return (lanes)_mm256_mulhrs_epi16((__m256i)a, _mm256_set1_epi16(b));
}

/* Pixels, with 7 bits after the point. */
INLINE lanes load_pixels(const uint8_t *p)
{
	return (lanes)_mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)p)) << 7;
}

INLINE floats to_floats(const int16_t *p)
{
	return (floats)_mm256_cvtepi32_ps(
		_mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)p)));
}
#else
INLINE lanes multiply(lanes a, int16_t b)
{
	lanes product;

	for (int i = 0; i < PIXEL_LANES; i++)
		product[i] = (int16_t)((a[i] * b + (1 << 14)) >> 15);
	return product;
}

INLINE lanes load_pixels(const uint8_t *p)
{
	typedef uint8_t bytes16 __attribute__((vector_size(PIXEL_LANES)));
	bytes16 pixels;

	memcpy(&pixels, p, sizeof(pixels));
	return __builtin_convertvector(pixels, lanes) << 7;
}

INLINE floats to_floats(const int16_t *p)
{
	typedef int16_t half __attribute__((vector_size(PIXEL_LANES)));
	half numbers;

	memcpy(&numbers, p, sizeof(numbers));
	return __builtin_convertvector(numbers, floats);
}
#endif

enum { WIDE = 4 }; /* vectors of a strip of rows */

#define ZIP_LOW(a, b)                                                                              \
	__builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27)
#define ZIP_HIGH(a, b)                                                                             \
	__builtin_shufflevector(a, b, 4, 20, 5, 21, 6, 22, 7, 23, 12, 28, 13, 29, 14, 30, 15, 31)
#define LOW_HALVES(a, b)                                                                           \
	__builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23)
#define HIGH_HALVES(a, b)                                                                          \
	__builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31)

/*
 * Transposes 16 x 16. Three perfect shuffles of eight rows each transpose the
 * 8 x 8 blocks inside the vectors' halves; then halves change places.
 */
INLINE void transpose(lanes row[PIXEL_LANES])
{
	lanes next[PIXEL_LANES];

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 4; i++)
			for (int k = 0; k < PIXEL_LANES; k += 8) {
				next[k + 2 * i] = ZIP_LOW(row[k + i], row[k + i + 4]);
				next[k + 2 * i + 1] = ZIP_HIGH(row[k + i], row[k + i + 4]);
			}
		memcpy(row, next, sizeof(next));
	}
	for (int i = 0; i < 8; i++) {
		next[i] = LOW_HALVES(row[i], row[i + 8]);
		next[i + 8] = HIGH_HALVES(row[i], row[i + 8]);
	}
	memcpy(row, next, sizeof(next));
}

/* `wide` vectors side by side, so that a weight and a cache line serve more than one. */
INLINE void sum_rows_strip(const uint8_t *pixels, size_t stride, const int wide,
	const struct pixel_taps taps[PIXEL_LANES], int16_t *values)
{
	lanes sums[WIDE][PIXEL_LANES];

	for (int i = 0; i < PIXEL_LANES; i++) {
		const uint8_t *p = pixels + (size_t)taps[i].first * stride;
		lanes sum[WIDE] = {{0}};

		for (int k = 0; k < taps[i].count; k++, p += stride)
			for (int w = 0; w < wide; w++)
				sum[w] += multiply(
					load_pixels(p + w * PIXEL_LANES), taps[i].weights[k]);
		for (int w = 0; w < wide; w++)
			sums[w][i] = sum[w];
	}
	for (int w = 0; w < wide; w++) {
		transpose(sums[w]);
		memcpy(values + w * PIXEL_LANES * PIXEL_LANES, sums[w], sizeof(sums[w]));
	}
}

/* Rows of less than 16 bytes: the same, one by one. */
static void sum_rows_narrow(const uint8_t *pixels, size_t stride, size_t bytes,
	const struct pixel_taps taps[PIXEL_LANES], int16_t *values)
{
	for (size_t b = 0; b < bytes; b++)
		for (int i = 0; i < PIXEL_LANES; i++) {
			const uint8_t *p = pixels + (size_t)taps[i].first * stride + b;
			int sum = 0;

			for (int k = 0; k < taps[i].count; k++)
				sum += (p[(size_t)k * stride] * 128 * taps[i].weights[k] +
					       (1 << 14)) >>
				       15;
			values[b * PIXEL_LANES + (size_t)i] = (int16_t)sum;
		}
}

static void sum_rows(const uint8_t *pixels, size_t stride, size_t bytes,
	const struct pixel_taps taps[PIXEL_LANES], int16_t *values)
{
	size_t b = 0;

	if (bytes < PIXEL_LANES) {
		sum_rows_narrow(pixels, stride, bytes, taps, values);
		return;
	}
	for (; b + WIDE * PIXEL_LANES <= bytes; b += WIDE * PIXEL_LANES)
		sum_rows_strip(pixels + b, stride, WIDE, taps, values + b * PIXEL_LANES);
	/* The last strip overlaps the one before: nothing is read behind the last pixel. */
	for (; b < bytes; b += PIXEL_LANES) {
		const size_t at = b + PIXEL_LANES <= bytes ? b : bytes - PIXEL_LANES;

		sum_rows_strip(pixels + at, stride, 1, taps, values + at * PIXEL_LANES);
	}
}

/* The sums of one column in each of `depth` components. */
INLINE void sum_column(const int16_t *values, const int depth, const struct pixel_taps *taps,
	lanes sums[PIXEL_DEPTH_MAX])
{
	const int16_t *p = values + (size_t)(taps->first * depth) * PIXEL_LANES;
	lanes value;

	for (int c = 0; c < depth; c++)
		sums[c] = (lanes){0};
	for (int k = 0; k < taps->count; k++)
		for (int c = 0; c < depth; c++, p += PIXEL_LANES) {
			memcpy(&value, p, sizeof(value));
			sums[c] += multiply(value << 1, taps->weights[k]);
		}
}

INLINE void store_floats(lanes sum, int count, float scale, float shift, float *out)
{
	int16_t numbers[PIXEL_LANES];
	float floats16[PIXEL_LANES], *to = count == PIXEL_LANES ? out : floats16;

	memcpy(numbers, &sum, sizeof(sum));
	for (int i = 0; i < PIXEL_LANES; i += PIXEL_LANES / 2) {
		const floats result = to_floats(numbers + i) * scale + shift;

		memcpy(to + i, &result, sizeof(result));
	}
	if (count < PIXEL_LANES)
		memcpy(out, to, (size_t)count * sizeof(*out));
}

INLINE void sum_columns_of(const int16_t *values, const int depth, const struct pixel_taps *taps,
	int count, int rows, const struct pixel_output *out)
{
	for (int x = 0; x < count; x += PIXEL_LANES) {
		const int columns = count - x < PIXEL_LANES ? count - x : PIXEL_LANES;
		lanes sums[PIXEL_DEPTH_MAX][PIXEL_LANES], column[PIXEL_DEPTH_MAX];

		/* Behind the last column it is computed again, and not used. */
		for (int i = 0; i < PIXEL_LANES; i++) {
			sum_column(
				values, depth, &taps[x + (i < columns ? i : columns - 1)], column);
			for (int c = 0; c < depth; c++)
				sums[c][i] = column[c];
		}
		for (int c = 0; c < depth; c++)
			transpose(sums[c]);
		for (int c = 0; c < out->channels; c++)
			for (int i = 0; i < rows; i++)
				store_floats(sums[c % depth][i], columns, out->scale[c],
					out->shift[c],
					out->floats + (size_t)c * out->plane +
						(size_t)i * out->stride + x);
	}
}

static void sum_columns(const int16_t *values, int depth, const struct pixel_taps *taps, int count,
	int rows, const struct pixel_output *out)
{
	/* Two loops, each with a depth that the compiler knows. */
	if (depth == PIXEL_DEPTH_MAX)
		sum_columns_of(values, PIXEL_DEPTH_MAX, taps, count, rows, out);
	else
		sum_columns_of(values, 1, taps, count, rows, out);
}

extern const struct pixel_kernels JOIN(pixel_kernels, ISA);
const struct pixel_kernels JOIN(pixel_kernels, ISA) = {TEXT(ISA), sum_rows, sum_columns};
