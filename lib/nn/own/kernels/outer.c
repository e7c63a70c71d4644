/*
 * The outer tile: R rows times two vectors of a weight gradient, summed over
 * pixels. a gives one number per row and pixel, b0 and b1 a vector each.
 */
#include "nn/own/kernels/declare.h"

INLINE void outer_body(const struct outer_job *job, const float *a, const float *b0,
	const float *b1, float *grad, const int rows)
{
	vf p[OUTER_ROWS_MAX], q[OUTER_ROWS_MAX];

	UNROLL
	for (int r = 0; r < rows; r++)
		p[r] = q[r] = v_zero();
	for (int y = 0; y < job->rows; y++) {
		const float *s = a + y * job->a_row;
		const float *u = b0 + y * job->b_row, *v = b1 + y * job->b_row;
		UNROLL4
		for (int x = 0; x < job->cols; x++) {
			const vf w0 = v_load(u), w1 = v_load(v);
			UNROLL
			for (int r = 0; r < rows; r++) {
				const vf t = v_set1(s[r]);
				p[r] = t * w0 + p[r];
				q[r] = t * w1 + q[r];
			}
			s += job->a_col;
			u += job->b_col;
			v += job->b_col;
		}
	}
	UNROLL
	for (int r = 0; r < rows; r++) {
		float *g = grad + r * job->grad_step;
		if (job->accumulate) {
			p[r] += v_load(g);
			q[r] += v_load(g + VW);
		}
		v_store(g, p[r]);
		v_store(g + VW, q[r]);
	}
}

#define OUTER(rows)                                                                                \
	static void outer_##rows(const struct outer_job *job, const float *a, const float *b0,     \
		const float *b1, float *grad)                                                      \
	{                                                                                          \
		outer_body(job, a, b0, b1, grad, rows);                                            \
	}
OUTER(1)
OUTER(2)
OUTER(3)
OUTER(4)
OUTER(5)
OUTER(6)
OUTER(7)
OUTER(8)

outer_fn *const KERNEL(outer_table)[OUTER_ROWS_MAX + 1] = {
	NULL, outer_1, outer_2, outer_3, outer_4, outer_5, outer_6, outer_7, outer_8};
