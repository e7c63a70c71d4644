/*
 * The tile: R pixels times two vectors of output channels, all sums in
 * registers. Every multiply-add of a forward pass and of the gradient with
 * respect to inputs happens here. Each sum runs over blocks, taps and channels
 * in that order, whatever the tile's shape, so results do not depend on how an
 * image was cut into tiles.
 */
#include "nn/own/kernels/declare.h"
#include "nn/own/kernels/tile_rows.h"

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

EACH_ROWS(TILES)

tile_fn *const KERNEL(tile_table)[TILE_KINDS][TILE_ROWS_MAX + 1] = {
	[TILE_UNIT] = ROWS_OF(tile_unit),
	[TILE_DOUBLE] = ROWS_OF(tile_double),
	[TILE_STRIDED] = ROWS_OF(tile_strided),
	[TILE_PLANAR1] = ROWS_OF(tile_planar1),
	[TILE_PLANAR2] = ROWS_OF(tile_planar2),
	[TILE_PLANAR] = ROWS_OF(tile_planar),
};
