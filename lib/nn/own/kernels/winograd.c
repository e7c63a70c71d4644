/*
 * Winograd's F(4x4, 3x3): the transforms around 36 small matrix products. A
 * tile is 4x4 outputs computed from 6x6 inputs; its 36 transformed values are
 * the "points". Each transform is one-dimensional, applied to columns and rows.
 *
 * Interpolation points 0, +-1, +-2 and infinity. With d the input, w the
 * filter, y the output: y = A'[(G w G') * (B' d B)] A. The gradient of the
 * filter is G'[(B' d B) * (A dy A')] G, summed over tiles.
 */
#include "nn/own/kernels/declare.h"

/* B' d: six inputs to six points. */
INLINE void input_points(vf d0, vf d1, vf d2, vf d3, vf d4, vf d5, vf *out)
{
	const vf a = d4 - v_set1(4) * d2, b = d3 - v_set1(4) * d1;
	const vf c = d4 - d2, e = v_set1(2) * (d3 - d1);
	out[0] = v_set1(4) * d0 + (d4 - v_set1(5) * d2);
	out[1] = a + b;
	out[2] = a - b;
	out[3] = c + e;
	out[4] = c - e;
	out[5] = v_set1(4) * d1 + (d5 - v_set1(5) * d3);
}

/* A' m: six points to four outputs. */
INLINE void output_values(const vf *m, vf *out, int step)
{
	const vf p = m[1] + m[2], q = m[1] - m[2], r = m[3] + m[4], t = m[3] - m[4];
	out[0] = m[0] + p + r;
	out[step] = v_set1(2) * t + q;
	out[2 * step] = v_set1(4) * r + p;
	out[3 * step] = v_set1(8) * t + q + m[5];
}

/* A y: four output gradients to six points. */
INLINE void output_points(vf y0, vf y1, vf y2, vf y3, vf *out)
{
	const vf p = y0 + y2, q = y1 + y3, r = v_set1(4) * y2 + y0,
		 t = v_set1(2) * (v_set1(4) * y3 + y1);
	out[0] = y0;
	out[1] = p + q;
	out[2] = p - q;
	out[3] = r + t;
	out[4] = r - t;
	out[5] = y3;
}

/* G w: three taps to six points. */
INLINE void filter_points(vf w0, vf w1, vf w2, vf *out)
{
	const vf a = v_set1(-1.0f / 6) * (w0 + w2), b = v_set1(1.0f / 6) * w1;
	const vf c = v_set1(1.0f / 24) * w0 + v_set1(1.0f / 6) * w2, d = v_set1(1.0f / 12) * w1;
	out[0] = v_set1(0.25f) * w0;
	out[1] = a - b;
	out[2] = a + b;
	out[3] = c + d;
	out[4] = c - d;
	out[5] = w2;
}

/* G' u: six points to three taps. */
INLINE void filter_taps(const vf *u, vf *out)
{
	const vf p = u[1] + u[2], q = u[2] - u[1], r = u[3] + u[4], t = u[3] - u[4];
	out[0] = v_set1(0.25f) * u[0] + (v_set1(-1.0f / 6) * p + v_set1(1.0f / 24) * r);
	out[1] = v_set1(1.0f / 6) * q + v_set1(1.0f / 12) * t;
	out[2] = v_set1(-1.0f / 6) * p + (v_set1(1.0f / 6) * r + u[5]);
}

/* Where a tile lies. */
struct tile_place {
	int image, row, col;
};

INLINE struct tile_place place_of(const struct winograd_shape *s, int tile)
{
	const int per_image = s->tile_rows * s->tile_cols, in_image = tile % per_image;
	return (struct tile_place){
		tile / per_image, in_image / s->tile_cols, in_image % s->tile_cols};
}

INLINE void place_next(const struct winograd_shape *s, struct tile_place *place)
{
	if (++place->col < s->tile_cols)
		return;
	place->col = 0;
	if (++place->row < s->tile_rows)
		return;
	place->row = 0;
	place->image++;
}

INLINE vf pixel_or_zero(const float *row, int x, int width)
{
	return x >= 0 && x < width ? v_load(row + (size_t)x * VW) : v_zero();
}

/* Rows of a tile's 6x6 inputs, transformed along the row; rows outside the image are zero. */
INLINE void input_rows(const struct winograd_shape *s, const float *plane, int y0, int x0, vf e[36])
{
	const bool inside = x0 >= 0 && x0 + 6 <= s->width;

	for (int i = 0; i < 6; i++) {
		const int y = y0 + i;
		if (y < 0 || y >= s->height) {
			for (int j = 0; j < 6; j++)
				e[i * 6 + j] = v_zero();
			continue;
		}
		const float *row = plane + (size_t)y * s->width * VW;
		if (inside) {
			const float *p = row + (size_t)x0 * VW;
			input_points(v_load(p), v_load(p + VW), v_load(p + 2 * VW),
				v_load(p + 3 * VW), v_load(p + 4 * VW), v_load(p + 5 * VW),
				e + i * 6);
		} else {
			vf d[6];
			for (int j = 0; j < 6; j++)
				d[j] = pixel_or_zero(row, x0 + j, s->width);
			input_points(d[0], d[1], d[2], d[3], d[4], d[5], e + i * 6);
		}
	}
}

