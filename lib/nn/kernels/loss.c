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

void KERNEL(softmax_loss)(const float *logits, int classes, const int32_t *labels, const float *weights,
	int count, float *losses, float *grad)
{
	for (int n = 0; n < count; n++) {
		const float *row = logits + (size_t)n * classes;
		const float top = row_max(row, classes);
		vf total = v_zero();
		for (int c = 0; c < classes; c += VW)
			total += v_exp(row_vector(row, c, classes, -INFINITY) - v_set1(top));
		const float sum = v_sum(total);
		losses[n] = logf(sum) - (row[labels[n]] - top);
		if (!grad)
			continue;
		float *out = grad + (size_t)n * classes;
		const vf factor = v_set1(weights[n] / sum);
		for (int c = 0; c < classes; c += VW) {
			const vf v = v_exp(row_vector(row, c, classes, -INFINITY) - v_set1(top)) * factor;
			if (c + VW <= classes)
				v_storeu(out + c, v);
			else
				memcpy(out + c, &v, (classes - c) * sizeof(float));
		}
		out[labels[n]] -= weights[n];
	}
}
