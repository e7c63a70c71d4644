/*
 * Products whose left side is half zeros, as ReLUs leave it: sums of b's rows,
 * each times a number of a, where the steps at which a has 0 cost nothing. Steps
 * go in bands, for which b stays in the first-level cache; columns go in strips, of
 * which all sums are registers.
 *
 * Each sum runs over its steps in order, so it is the same as the product of
 * kernels/dense.c to the last bit: adding 0 * b changes nothing.
 */
#include "nn/own/kernels/declare.h"

/* Vectors of sums. With one of a's number they must be registers. */
#if defined(__AVX512F__) || (defined(__AVX2__) && VW == 8) || (defined(__aarch64__) && VW == 4)
#define STRIP 13
#else
#define STRIP 6
#endif

enum { BAND = 64, ROWS = 128 };

INLINE vbits v_nonzero(vf v)
{
#if VW == 16 && defined(__AVX512F__)
	return _mm512_cmp_ps_mask((__m512)v, _mm512_setzero_ps(), _CMP_NEQ_UQ);
#elif VW == 8 && defined(__AVX2__)
	return (vbits)_mm256_movemask_ps(
		_mm256_cmp_ps((__m256)v, _mm256_setzero_ps(), _CMP_NEQ_UQ));
#else
	return v_bits(v != v_zero());
#endif
}

/* A bit for each step of a band at which a row of a is not 0, for the vector of steps from k on. */
INLINE uint64_t vector_steps(const struct sparse_job *job, const float *a, int k)
{
	return (uint64_t)v_nonzero(v_loadu(a + k / (2 * VW) * job->a_run + k % (2 * VW))) << k;
}

/* The same for all steps. */
INLINE uint64_t row_steps(const struct sparse_job *job, const float *a, int depth)
{
	uint64_t steps = 0;

	if (depth == BAND) {
		UNROLL
		for (int k = 0; k < BAND; k += VW)
			steps |= vector_steps(job, a, k);
		return steps;
	}
	for (int k = 0; k < depth; k += VW)
		steps |= vector_steps(job, a, k);
	return steps & ((UINT64_C(1) << depth) - 1);
}

/* What stays the same for the rows of a strip. */
struct strip {
	const struct sparse_job *job;
	const uint64_t *steps; /* per row */
	const float *a, *b;
	int rows;
	bool begin; /* the first band: sums start at 0 */
	bool relu;
};

INLINE void row_begin(const struct strip *s, const float *out, vf *sum, const int vectors)
{
	UNROLL
	for (int i = 0; i < vectors; i++)
		sum[i] = s->begin ? v_zero() : v_loadu(out + i * VW);
}

/* Adds the first one of `steps` of a row of a. */
INLINE void row_step(
	const struct strip *s, const float *a, uint64_t steps, vf *sum, const int vectors)
{
	const size_t step = __builtin_ctzll(steps);
	const size_t skip = s->job->a_run - 2 * VW; /* between runs */
	const vf v = v_set1(a[step + step / (2 * VW) * skip]);
	const float *row = s->b + step * s->job->b_row;

	UNROLL
	for (int i = 0; i < vectors; i++)
		sum[i] = v * v_loadu(row + i * VW) + sum[i];
}

INLINE void row_end(const struct strip *s, vf *sum, float *out, const float *bias,
	const float *mask, const int vectors)
{
	if (bias) {
		UNROLL
		for (int i = 0; i < vectors; i++)
			sum[i] += v_loadu(bias + i * VW);
	}
	if (s->relu) {
		UNROLL
		for (int i = 0; i < vectors; i++)
			sum[i] = v_relu(sum[i]);
	}
	if (mask) {
		UNROLL
		for (int i = 0; i < vectors; i++)
			sum[i] = v_and(sum[i], v_loadu(mask + i * VW) > v_zero());
	}
	UNROLL
	for (int i = 0; i < vectors; i++)
		v_storeu(out + i * VW, sum[i]);
}

INLINE void strip_row(const struct strip *s, int r, float *out, const float *bias,
	const float *mask, const int vectors)
{
	const float *a = s->a + r * s->job->a_row;
	vf sum[STRIP];

	row_begin(s, out, sum, vectors);
	for (uint64_t steps = s->steps[r]; steps; steps &= steps - 1)
		row_step(s, a, steps, sum, vectors);
	row_end(s, sum, out, bias, mask, vectors);
}