void KERNEL(winograd_input)(const struct winograd_shape *s, const float *image, float *points,
	int first, int count, int block0, int block1)
{
	for (int block = block0; block < block1; block++) {
		struct tile_place at = place_of(s, first);
		float *out = points + block * s->tile_block;
		for (int t = 0; t < count; t++, out += VW, place_next(s, &at)) {
			const float *plane = image + at.image * s->image + block * s->plane;
			vf e[36], c[6];
			input_rows(s, plane, at.row * 4 - s->pad, at.col * 4 - s->pad, e);
			for (int j = 0; j < 6; j++) {
				input_points(e[j], e[6 + j], e[12 + j], e[18 + j], e[24 + j],
					e[30 + j], c);
				UNROLL
				for (int i = 0; i < 6; i++)
					v_store(out + (size_t)(i * 6 + j) * s->point, c[i]);
			}
		}
	}
}

INLINE void finish_pixel(float *p, size_t at, vf value, const struct epilogue *end, vf bias)
{
	if (end->bias)
		value += bias;
	if (end->add)
		value += v_load(end->add + at);
	if (end->relu)
		value = v_relu(value);
	v_store(p, value);
}

void KERNEL(winograd_output)(const struct winograd_shape *s, const float *points, float *image,
	int first, int count, int block0, int block1, const struct epilogue *end)
{
	const bool plain = !end->bias && !end->add && !end->relu;

	for (int block = block0; block < block1; block++) {
		struct tile_place at = place_of(s, first);
		const float *in = points + block * s->tile_block;
		const vf bias = end->bias ? v_loadu(end->bias + block * VW) : v_zero();
		for (int t = 0; t < count; t++, in += VW, place_next(s, &at)) {
			const int y0 = at.row * 4, x0 = at.col * 4;
			const size_t corner = at.image * s->image + block * s->plane +
					      ((size_t)y0 * s->width + x0) * VW;
			vf e[24], f[16], c[6];
			for (int j = 0; j < 6; j++) {
				UNROLL
				for (int i = 0; i < 6; i++)
					c[i] = v_load(in + (size_t)(i * 6 + j) * s->point);
				output_values(c, e + j, 6);
			}
			for (int i = 0; i < 4; i++)
				output_values(e + i * 6, f + i * 4, 1);
			const int rows = s->height - y0 < 4 ? s->height - y0 : 4;
			const int cols = s->width - x0 < 4 ? s->width - x0 : 4;
			for (int i = 0; i < rows; i++) {
				const size_t row = corner + (size_t)i * s->width * VW;
				for (int j = 0; j < cols; j++) {
					if (plain)
						v_store(image + row + j * VW, f[i * 4 + j]);
					else
						finish_pixel(image + row + j * VW, row + j * VW,
							f[i * 4 + j], end, bias);
				}
			}
		}
	}
}

void KERNEL(winograd_output_grad)(const struct winograd_shape *s, const float *image, float *points,
	int first, int count, int block0, int block1)
{
	for (int block = block0; block < block1; block++) {
		struct tile_place at = place_of(s, first);
		float *out = points + block * s->tile_block;
		for (int t = 0; t < count; t++, out += VW, place_next(s, &at)) {
			const float *plane = image + at.image * s->image + block * s->plane;
			vf e[24], c[6];
			for (int i = 0; i < 4; i++) {
				const int y = at.row * 4 + i, x = at.col * 4;
				const float *row = plane + (size_t)y * s->width * VW;
				vf f[4];
				for (int j = 0; j < 4; j++)
					f[j] = y < s->height ? pixel_or_zero(row, x + j, s->width)
							     : v_zero();
				output_points(f[0], f[1], f[2], f[3], e + i * 6);
			}
			for (int j = 0; j < 6; j++) {
				output_points(e[j], e[6 + j], e[12 + j], e[18 + j], c);
				UNROLL
				for (int i = 0; i < 6; i++)
					v_store(out + (size_t)(i * 6 + j) * s->point, c[i]);
			}
		}
	}
}

void KERNEL(winograd_weights)(const float *taps, float *points, size_t step)
{
	vf e[18], u[6];

	for (int j = 0; j < 3; j++) {
		filter_points(v_load(taps + j * VW), v_load(taps + (3 + j) * VW),
			v_load(taps + (6 + j) * VW), u);
		for (int i = 0; i < 6; i++)
			e[i * 3 + j] = u[i];
	}
	for (int i = 0; i < 6; i++) {
		filter_points(e[i * 3], e[i * 3 + 1], e[i * 3 + 2], u);
		for (int j = 0; j < 6; j++)
			v_store(points + (size_t)(i * 6 + j) * step, u[j]);
	}
}

void KERNEL(winograd_weights_grad)(const float *points, size_t step, float *taps)
{
	vf e[18], u[6], w[3];

	for (int j = 0; j < 6; j++) {
		for (int i = 0; i < 6; i++)
			u[i] = v_load(points + (size_t)(i * 6 + j) * step);
		filter_taps(u, w);
		for (int i = 0; i < 3; i++)
			e[i * 6 + j] = w[i];
	}
	for (int i = 0; i < 3; i++) {
		filter_taps(e + i * 6, w);
		for (int j = 0; j < 3; j++)
			v_store(taps + (i * 3 + j) * VW, w[j]);
	}
}
