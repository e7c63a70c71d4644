/*
 * Pooling over one channel block. Max pooling remembers which element of the
 * window won (the first of equals, as PyTorch does), so that its gradient can
 * be gathered by input pixel: every pixel is written once.
 */
#include "nn/own/kernels/declare.h"

static void pool_pixel(
	const struct pool_shape *s, const float *x, int oy, int ox, float *y, uint8_t *which)
{
	vf best = v_set1(-__builtin_inff());
	vi winner = (vi)v_zero() - 1;

	for (int k = 0; k < s->size * s->size; k++) {
		const int iy = oy * s->stride - s->pad + k / s->size,
			  ix = ox * s->stride - s->pad + k % s->size;
		if (iy < 0 || iy >= s->height || ix < 0 || ix >= s->width)
			continue;
		const vf v = v_load(x + ((size_t)iy * s->width + ix) * VW);
		/* NaN wins, and shows; so does the first, were all minus infinity. */
		const vi better = (vi)(v > best) | (vi)(v != v) | (vi)(winner < 0);
		best = v_select(better, v, best);
		const vi index = (vi)v_zero() + k;
		winner = (index & better) | (winner & ~better);
	}
	v_store(y, best);
	if (which)
		for (int i = 0; i < VW; i++)
			which[i] = (uint8_t)winner[i];
}

void KERNEL(pool_max)(const struct pool_shape *s, const float *x, float *y, uint8_t *which)
{
	for (int oy = 0; oy < s->out_height; oy++)
		for (int ox = 0; ox < s->out_width; ox++) {
			const size_t at = ((size_t)oy * s->out_width + ox) * VW;
			pool_pixel(s, x, oy, ox, y + at, which ? which + at : NULL);
		}
}

/* The first output whose window reaches input position i, and the last plus one. */
static void windows_of(int i, const struct pool_shape *s, int outputs, int *first, int *end)
{
	const int low = i + s->pad - s->size + 1;
	*first = low <= 0 ? 0 : (low + s->stride - 1) / s->stride;
	*end = (i + s->pad) / s->stride + 1;
	if (*end > outputs)
		*end = outputs;
}

void KERNEL(pool_max_grad)(
	const struct pool_shape *s, const float *dy, const uint8_t *which, float *dx)
{
	for (int iy = 0; iy < s->height; iy++) {
		int y0, y1;
		windows_of(iy, s, s->out_height, &y0, &y1);
		for (int ix = 0; ix < s->width; ix++) {
			int x0, x1;
			windows_of(ix, s, s->out_width, &x0, &x1);
			vf sum = v_zero();
			for (int oy = y0; oy < y1; oy++) {
				for (int ox = x0; ox < x1; ox++) {
					const int me = (iy - oy * s->stride + s->pad) * s->size +
						       (ix - ox * s->stride + s->pad);
					const size_t at = ((size_t)oy * s->out_width + ox) * VW;
					vi won = {0};
					UNROLL
					for (int i = 0; i < VW; i++)
						won[i] = -(which[at + i] == me);
					sum += v_and(v_load(dy + at), won);
				}
			}
			v_store(dx + ((size_t)iy * s->width + ix) * VW, sum);
		}
	}
}

void KERNEL(pool_mean)(const float *x, size_t pixels, float *y)
{
	vf sum = v_zero();

	for (size_t i = 0; i < pixels; i++)
		sum += v_load(x + i * VW);
	v_store(y, sum * v_set1(1.0f / (float)pixels));
}

void KERNEL(pool_mean_grad)(const float *dy, size_t pixels, float *dx)
{
	const vf share = v_load(dy) * v_set1(1.0f / (float)pixels);

	for (size_t i = 0; i < pixels; i++)
		v_store(dx + i * VW, share);
}
