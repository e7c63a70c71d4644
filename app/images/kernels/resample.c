/*
 * Sums of rows and of columns, 16 numbers of 16 bits at a time. Columns are
 * summed as rows of the transposed, so that nothing is ever gathered: the first
 * kernel transposes what it writes, the second transposes back.
 */
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif
#include "images/kernels/declare.h"

typedef int16_t lanes __attribute__((vector_size(2 * PIXEL_LANES)));
typedef uint8_t bytes16 __attribute__((vector_size(PIXEL_LANES)));
typedef int32_t half __attribute__((vector_size(2 * PIXEL_LANES)));
typedef float floats __attribute__((vector_size(2 * PIXEL_LANES)));
typedef int16_t half16 __attribute__((vector_size(PIXEL_LANES)));

/* a * b / 2^15, rounded to nearest, halves up. */
INLINE lanes multiply(lanes a, int16_t b)
{
#if defined(__AVX2__)
	return (lanes)_mm256_mulhrs_epi16((__m256i)a, _mm256_set1_epi16(b));
#else
	lanes product;

	for (int i = 0; i < PIXEL_LANES; i++)
		product[i] = (int16_t)((a[i] * b + (1 << 14)) >> 15);
	return product;
#endif
}

/* Pixels, with 7 bits after the point. */
INLINE lanes load_pixels(const uint8_t *p)
{
	bytes16 b;

	memcpy(&b, p, sizeof(b));
	return __builtin_convertvector(b, lanes) << 7;
}

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

static void sum_rows_strip(const uint8_t *pixels, size_t stride,
	const struct pixel_taps taps[PIXEL_LANES], int16_t *values)
{
	lanes sums[PIXEL_LANES];

	for (int i = 0; i < PIXEL_LANES; i++) {
		const uint8_t *p = pixels + (size_t)taps[i].first * stride;
		lanes sum = {0};

		for (int k = 0; k < taps[i].count; k++, p += stride)
			sum += multiply(load_pixels(p), taps[i].weights[k]);
		sums[i] = sum;
	}
	transpose(sums);
	memcpy(values, sums, sizeof(sums));
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

void KERNEL(sum_rows)(const uint8_t *pixels, size_t stride, size_t bytes,
	const struct pixel_taps taps[PIXEL_LANES], int16_t *values)
{
	if (bytes < PIXEL_LANES) {
		sum_rows_narrow(pixels, stride, bytes, taps, values);
		return;
	}
	/* The last strip overlaps the one before: nothing is read behind the last pixel. */
	for (size_t b = 0; b < bytes; b += PIXEL_LANES) {
		const size_t at = b + PIXEL_LANES <= bytes ? b : bytes - PIXEL_LANES;

		sum_rows_strip(pixels + at, stride, taps, values + at * PIXEL_LANES);
	}
}

INLINE void store_floats(lanes sum, float scale, float shift, float *out)
{
	half16 parts[2];

	memcpy(parts, &sum, sizeof(sum));
	for (int i = 0; i < 2; i++) {
		const floats result = __builtin_convertvector(parts[i], floats) * scale + shift;

		memcpy(out + 8 * i, &result, sizeof(result));
	}
}

void KERNEL(sum_columns)(const int16_t *values, size_t step, const struct pixel_taps *taps,
	int count, float scale, float shift, float *out, size_t stride, int rows)
{
	for (int x = 0; x < count; x += PIXEL_LANES) {
		const int columns = count - x < PIXEL_LANES ? count - x : PIXEL_LANES;
		lanes sums[PIXEL_LANES] = {{0}};

		for (int i = 0; i < columns; i++) {
			const struct pixel_taps *t = &taps[x + i];
			const int16_t *p = values + (size_t)t->first * step * PIXEL_LANES;
			lanes sum = {0}, value;

			for (int k = 0; k < t->count; k++, p += step * PIXEL_LANES) {
				memcpy(&value, p, sizeof(value));
				sum += multiply(value << 1, t->weights[k]);
			}
			sums[i] = sum;
		}
		transpose(sums);
		for (int i = 0; i < rows; i++) {
			float *to = out + (size_t)i * stride + x;
			float tail[PIXEL_LANES];

			store_floats(sums[i], scale, shift, columns == PIXEL_LANES ? to : tail);
			if (columns < PIXEL_LANES)
				memcpy(to, tail, (size_t)columns * sizeof(*to));
		}
	}
}
