/*
 * The inner loops of resampling and of JPEG, compiled once per instruction set.
 * They are exact integer arithmetic up to one multiplication and one addition per
 * number at resampling's end, which are not fused: all tables give the same bits.
 *
 * In resampling, a weighted sum is that of 16-bit fixed-point numbers: weights have 14 bits
 * after the point and add up to 1 exactly, values are 8-bit pixels with 6 bits
 * after the point, and each product is rounded to that.
 */
#ifndef RETAIN_IMAGES_PIXEL_KERNELS_H
#define RETAIN_IMAGES_PIXEL_KERNELS_H

#include <stddef.h>
#include <stdint.h>

enum {
	PIXEL_LANES = 16,        /* rows that are worked on side by side */
	PIXEL_WEIGHT_BITS = 14,  /* of a weight, after the point */
	PIXEL_FRACTION_BITS = 6, /* of a value between the passes, after the point */
	PIXEL_TAPS_MAX = 64,     /* of one sum: more would add up rounding errors */
};

/* One output position: which inputs it is the weighted sum of. */
struct pixel_taps {
	int first, count;
	const int16_t *weights;
};

struct pixel_kernels {
	const char *isa;

	/*
	 * Sums rows: lane i of values[k * PIXEL_LANES + i] is the sum that taps[i] says
	 * of byte k of the rows, for k < bytes.
	 */
	void (*sum_rows)(const uint8_t *pixels, size_t stride, size_t bytes,
		const struct pixel_taps taps[PIXEL_LANES], int16_t *values);

	/*
	 * Sums columns: out[i * stride + x] = scale * sum + shift for lane i < lanes and
	 * x < count. Input k of a sum is at values[k * step * PIXEL_LANES + i].
	 */
	void (*sum_columns)(const int16_t *values, size_t step, const struct pixel_taps *taps,
		int count, float scale, float shift, float *out, size_t stride, int lanes);

	/*
	 * The inverse cosine transform of 8 x 8 coefficients times quantisation steps, as
	 * 8 rows of 8 pixels: libjpeg's accurate integer one.
	 */
	void (*transform)(
		const int16_t *coefficients, const uint16_t *steps, uint8_t *out, size_t stride);

	/*
	 * Twice as many samples, each 3/4 of the nearest and 1/4 of the next one, as libjpeg
	 * interpolates chroma. `other` is the next row above or below, of which there is
	 * 1/4, too; NULL where there are as many rows already. out: 2 * count.
	 */
	void (*widen)(const uint8_t *row, const uint8_t *other, int count, uint8_t *out);

	/* count pixels of YCbCr to planes of red, green and blue, rounded as libjpeg does. */
	void (*colour)(const uint8_t *y, const uint8_t *cb, const uint8_t *cr, int count,
		uint8_t *red, uint8_t *green, uint8_t *blue);
};

/* The n-th table this processor can run, best first; NULL after the last. */
const struct pixel_kernels *pixel_kernels_at(int index);

#endif
