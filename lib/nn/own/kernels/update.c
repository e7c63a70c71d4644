/*
 * Optimizer steps as single passes over flat buffers, averages included: a
 * parameter is read and written once per iteration. The formulas and their
 * order of operations are PyTorch's where it has the optimizer.
 */
#include "nn/own/kernels/declare.h"

/* One lane type for whole vectors and one for the tail would double every formula; the tail uses a
 * vector whose upper lanes are not stored. */
struct slice {
	size_t at;
	int width;
};

INLINE vf get(const float *p, struct slice s)
{
	if (s.width == VW)
		return v_loadu(p + s.at);
	vf v = v_zero();
	memcpy(&v, p + s.at, s.width * sizeof(float));
	return v;
}

INLINE void put(float *p, struct slice s, vf v)
{
	if (s.width == VW)
		v_storeu(p + s.at, v);
	else
		memcpy(p + s.at, &v, s.width * sizeof(float));
}

INLINE void update_averages(const struct average_step *averages, struct slice s, vf param)
{
	for (int i = 0; i < averages->count; i++) {
		const vf keep = v_set1(averages->keep[i]), take = v_set1(1.0f - averages->keep[i]);
		put(averages->average[i], s, keep * get(averages->average[i], s) + take * param);
	}
}

INLINE void sgd_slice(float *params, const float *grad, float *momentum, struct slice s,
	const struct sgd_step *step, const struct average_step *averages)
{
	vf p = get(params, s);
	vf d = get(grad, s) + v_set1(step->decay) * p;

	if (step->momentum != 0) {
		if (!step->first)
			d = v_set1(step->momentum) * get(momentum, s) + d;
		put(momentum, s, d);
	}
	p = p - v_set1(step->rate) * d;
	put(params, s, p);
	update_averages(averages, s, p);
}

void KERNEL(sgd)(float *params, const float *grad, float *momentum, size_t count,
	const struct sgd_step *step, const struct average_step *averages)
{
	size_t i = 0;

	for (; i + VW <= count; i += VW)
		sgd_slice(params, grad, momentum, (struct slice){i, VW}, step, averages);
	if (i < count)
		sgd_slice(params, grad, momentum, (struct slice){i, (int)(count - i)}, step,
			averages);
}

INLINE void adam_slice(float *params, const float *grad, float *mean, float *square, struct slice s,
	const struct adam_step *step, const struct average_step *averages)
{
	vf p = get(params, s);
	const vf g = get(grad, s) + v_set1(step->decay) * p;
	const vf m = v_set1(step->beta1) * get(mean, s) + v_set1(1 - step->beta1) * g;
	const vf v = v_set1(step->beta2) * get(square, s) + v_set1(1 - step->beta2) * g * g;

	put(mean, s, m);
	put(square, s, v);
	const vf root =
		v_sqrt(v) / v_set1(__builtin_sqrtf(step->correction2)) + v_set1(step->epsilon);
	p = p - v_set1(step->rate / step->correction1) * (m / root);
	put(params, s, p);
	update_averages(averages, s, p);
}

void KERNEL(adam)(float *params, const float *grad, float *mean, float *square, size_t count,
	const struct adam_step *step, const struct average_step *averages)
{
	size_t i = 0;

	for (; i + VW <= count; i += VW)
		adam_slice(params, grad, mean, square, (struct slice){i, VW}, step, averages);
	if (i < count)
		adam_slice(params, grad, mean, square, (struct slice){i, (int)(count - i)}, step,
			averages);
}

INLINE void schedule_free_slice(float *params, const float *grad, float *z, float *x,
	struct slice s, const struct schedule_free_step *step, const struct average_step *averages)
{
	const vf share = v_set1(step->share), rest = v_set1(1.0f - step->share);
	vf y = get(params, s);
	const vf d = get(grad, s) + v_set1(step->decay) * y;
	const vf newer = (step->first ? y : get(z, s)) - v_set1(step->rate) * d;
	const vf mean = rest * (step->first ? y : get(x, s)) + share * newer;

	put(z, s, newer);
	put(x, s, mean);
	y = v_set1(1.0f - step->beta) * newer + v_set1(step->beta) * mean;
	put(params, s, y);
	update_averages(averages, s, y);
}

void KERNEL(schedule_free)(float *params, const float *grad, float *z, float *x, size_t count,
	const struct schedule_free_step *step, const struct average_step *averages)
{
	size_t i = 0;

	for (; i + VW <= count; i += VW)
		schedule_free_slice(params, grad, z, x, (struct slice){i, VW}, step, averages);
	if (i < count)
		schedule_free_slice(
			params, grad, z, x, (struct slice){i, (int)(count - i)}, step, averages);
}

void KERNEL(average)(const float *params, size_t count, const struct average_step *averages)
{
	for (size_t i = 0; i < count; i += VW) {
		const struct slice s = {i, count - i < VW ? (int)(count - i) : VW};
		update_averages(averages, s, get(params, s));
	}
}

INLINE void displace_slice(const float *params, const struct terms_step *terms, const int count,
	float *out, struct slice s)
{
	vf point = get(params, s);

	UNROLL
	for (int t = 0; t < count; t++)
		point += get(terms->term[t], s);
	put(out, s, point);
}

INLINE void displace(const float *params, const struct terms_step *terms, const int count,
	float *out, size_t floats)
{
	size_t i = 0;

	for (; i + VW <= floats; i += VW)
		displace_slice(params, terms, count, out, (struct slice){i, VW});
	if (i < floats)
		displace_slice(params, terms, count, out, (struct slice){i, (int)(floats - i)});
}

void KERNEL(displace)(const float *params, const struct terms_step *terms, float *out, size_t count)
{
	const struct terms_step own = *terms;

	if (own.count == 1)
		displace(params, &own, 1, out, count);
	else
		displace(params, &own, TERMS_MAX, out, count);
}

INLINE void step_slice(
	const float *grad, const struct terms_step *terms, const int count, struct slice s)
{
	const vf g = get(grad, s);

	UNROLL
	for (int t = 0; t < count; t++)
		put(terms->term[t], s,
			v_set1(terms->keep[t]) * get(terms->term[t], s) +
				v_set1(terms->step[t]) * g);
}

INLINE void step_all(
	const float *grad, const struct terms_step *terms, const int count, size_t floats)
{
	size_t i = 0;

	for (; i + VW <= floats; i += VW)
		step_slice(grad, terms, count, (struct slice){i, VW});
	if (i < floats)
		step_slice(grad, terms, count, (struct slice){i, (int)(floats - i)});
}

void KERNEL(step_terms)(const float *grad, const struct terms_step *terms, size_t count)
{
	const struct terms_step own = *terms;

	if (own.count == 1)
		step_all(grad, &own, 1, count);
	else
		step_all(grad, &own, TERMS_MAX, count);
}
