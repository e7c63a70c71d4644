/*
 * The tile: R pixels times two vectors of output channels, all sums in
 * registers. Every multiply-add of a forward pass and of the gradient with
 * respect to inputs happens here. Each sum runs over blocks, taps and channels
 * in that order, whatever the tile's shape, so results do not depend on how an
 * image was cut into tiles.
 */
#include "nn/kernels/declare.h"

/*
 * rows, step and inner are constants where the caller passes constants: the body is compiled
 * once per combination, with all sums in registers. A step of 0 means job->row_step, an inner
 * of 0 job->inner.
 */
INLINE void tile_body(const struct tile_job *job, const float *in, const float *weights,
	float *out0, float *out1, const float *bias, const float *add0, const float *add1,
	const int rows, const size_t fixed_step, const int fixed_inner)
{
	const size_t step = fixed_step ? fixed_step : job->row_step;
	const int inner = fixed_inner ? fixed_inner : job->inner;
	vf a[TILE_ROWS_MAX], b[TILE_ROWS_MAX];

	UNROLL
	for (int r = 0; r < rows; r++)
		a[r] = b[r] = v_zero();
	for (int block = 0; block < job->blocks; block++, in += job->block_step) {
		for (int tap = 0; tap < job->tap_count; tap++) {
			const float *x = in + job->taps[tap];
			UNROLL4
			for (int j = 0; j < inner; j++, weights += 2 * VW) {
				const vf w0 = v_load(weights), w1 = v_load(weights + VW);
				UNROLL
				for (int r = 0; r < rows; r++) {
					const vf v = v_set1(x[r * step + j]);
					a[r] = v * w0 + a[r];
					b[r] = v * w1 + b[r];
				}
			}
		}
	}
	const size_t out_step = job->out_step;
	if (job->accumulate) {
		UNROLL
		for (int r = 0; r < rows; r++) {
			a[r] += v_load(out0 + r * out_step);
			if (out1)
				b[r] += v_load(out1 + r * out_step);
		}
	}
	if (bias) {
		const vf bias0 = v_loadu(bias), bias1 = v_loadu(bias + VW);
		UNROLL
		for (int r = 0; r < rows; r++) {
			a[r] += bias0;
			b[r] += bias1;
		}
	}
	if (add0) {
		UNROLL
		for (int r = 0; r < rows; r++) {
			a[r] += v_load(add0 + r * out_step);
			if (out1)
				b[r] += v_load(add1 + r * out_step);
		}
	}
	if (job->relu) {
		UNROLL
		for (int r = 0; r < rows; r++) {
			a[r] = v_relu(a[r]);
			b[r] = v_relu(b[r]);
		}
	}
	UNROLL
	for (int r = 0; r < rows; r++)
		v_store(out0 + r * out_step, a[r]);
	if (out1) {
		UNROLL
		for (int r = 0; r < rows; r++)
			v_store(out1 + r * out_step, b[r]);
	}
}

#define TILE(kind, rows, step, inner)                                                              \
	static void tile_##kind##_##rows(const struct tile_job *job, const float *in,              \
		const float *weights, float *out0, float *out1, const float *bias,                 \
		const float *add0, const float *add1)                                              \
	{                                                                                          \
		tile_body(job, in, weights, out0, out1, bias, add0, add1, rows, step, inner);      \
	}
#define TILES(rows)                                                                                \
	TILE(unit, rows, VW, VW)                                                                   \
	TILE(double, rows, 2 * VW, VW)                                                             \
	TILE(strided, rows, 0, VW)                                                                 \
	TILE(planar1, rows, 1, 0)                                                                  \
	TILE(planar2, rows, 2, 0)                                                                  \
	TILE(planar, rows, 0, 0)

/* As many rows as leave two vectors for weights and one for the input: see TILE_ROWS. */
TILES(1)
TILES(2)
#if TILE_ROWS > 2
TILES(3)
TILES(4)
TILES(5)
TILES(6)
#endif
#if TILE_ROWS > 6
TILES(7)
TILES(8)
TILES(9)
TILES(10)
TILES(11)
TILES(12)
TILES(13)
TILES(14)
#endif

#define ROWS_TO_2(kind) tile_##kind##_1, tile_##kind##_2
#define ROWS_TO_6(kind)                                                                            \
	ROWS_TO_2(kind), tile_##kind##_3, tile_##kind##_4, tile_##kind##_5, tile_##kind##_6
#define ROWS_TO_14(kind)                                                                           \
	ROWS_TO_6(kind), tile_##kind##_7, tile_##kind##_8, tile_##kind##_9, tile_##kind##_10,      \
		tile_##kind##_11, tile_##kind##_12, tile_##kind##_13, tile_##kind##_14
#if TILE_ROWS > 6
#define TILE_ROW(kind)                                                                             \
	{                                                                                          \
		NULL, ROWS_TO_14(kind)                                                             \
	}
#elif TILE_ROWS > 2
#define TILE_ROW(kind)                                                                             \
	{                                                                                          \
		NULL, ROWS_TO_6(kind)                                                              \
	}
#else
#define TILE_ROW(kind)                                                                             \
	{                                                                                          \
		NULL, ROWS_TO_2(kind)                                                              \
	}
#endif

tile_fn *const KERNEL(tile_table)[TILE_KINDS][TILE_ROWS_MAX + 1] = {
	[TILE_UNIT] = TILE_ROW(unit),
	[TILE_DOUBLE] = TILE_ROW(double),
	[TILE_STRIDED] = TILE_ROW(strided),
	[TILE_PLANAR1] = TILE_ROW(planar1),
	[TILE_PLANAR2] = TILE_ROW(planar2),
	[TILE_PLANAR] = TILE_ROW(planar),
};
