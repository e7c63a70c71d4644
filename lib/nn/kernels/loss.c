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
