/*
 * Products of dense nets. Samples stand side by side in vectors: a panel is two
 * vectors wide. A tile is R rows of two vectors, all sums in registers; a's
 * numbers are spread over vectors one by one, so weights are read as they lie in
 * the flat buffer, and so is their gradient written. Each sum runs over its
 * steps in order, whatever the tile's shape.
 */
#include "nn/own/kernels/declare.h"
#include "nn/own/kernels/tile_rows.h"

/* Writes the first `cols` of a row's two vectors. */
INLINE void put_part(float *out, vf p, vf q, int cols)
{
	memcpy(out, &p, (cols < VW ? cols : VW) * sizeof(float));
	if (cols > VW)
		memcpy(out + VW, &q, (cols - VW) * sizeof(float));
}

INLINE void tile_end(const struct dense_job *job, vf *p, vf *q, float *out, const float *extra,
	const int rows, const bool half, const enum dense_kind kind)
{
	UNROLL
	for (int r = 0; r < rows; r++) {
		float *to = out + r * (kind == DENSE_WEIGHTS ? job->out_row : 2 * VW);
		if (kind == DENSE_FORWARD && extra) {
			p[r] += v_set1(extra[r]);
			q[r] += v_set1(extra[r]);
		}
		if (kind == DENSE_FORWARD && job->relu) {
			p[r] = v_relu(p[r]);
			q[r] = v_relu(q[r]);
		}
		if (kind == DENSE_BACKWARD && extra) {
			p[r] = v_and(p[r], v_load(extra + r * 2 * VW) > v_zero());
			if (!half)
				q[r] = v_and(q[r], v_load(extra + r * 2 * VW + VW) > v_zero());
		}
		v_storeu(to, p[r]);
		if (!half)
			v_storeu(to + VW, q[r]);
	}
}

/* half: only the first vector of the panel counts. */
INLINE void tile_body(const struct dense_job *job, const float *a, const float *b, float *out,
	const float *extra, const int rows, const bool half, const enum dense_kind kind)
{
	const size_t a_row = kind == DENSE_FORWARD    ? job->a_row
			     : kind == DENSE_BACKWARD ? 1
						      : 2 * VW;
	const size_t a_step = kind == DENSE_BACKWARD ? job->a_step : 1;
	const size_t out_row = kind == DENSE_WEIGHTS ? job->out_row : 2 * VW;
	vf p[TILE_ROWS], q[TILE_ROWS];

	UNROLL
	for (int r = 0; r < rows; r++)
		p[r] = q[r] = v_zero();
	for (int run = 0; run < job->runs; run++, a += job->a_run, b += job->b_run) {
		const int depth = run + 1 < job->runs ? 2 * VW : job->depth;
		const float *x = a, *y = b;
		UNROLL4
		for (int k = 0; k < depth; k++, x += a_step, y += 2 * VW) {
			const vf w0 = v_load(y), w1 = half ? w0 : v_load(y + VW);
			UNROLL
			for (int r = 0; r < rows; r++) {
				const vf v = v_set1(x[r * a_row]);
				p[r] = v * w0 + p[r];
				if (!half)
					q[r] = v * w1 + q[r];
			}
		}
	}
	if (kind == DENSE_WEIGHTS && job->cols % VW) {
		UNROLL
		for (int r = 0; r < rows; r++) {
			vf held[2] = {v_zero(), v_zero()};
			if (job->accumulate)
				memcpy(held, out + r * out_row, job->cols * sizeof(float));
			put_part(out + r * out_row, p[r] + held[0], q[r] + held[1], job->cols);
		}
		return;
	}
	if (job->accumulate) {
		UNROLL
		for (int r = 0; r < rows; r++) {
			p[r] += v_loadu(out + r * out_row);
			if (!half)
				q[r] += v_loadu(out + r * out_row + VW);
		}
	}
	tile_end(job, p, q, out, extra, rows, half, kind);
}

typedef void dense_fn(const struct dense_job *job, const float *a, const float *b, float *out,
	const float *extra);

#define TILE(name, kind, rows, half)                                                               \
	static void name##_##rows(const struct dense_job *job, const float *a, const float *b,     \
		float *out, const float *extra)                                                    \
	{                                                                                          \
		tile_body(job, a, b, out, extra, rows, half, kind);                                \
	}
#define TILES(rows)                                                                                \
	TILE(forward, DENSE_FORWARD, rows, false)                                                  \
	TILE(forward_half, DENSE_FORWARD, rows, true)                                              \
	TILE(backward, DENSE_BACKWARD, rows, false)                                                \
	TILE(backward_half, DENSE_BACKWARD, rows, true)                                            \
	TILE(weights, DENSE_WEIGHTS, rows, false)                                                  \
	TILE(weights_half, DENSE_WEIGHTS, rows, true)

EACH_ROWS(TILES)

static dense_fn *const tiles[DENSE_KINDS][2][TILE_ROWS + 1] = {
	[DENSE_FORWARD] = {ROWS_OF(forward), ROWS_OF(forward_half)},
	[DENSE_BACKWARD] = {ROWS_OF(backward), ROWS_OF(backward_half)},
	[DENSE_WEIGHTS] = {ROWS_OF(weights), ROWS_OF(weights_half)},
};

void KERNEL(dense)(
	const struct dense_job *job, const float *a, const float *b, float *out, const float *extra)
{
	dense_fn *const *tile = tiles[job->kind][job->cols <= VW];
	const size_t a_row = job->kind == DENSE_FORWARD    ? job->a_row
			     : job->kind == DENSE_BACKWARD ? 1
							   : 2 * VW;
	const size_t out_row = job->kind == DENSE_WEIGHTS ? job->out_row : 2 * VW;
	const size_t extra_row = job->kind == DENSE_FORWARD ? 1 : 2 * VW;
	int left = job->rows;

	for (int runs = (left + TILE_ROWS - 1) / TILE_ROWS; runs > 0; runs--) {
		const int rows = left / runs;
		tile[rows](job, a, b, out, extra);
		a += rows * a_row;
		out += rows * out_row;
		extra = extra ? extra + rows * extra_row : NULL;
		left -= rows;
	}
}

/* Up to VW rows: their vectors' sums are transposed and added, which sums all lanes at once. */
INLINE void row_sums(const float *panels, size_t panel, int samples, const int rows, float *sums)
{
	vf total[VW];

	UNROLL
	for (int r = 0; r < VW; r++)
		total[r] = v_zero();
	for (; samples > VW; samples -= 2 * VW, panels += panel) {
		UNROLL
		for (int r = 0; r < VW; r++)
			if (r < rows)
				total[r] += v_load(panels + r * 2 * VW) +
					    v_load(panels + r * 2 * VW + VW);
	}
	for (int r = 0; samples > 0 && r < rows; r++)
		total[r] += v_load(panels + r * 2 * VW);
	v_transpose(total);
	for (int width = VW / 2; width; width /= 2) {
		UNROLL
		for (int r = 0; r < width; r++)
			total[r] += total[r + width];
	}
	memcpy(sums, total, rows * sizeof(float));
}

void KERNEL(dense_sums)(const float *panels, size_t panel, int samples, int rows, float *sums)
{
	int r = 0;

	for (; r + VW <= rows; r += VW)
		row_sums(panels + r * 2 * VW, panel, samples, VW, sums + r);
	if (r < rows)
		row_sums(panels + r * 2 * VW, panel, samples, rows - r, sums + r);
}
