/*
 * The inner loops of resampling, compiled once per instruction set. They are exact
 * integer arithmetic up to one multiplication and one addition per number at the
 * end, which are not fused: all tables give the same bits.
 *
 * A weighted sum is one of 16-bit fixed-point numbers: weights have 14 bits after
 * the point and add up to 1 exactly, values are 8-bit pixels with 6 bits after the
 * point, and each product is rounded to that.
 */
#ifndef RETAIN_IMAGES_PIXEL_KERNELS_H
#define RETAIN_IMAGES_PIXEL_KERNELS_H

#include <stddef.h>
#include <stdint.h>

enum {
	PIXEL_LANES = 16,        /* rows processed in parallel */
	PIXEL_WEIGHT_BITS = 14,  /* of a weight, after the point */
	PIXEL_FRACTION_BITS = 6, /* of a value between the passes, after the point */
	PIXEL_DEPTH_MAX = 3,     /* interleaved components */
	PIXEL_TAPS_MAX = 64,     /* of one sum: more would add up rounding errors */
};

/* One output position: the inputs of its weighted sum. */
struct pixel_taps {
	int first, count;
	const int16_t *weights;
};

/* The destination: floats[c * plane + row * stride + x] = sum * scale[c] + shift[c]. */
struct pixel_output {
	float *floats;
	size_t plane, stride;
	int channels;
	const float *scale, *shift;
};

struct pixel_kernels {
	const char *isa;

	/*
	 * Sums rows: lane i of values[k * PIXEL_LANES + i] is the sum given by taps[i] of byte k
	 * of the rows, for k < bytes.
	 */
	void (*sum_rows)(const uint8_t *pixels, size_t stride, size_t bytes,
		const struct pixel_taps taps[PIXEL_LANES], int16_t *values);

	/*
	 * Sums columns: sum x < count of component c < depth in lane i < rows goes to column
	 * x of row i of plane c. Input k of it is at values[(k * depth + c) * PIXEL_LANES +
	 * i]. depth is 1, when one component fills all planes, or PIXEL_DEPTH_MAX.
	 */
	void (*sum_columns)(const int16_t *values, int depth, const struct pixel_taps *taps,
		int count, int rows, const struct pixel_output *out);
};

/* The n-th table this processor can run, best first; NULL after the last. */
const struct pixel_kernels *pixel_kernels_at(int index);

#endif
