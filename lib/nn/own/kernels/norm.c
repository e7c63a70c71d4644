/*
 * Inner loops of group norm and batch norm: one channel block of one image at
 * a time. The layers decide over what statistics run; here are only sums per
 * channel and affine maps, fused with ReLU and the residual join. All of it is
 * bound by memory, so each value is read and written as few times as can be.
 */
#include "nn/own/kernels/declare.h"

/* Subtracting the first pixel keeps the variance exact when the mean is far from zero. */
void KERNEL(norm_moments)(const float *x, size_t pixels, float *shift, float *sum, float *square)
{
	const vf first = v_load(x);
	vf s[4], q[4];
	size_t i = 0;

	for (int k = 0; k < 4; k++)
		s[k] = q[k] = v_zero();
	for (; i + 4 <= pixels; i += 4) {
		UNROLL
		for (int k = 0; k < 4; k++) {
			const vf d = v_load(x + (i + k) * VW) - first;
			s[k] += d;
			q[k] = d * d + q[k];
		}
	}
	for (; i < pixels; i++) {
		const vf d = v_load(x + i * VW) - first;
		s[0] += d;
		q[0] = d * d + q[0];
	}
	v_storeu(shift, first);
	v_storeu(sum, (s[0] + s[1]) + (s[2] + s[3]));
	v_storeu(square, (q[0] + q[1]) + (q[2] + q[3]));
}

INLINE void apply_body(const float *x, float *y, const float *add, vbits *mask, size_t pixels,
	vf scale, vf offset, const bool relu, const bool join, const bool bits)
{
	for (size_t i = 0; i < pixels; i++) {
		vf v = v_load(x + i * VW) * scale + offset;
		if (join)
			v += v_load(add + i * VW);
		if (bits)
			mask[i] = v_positive(v);
		if (relu)
			v = v_relu(v);
		v_store(y + i * VW, v);
	}
}

void KERNEL(norm_apply)(const float *x, float *y, const float *add, void *mask, size_t pixels,
	const float *scale, const float *offset, bool relu)
{
	const vf a = v_loadu(scale), b = v_loadu(offset);

	if (add && mask)
		apply_body(x, y, add, mask, pixels, a, b, relu, true, true);
	else if (add)
		apply_body(x, y, add, NULL, pixels, a, b, relu, true, false);
	else if (relu)
		apply_body(x, y, NULL, NULL, pixels, a, b, true, false, false);
	else
		apply_body(x, y, NULL, NULL, pixels, a, b, false, false, false);
}

/* The gradient behind the ReLU. Without a residual the ReLU's side is found again from x. */
INLINE vf grad_at(const struct norm_grad *g, size_t i, vf x, vf scale, vf offset,
	const enum norm_mask kind, const bool second)
{
	vf d = v_load(g->dy0 + i * VW);

	if (second)
		d += v_load(g->dy1 + i * VW);
	if (kind == NORM_JOIN)
		return v_keep(d, ((const vbits *)g->mask)[i]);
	if (kind == NORM_RELU)
		return v_and(d, x * scale + offset > v_zero());
	return d;
}

INLINE void sums_body(const struct norm_grad *g, vf scale, vf offset, vf mean, float *sum,
	float *product, const enum norm_mask kind, const bool second)
{
	vf s[2] = {v_zero(), v_zero()}, q[2] = {v_zero(), v_zero()};
	size_t i = 0;

	for (; i + 2 <= g->pixels; i += 2) {
		UNROLL
		for (int k = 0; k < 2; k++) {
			const vf x = v_load(g->x + (i + k) * VW);
			const vf d = grad_at(g, i + k, x, scale, offset, kind, second);
			if (kind == NORM_JOIN)
				v_store(g->join + (i + k) * VW, d);
			s[k] += d;
			q[k] = d * (x - mean) + q[k];
		}
	}
	for (; i < g->pixels; i++) {
		const vf x = v_load(g->x + i * VW);
		const vf d = grad_at(g, i, x, scale, offset, kind, second);
		if (kind == NORM_JOIN)
			v_store(g->join + i * VW, d);
		s[0] += d;
		q[0] = d * (x - mean) + q[0];
	}
	v_storeu(sum, s[0] + s[1]);
	v_storeu(product, q[0] + q[1]);
}

void KERNEL(norm_grad_sums)(const struct norm_grad *g, const float *scale, const float *offset,
	const float *mean, float *sum, float *product)
{
	const vf a = v_loadu(scale), b = v_loadu(offset), m = v_loadu(mean);

	if (g->kind == NORM_JOIN && g->dy1)
		sums_body(g, a, b, m, sum, product, NORM_JOIN, true);
	else if (g->kind == NORM_JOIN)
		sums_body(g, a, b, m, sum, product, NORM_JOIN, false);
	else if (g->kind == NORM_RELU && g->dy1)
		sums_body(g, a, b, m, sum, product, NORM_RELU, true);
	else if (g->kind == NORM_RELU)
		sums_body(g, a, b, m, sum, product, NORM_RELU, false);
	else if (g->dy1)
		sums_body(g, a, b, m, sum, product, NORM_LINEAR, true);
	else
		sums_body(g, a, b, m, sum, product, NORM_LINEAR, false);
}

INLINE void input_body(const struct norm_grad *g, vf scale, vf offset, vf a, vf b, vf c,
	const enum norm_mask kind, const bool second)
{
	for (size_t i = 0; i < g->pixels; i++) {
		const vf x = v_load(g->x + i * VW);
		const vf d = kind == NORM_JOIN ? v_load(g->join + i * VW)
					       : grad_at(g, i, x, scale, offset, kind, second);
		v_store(g->dx + i * VW, a * d + (b * x + c));
	}
}

void KERNEL(norm_grad_input)(const struct norm_grad *g, const float *scale, const float *offset,
	const float *a, const float *b, const float *c)
{
	const vf s = v_loadu(scale), o = v_loadu(offset);
	const vf va = v_loadu(a), vb = v_loadu(b), vc = v_loadu(c);

	if (g->kind == NORM_JOIN)
		input_body(g, s, o, va, vb, vc, NORM_JOIN, false);
	else if (g->kind == NORM_RELU && g->dy1)
		input_body(g, s, o, va, vb, vc, NORM_RELU, true);
	else if (g->kind == NORM_RELU)
		input_body(g, s, o, va, vb, vc, NORM_RELU, false);
	else if (g->dy1)
		input_body(g, s, o, va, vb, vc, NORM_LINEAR, true);
	else
		input_body(g, s, o, va, vb, vc, NORM_LINEAR, false);
}

void KERNEL(bias_grad)(float *dy, const float *y, size_t pixels, float *bias_grad)
{
	vf sum = v_zero();

	for (size_t i = 0; i < pixels; i++) {
		vf d = v_load(dy + i * VW);
		if (y) {
			d = v_and(d, v_load(y + i * VW) > v_zero());
			v_store(dy + i * VW, d);
		}
		sum += d;
	}
	v_storeu(bias_grad, sum);
}