/* Two rows of a narrow strip side by side: the sums of one alone would wait for each other. */
INLINE void strip_two_rows(const struct strip *s, int r, float *out, const float *bias,
	const float *mask, const int vectors)
{
	const float *a = s->a + r * s->job->a_row, *next = a + s->job->a_row;
	float *next_out = out + s->job->out_row;
	uint64_t steps = s->steps[r], next_steps = s->steps[r + 1];
	vf sum[STRIP], next_sum[STRIP];

	row_begin(s, out, sum, vectors);
	row_begin(s, next_out, next_sum, vectors);
	for (; steps && next_steps; steps &= steps - 1, next_steps &= next_steps - 1) {
		row_step(s, a, steps, sum, vectors);
		row_step(s, next, next_steps, next_sum, vectors);
	}
	for (; steps; steps &= steps - 1)
		row_step(s, a, steps, sum, vectors);
	for (; next_steps; next_steps &= next_steps - 1)
		row_step(s, next, next_steps, next_sum, vectors);
	row_end(s, sum, out, bias, mask, vectors);
	row_end(s, next_sum, next_out, bias, mask ? mask + s->job->mask_row : NULL, vectors);
}

INLINE void strip_rows(
	const struct strip *s, float *out, const float *bias, const float *mask, const int vectors)
{
	int r = 0;

	for (; vectors <= STRIP / 2 && r + 2 <= s->rows; r += 2) {
		strip_two_rows(s, r, out, bias, mask, vectors);
		out += 2 * s->job->out_row;
		mask = mask ? mask + 2 * s->job->mask_row : NULL;
	}
	for (; r < s->rows; r++) {
		strip_row(s, r, out, bias, mask, vectors);
		out += s->job->out_row;
		mask = mask ? mask + s->job->mask_row : NULL;
	}
}

typedef void strip_fn(const struct strip *s, float *out, const float *bias, const float *mask);

#define STRIP_OF(vectors)                                                                          \
	static void strip_##vectors(                                                               \
		const struct strip *s, float *out, const float *bias, const float *mask)           \
	{                                                                                          \
		strip_rows(s, out, bias, mask, vectors);                                           \
	}

STRIP_OF(1)
STRIP_OF(2)
STRIP_OF(3)
STRIP_OF(4)
STRIP_OF(5)
STRIP_OF(6)
#if STRIP > 6
STRIP_OF(7)
STRIP_OF(8)
STRIP_OF(9)
STRIP_OF(10)
STRIP_OF(11)
STRIP_OF(12)
STRIP_OF(13)
#endif

static strip_fn *const strips[STRIP + 1] = {
	NULL, strip_1, strip_2, strip_3, strip_4, strip_5, strip_6,
#if STRIP > 6
	strip_7, strip_8, strip_9, strip_10, strip_11, strip_12, strip_13
#endif
};

/* All columns of some rows, for one band. */
INLINE void band_strips(struct strip *s, float *out, const float *bias, const float *mask)
{
	int left = (s->job->cols + VW - 1) / VW;

	for (int runs = (left + STRIP - 1) / STRIP; runs > 0; runs--) {
		const int vectors = left / runs;
		strips[vectors](s, out, bias, mask);
		left -= vectors;
		s->b += vectors * VW;
		out += vectors * VW;
		bias = bias ? bias + vectors * VW : NULL;
		mask = mask ? mask + vectors * VW : NULL;
	}
}

void KERNEL(sparse)(const struct sparse_job *job, const float *a, const float *b, float *out,
	const float *bias, const float *mask)
{
	uint64_t steps[ROWS];

	for (int first = 0; first < job->rows; first += ROWS) {
		const int rows = job->rows - first < ROWS ? job->rows - first : ROWS;
		for (int k = 0; k < job->depth; k += BAND) {
			const bool end = k + BAND >= job->depth;
			struct strip s = {.job = job,
				.steps = steps,
				.a = a + first * job->a_row + k / (2 * VW) * job->a_run,
				.b = b + k * job->b_row,
				.rows = rows,
				.begin = k == 0,
				.relu = end && job->relu};
			for (int r = 0; r < rows; r++)
				steps[r] = row_steps(
					job, s.a + r * job->a_row, end ? job->depth - k : BAND);
			band_strips(&s, out + first * job->out_row, end ? bias : NULL,
				end && mask ? mask + first * job->mask_row : NULL);
		}
	}
}
