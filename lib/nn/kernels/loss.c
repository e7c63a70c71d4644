/*
 * Softmax cross-entropy over plain rows of logits. The gradient of a sample's
 * loss is softmax minus one-hot, times the sample's weight.
 */
#include <math.h>
#include "nn/kernels/declare.h"

/* The c-th vector of a row; lanes past the last class read as `fill`. */
INLINE vf row_vector(const float *row, int c, int classes, float fill)
{
	return c + VW <= classes ? v_loadu(row + c) : v_load_first(row + c, classes - c, fill);
}

/* A NaN shows in the sum of exponentials, whatever this says. */
INLINE float row_max(const float *row, int classes)
{
	vf best = v_set1(-INFINITY);

	for (int c = 0; c < classes; c += VW)
		best = v_max(best, row_vector(row, c, classes, -INFINITY));
	return v_top(best);
}

INLINE void put_vector(float *row, int c, int classes, vf v)
{
	if (c + VW <= classes)
		v_storeu(row + c, v);
	else
		v_store_first(row + c, classes - c, v);
}

/* The sum of exp(row - top); the terms go to `terms`, which may be the row, where not NULL. */
INLINE float exp_sum(const float *row, int classes, float top, float *terms)
{
	vf total = v_zero();

	for (int c = 0; c < classes; c += VW) {
		const vf term = v_exp(row_vector(row, c, classes, -INFINITY) - v_set1(top));
		total += term;
		if (terms)
			put_vector(terms, c, classes, term);
	}
	return v_sum(total);
}

void KERNEL(softmax_loss)(const float *logits, int classes, const int32_t *labels,
	const float *weights, int count, float *losses, float *grad)
{
	for (int n = 0; n < count; n++) {
		const float *row = logits + (size_t)n * classes;
		float *out = grad ? grad + (size_t)n * classes : NULL;
		const float top = row_max(row, classes), own = row[labels[n]];
		const float sum = exp_sum(row, classes, top, out);
		losses[n] = v_log(v_set1(sum))[0] - (own - top);
		if (!out)
			continue;
		const vf factor = v_set1(weights[n] / sum);
		for (int c = 0; c < classes; c += VW)
			put_vector(out, c, classes, row_vector(out, c, classes, 0) * factor);
		out[labels[n]] -= weights[n];
	}
}

/* Two classes' terms exp(logit - top), or the last one's, for every lane of one or two vectors. */
INLINE void panel_terms(const float *logits, const vf *top, const int classes, const int vectors,
	vf *sum, float *terms)
{
	vf term[4];

	UNROLL
	for (int i = 0; i < classes * vectors; i++)
		term[i] =
			v_load(logits + i / vectors * 2 * VW + i % vectors * VW) - top[i % vectors];
	v_exps(term, classes * vectors);
	UNROLL
	for (int i = 0; i < classes * vectors; i++) {
		sum[i] += term[i];
		if (terms)
			v_store(terms + i / vectors * 2 * VW + i % vectors * VW, term[i]);
	}
}

/* The sums of all classes' terms, one per lane. */
INLINE void panel_sums(
	const float *logits, const vf *top, int classes, const int vectors, vf *total, float *terms)
{
	vf sum[4] = {v_zero(), v_zero(), v_zero(), v_zero()};
	int c = 0;

	for (; c + 2 <= classes; c += 2)
		panel_terms(logits + (size_t)c * 2 * VW, top, 2, vectors, sum,
			terms ? terms + (size_t)c * 2 * VW : NULL);
	if (c < classes)
		panel_terms(logits + (size_t)c * 2 * VW, top, 1, vectors, sum,
			terms ? terms + (size_t)c * 2 * VW : NULL);
	UNROLL
	for (int v = 0; v < vectors; v++)
		total[v] = sum[v] + sum[v + vectors];
}

INLINE void softmax_lanes(const float *logits, int classes, const int32_t *labels,
	const float *weights, int count, float *losses, float *grad, const int vectors)
{
	vf top[2] = {v_set1(-INFINITY), v_set1(-INFINITY)}, total[2],
	   factor[2] = {v_zero(), v_zero()};
	float logs[2 * VW], tops[2 * VW];

	UNROLL4
	for (int c = 0; c < classes; c++) {
		UNROLL
		for (int v = 0; v < vectors; v++)
			top[v] = v_max(top[v], v_load(logits + (size_t)c * 2 * VW + v * VW));
	}
	panel_sums(logits, top, classes, vectors, total, grad);
	UNROLL
	for (int v = 0; v < vectors; v++) {
		v_storeu(logs + v * VW, v_log(total[v]));
		v_storeu(tops + v * VW, top[v]);
	}
	for (int i = 0; i < count; i++)
		losses[i] = logs[i] - (logits[(size_t)labels[i] * 2 * VW + i] - tops[i]);
	if (!grad)
		return;
	memcpy(factor, weights, count * sizeof(float));
	UNROLL
	for (int v = 0; v < vectors; v++)
		factor[v] = factor[v] / total[v];
	UNROLL4
	for (int c = 0; c < classes; c++) {
		UNROLL
		for (int v = 0; v < vectors; v++) {
			float *to = grad + (size_t)c * 2 * VW + v * VW;
			v_store(to, v_load(to) * factor[v]);
		}
	}
	for (int i = 0; i < count; i++)
		grad[(size_t)labels[i] * 2 * VW + i] -= weights[i];
}

void KERNEL(softmax_panel)(const float *logits, int classes, const int32_t *labels,
	const float *weights, int count, float *losses, float *grad)
{
	if (count > VW)
		softmax_lanes(logits, classes, labels, weights, count, losses, grad, 2);
	else
		softmax_lanes(logits, classes, labels, weights, count, losses, grad, 1);
}
