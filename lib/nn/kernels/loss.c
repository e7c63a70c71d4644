/*
 * Softmax cross-entropy over plain rows of logits. The gradient of a sample's
 * loss is softmax minus one-hot, times the sample's weight.
 */
#include <math.h>
#include "nn/kernels/declare.h"

/* The c-th vector of a row; lanes past the last class read as `fill`. */
INLINE vf row_vector(const float *row, int c, int classes, float fill)
{
	if (c + VW <= classes)
		return v_loadu(row + c);
	vf v = v_set1(fill);
	memcpy(&v, row + c, (classes - c) * sizeof(float));
	return v;
}

INLINE float row_max(const float *row, int classes)
{
	vf best = v_set1(-INFINITY);
	float top = -INFINITY;

	/* The operand order lets NaN through, so that a broken step shows in the loss. */
	for (int c = 0; c < classes; c += VW)
		best = v_max(best, row_vector(row, c, classes, -INFINITY));
	for (int i = 0; i < VW; i++)
		top = top >= best[i] ? top : best[i];
	return top;
}

INLINE void put_vector(float *row, int c, int classes, vf v)
{
	if (c + VW <= classes)
		v_storeu(row + c, v);
	else
		memcpy(row + c, &v, (classes - c) * sizeof(float));
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

void KERNEL(softmax_loss)(const float *logits, int classes, const int32_t *labels, const float *weights,
	int count, float *losses, float *grad)
{
	for (int n = 0; n < count; n++) {
		const float *row = logits + (size_t)n * classes;
		float *out = grad ? grad + (size_t)n * classes : NULL;
		const float top = row_max(row, classes), own = row[labels[n]];
		const float sum = exp_sum(row, classes, top, out);
		losses[n] = logf(sum) - (own - top);
		if (!out)
			continue;
		const vf factor = v_set1(weights[n] / sum);
		for (int c = 0; c < classes; c += VW)
			put_vector(out, c, classes, row_vector(out, c, classes, 0) * factor);
		out[labels[n]] -= weights[n];
	}
}

/* `count` terms exp(logit - top) of every lane from class c on; their sums are added to sum[]. */
INLINE void panel_terms(const float *logits, vf top, int c, const int count, vf *sum, float *terms)
{
	vf term[4];

	UNROLL
	for (int i = 0; i < count; i++)
		term[i] = v_load(logits + (size_t)(c + i) * 2 * VW) - top;
	v_exps(term, count);
	UNROLL
	for (int i = 0; i < count; i++) {
		sum[i] += term[i];
		if (terms)
			v_store(terms + (size_t)(c + i) * 2 * VW, term[i]);
	}
}

/* One vector of a panel: as many samples, one per lane. */
INLINE void softmax_lanes(const float *logits, int classes, const int32_t *labels, const float *weights,
	int count, float *losses, float *grad)
{
	vf top = v_set1(-INFINITY), sum[4] = {v_zero(), v_zero(), v_zero(), v_zero()}, weight = v_zero();
	int c = 0;

	for (int i = 0; i < classes; i++)
		top = v_max(top, v_load(logits + (size_t)i * 2 * VW));
	for (int i = 0; i < count; i++)
		losses[i] = logits[(size_t)labels[i] * 2 * VW + i];
	for (; c + 4 <= classes; c += 4)
		panel_terms(logits, top, c, 4, sum, grad);
	for (; c < classes; c++)
		panel_terms(logits, top, c, 1, sum, grad);
	const vf total = (sum[0] + sum[1]) + (sum[2] + sum[3]);
	for (int i = 0; i < count; i++)
		losses[i] = logf(total[i]) - (losses[i] - top[i]);
	if (!grad)
		return;
	memcpy(&weight, weights, count * sizeof(float));
	const vf factor = weight / total;
	for (c = 0; c < classes; c++) {
		float *to = grad + (size_t)c * 2 * VW;
		v_store(to, v_load(to) * factor);
	}
	for (int i = 0; i < count; i++)
		grad[(size_t)labels[i] * 2 * VW + i] -= weights[i];
}

void KERNEL(softmax_panel)(const float *logits, int classes, const int32_t *labels, const float *weights,
	int count, float *losses, float *grad)
{
	const int first = count < VW ? count : VW;

	softmax_lanes(logits, classes, labels, weights, first, losses, grad);
	if (count > VW)
		softmax_lanes(logits + VW, classes, labels + VW, weights ? weights + VW : NULL, count - VW,
			losses + VW, grad ? grad + VW : NULL);
}
