/*
 * Rows of logits: where a label stands, and softmax cross-entropy. The gradient of a sample's
 * loss is softmax minus one-hot, times the sample's weight.
 */
#include <math.h>
#include "nn/own/kernels/declare.h"

/* What is behind a row's last whole vector; lanes past the last class read as minus infinity. */
INLINE vf row_rest(const float *row, int classes, int whole)
{
	return v_load_first(row + whole, classes - whole, -INFINITY);
}

/* Lanes that stand before the label, which is so many lanes on: -1, others 0. */
INLINE vi stand_before(vf v, vf own, int on)
{
	static const int32_t counted[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
	vi lane;

	memcpy(&lane, counted, sizeof(lane));
	return (v > own) | ((v == own) & (lane < on));
}

/* What is not a number stands behind all that are. */
int KERNEL(rank)(const float *logits, int classes, int label)
{
	const int whole = classes / VW * VW;
	const vf own = v_set1(logits[label]);
	vi before = {0};

	if (logits[label] != logits[label])
		return classes;
	for (int c = 0; c < whole; c += VW)
		before -= stand_before(v_loadu(logits + c), own, label - c);
	if (whole < classes)
		before -= stand_before(row_rest(logits, classes, whole), own, label - whole);
	return 1 + (int)v_sum(__builtin_convertvector(before, vf));
}

/* A NaN shows in the sum of exponentials, whatever this says. */
INLINE float row_max(const float *row, int classes, int whole)
{
	vf best = v_set1(-INFINITY);

	for (int c = 0; c < whole; c += VW)
		best = v_max(best, v_loadu(row + c));
	if (whole < classes)
		best = v_max(best, row_rest(row, classes, whole));
	return v_top(best);
}

/*
 * Makes softmax of a row, times `weight`, if there is an `out`, which may be the row; returns the
 * sum of exp(row - top). Terms wait in `out`, but for the rest: what was stored under a mask is
 * slow to read again.
 */
INLINE float softmax_row(const float *row, int classes, float top, float weight, float *out)
{
	const int whole = classes / VW * VW;
	vf total = v_zero(), rest = v_zero();

	for (int c = 0; c < whole; c += VW) {
		const vf term = v_exp(v_loadu(row + c) - v_set1(top));
		total += term;
		if (out)
			v_storeu(out + c, term);
	}
	if (whole < classes) {
		rest = v_exp(row_rest(row, classes, whole) - v_set1(top));
		total += rest;
		/* Next to nothing, times the factor, would be a denormal number: slow. */
		rest = v_keep(rest, (vbits)((1u << (classes - whole)) - 1));
	}
	const float sum = v_sum(total);
	if (!out)
		return sum;
	const vf factor = v_set1(weight / sum);
	for (int c = 0; c < whole; c += VW)
		v_storeu(out + c, v_loadu(out + c) * factor);
	if (whole < classes)
		v_store_first(out + whole, classes - whole, rest * factor);
	return sum;
}

/* Logarithms are made of VW samples' sums at once. */
void KERNEL(softmax_loss)(const float *logits, int classes, const int32_t *labels,
	const float *weights, int count, float *losses, float *grad)
{
	for (int first = 0; first < count; first += VW) {
		const int some = count - first < VW ? count - first : VW;
		float sums[VW], gaps[VW];

		for (int i = 0; i < some; i++) {
			const int n = first + i;
			const float *row = logits + (size_t)n * classes;
			float *out = grad ? grad + (size_t)n * classes : NULL;
			const float top = row_max(row, classes, classes / VW * VW);
			gaps[i] = row[labels[n]] - top;
			sums[i] = softmax_row(row, classes, top, grad ? weights[n] : 0, out);
		}
		for (int n = first; n < first + some && grad; n++)
			grad[(size_t)n * classes + labels[n]] -= weights[n];
		v_store_first(losses + first, some,
			v_log(v_load_first(sums, some, 1)) - v_load_first(gaps, some, 0));
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
