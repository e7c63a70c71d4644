/*
 * Plain rows: standardizing filters, turning plain tensors into blocks and
 * panels, adding buffers. Rows are unaligned and of any length; sums run in a
 * fixed order.
 */
#include <math.h>

#include "nn/own/kernels/declare.h"

/* Where tile `at` of `length` starts: the last is no smaller, but overlaps the one before. */
INLINE size_t tile_start(int at, int length)
{
	return at + VW <= length ? at : length - VW;
}

/* Tiles side by side: one position on is from_next floats in `from` and to_next in `to`. */
INLINE void transpose_strip(const float *from, size_t from_step, size_t from_next, float *to,
	size_t to_step, size_t to_next, int length)
{
	for (int i = 0; i < length; i += VW) {
		const size_t at = tile_start(i, length);
		vf tile[VW];
		v_load_transposed(tile, from + at * from_next, from_step);
		UNROLL
		for (int k = 0; k < VW; k++)
			v_storeu(to + at * to_next + k * to_step, tile[k]);
	}
}

void KERNEL(transpose)(
	const float *from, size_t from_step, int rows, int cols, float *to, size_t to_step)
{
	if (rows < VW || cols < VW) {
		for (int r = 0; r < rows; r++)
			for (int c = 0; c < cols; c++)
				to[c * to_step + r] = from[r * from_step + c];
	} else if (rows > cols) {
		for (int i = 0; i < cols; i += VW) {
			const size_t c = tile_start(i, cols);
			transpose_strip(
				from + c, from_step, from_step, to + c * to_step, to_step, 1, rows);
		}
	} else {
		for (int i = 0; i < rows; i += VW) {
			const size_t r = tile_start(i, rows);
			transpose_strip(
				from + r * from_step, from_step, 1, to + r, to_step, to_step, cols);
		}
	}
}

void KERNEL(copy_rows)(
	const float *from, size_t from_step, int rows, int cols, float *to, size_t to_step)
{
	for (int r = 0; r < rows; r++, from += from_step, to += to_step) {
		if (cols == 2 * VW) {
			v_storeu(to, v_loadu(from));
			v_storeu(to + VW, v_loadu(from + VW));
		} else {
			memcpy(to, from, cols * sizeof(float));
		}
	}
}

INLINE float row_sum(const float *row, size_t count)
{
	vf sum = v_zero();
	float tail = 0;
	size_t i = 0;

	for (; i + VW <= count; i += VW)
		sum += v_loadu(row + i);
	for (; i < count; i++)
		tail += row[i];
	return v_sum(sum) + tail;
}

void KERNEL(row_moments)(const float *row, size_t count, float *mean, float *square)
{
	const float m = row_sum(row, count) / (float)count;
	vf sum = v_zero();
	float tail = 0;
	size_t i = 0;

	for (; i + VW <= count; i += VW) {
		const vf d = v_loadu(row + i) - v_set1(m);
		sum = d * d + sum;
	}
	for (; i < count; i++)
		tail += (row[i] - m) * (row[i] - m);
	*mean = m;
	*square = v_sum(sum) + tail;
}

void KERNEL(row_products)(
	const float *grad, const float *row, float mean, size_t count, float *sum, float *product)
{
	vf s = v_zero(), p = v_zero();
	float s_tail = 0, p_tail = 0;
	size_t i = 0;

	for (; i + VW <= count; i += VW) {
		const vf g = v_loadu(grad + i);
		s += g;
		p = g * (v_loadu(row + i) - v_set1(mean)) + p;
	}
	for (; i < count; i++) {
		s_tail += grad[i];
		p_tail += grad[i] * (row[i] - mean);
	}
	*sum = v_sum(s) + s_tail;
	*product = v_sum(p) + p_tail;
}

/* Four sums side by side: one alone would wait for itself. */
float KERNEL(row_dot)(const float *x, const float *y, size_t count)
{
	vf sum[4] = {v_zero(), v_zero(), v_zero(), v_zero()};
	size_t i = 0;

	for (; i + 4 * VW <= count; i += 4 * VW) {
		UNROLL
		for (int k = 0; k < 4; k++)
			sum[k] += v_loadu(x + i + k * VW) * v_loadu(y + i + k * VW);
	}
	for (; i + VW <= count; i += VW)
		sum[0] += v_loadu(x + i) * v_loadu(y + i);
	if (i < count)
		sum[1] += v_load_first(x + i, (int)(count - i), 0) *
			  v_load_first(y + i, (int)(count - i), 0);
	return v_sum((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

void KERNEL(row_affine)(const float *row, float *out, size_t count, float a, float b)
{
	size_t i = 0;

	for (; i + VW <= count; i += VW)
		v_storeu(out + i, v_loadu(row + i) * v_set1(a) + v_set1(b));
	for (; i < count; i++)
		out[i] = row[i] * a + b;
}

void KERNEL(row_combine)(
	const float *x, const float *y, float *out, size_t count, float a, float b, float c)
{
	size_t i = 0;

	for (; i + VW <= count; i += VW)
		v_storeu(out + i,
			v_loadu(x + i) * v_set1(a) + (v_loadu(y + i) * v_set1(b) + v_set1(c)));
	for (; i < count; i++)
		out[i] = x[i] * a + (y[i] * b + c);
}

INLINE vf standardized(vf x, vf mean, vf factor, float clip)
{
	const vf y = (x - mean) * factor;
	/* x - x is 0 unless x is not finite; y is NaN where an overflow met a factor of 0. */
	const vi known = (vi)(x - x == v_zero()) & (vi)(y == y);

	return v_and(v_max(v_min(y, v_set1(clip)), v_set1(-clip)), known);
}

void KERNEL(row_standardize)(const float *x, const float *mean, const float *factor, float *out,
	size_t count, float clip)
{
	size_t i = 0;

	for (; i + VW <= count; i += VW)
		v_storeu(out + i,
			standardized(v_loadu(x + i), v_loadu(mean + i), v_loadu(factor + i), clip));
	if (i < count) {
		const int left = (int)(count - i);

		v_store_first(out + i, left,
			standardized(v_load_first(x + i, left, 0), v_load_first(mean + i, left, 0),
				v_load_first(factor + i, left, 0), clip));
	}
}

/* Products come before sums, so that elements across the diagonal are computed alike. */
INLINE void narrow_strip(float *matrix, size_t stride, size_t rows, const float *x, const float *y,
	size_t from, int vectors, float scale)
{
	enum { MOST = 4 };
	vf xs[MOST], ys[MOST];

	for (int k = 0; k < vectors; k++) {
		xs[k] = v_loadu(x + from + k * VW);
		ys[k] = v_loadu(y + from + k * VW);
	}
	matrix += from;
	for (size_t i = 0; i < rows; i++, matrix += stride)
		for (int k = 0; k < vectors; k++)
			v_storeu(matrix + k * VW,
				v_set1(scale) * v_loadu(matrix + k * VW) -
					(v_set1(x[i]) * xs[k] + v_set1(y[i]) * ys[k]));
}

void KERNEL(narrow)(float *matrix, size_t stride, size_t rows, size_t columns, const float *x,
	const float *y, float scale)
{
	size_t k = 0;

	for (; k + 4 * VW <= columns; k += 4 * VW)
		narrow_strip(matrix, stride, rows, x, y, k, 4, scale);
	for (; k + VW <= columns; k += VW)
		narrow_strip(matrix, stride, rows, x, y, k, 1, scale);
	for (; k < columns; k++)
		for (size_t i = 0; i < rows; i++) {
			float *element = matrix + i * stride + k;

			*element = scale * *element - (x[i] * x[k] + y[i] * y[k]);
		}
}

/* So many blocks side by side, since one alone would wait for its sums. */
INLINE void distances_of(const float *rows, const float *x, size_t dim, int blocks, bool add,
	float *distances, float *least)
{
	enum { PARTS = OPS_BLOCK / VW, MOST = 4 };
	vf sums[MOST][PARTS];

	for (int b = 0; b < blocks; b++)
		for (int p = 0; p < PARTS; p++)
			sums[b][p] = v_zero();
	for (size_t j = 0; j < dim; j++, rows += OPS_BLOCK)
		for (int b = 0; b < blocks; b++)
			for (int p = 0; p < PARTS; p++) {
				const vf apart =
					v_loadu(rows + (size_t)b * dim * OPS_BLOCK + p * VW) -
					v_set1(x[j]);

				sums[b][p] += apart * apart;
			}
	for (int b = 0; b < blocks; b++) {
		vf lower = v_set1(INFINITY);

		for (int p = 0; p < PARTS; p++) {
			float *to = distances + b * OPS_BLOCK + p * VW;
			const vf sum = sums[b][p] + (add ? v_loadu(to) : v_zero());

			v_storeu(to, sum);
			lower = v_min(lower, sum);
		}
		least[b] = -v_top(v_zero() - lower);
	}
}

void KERNEL(distances)(const float *rows, const float *x, size_t dim, size_t blocks, bool add,
	float *distances, float *least)
{
	size_t b = 0;

	for (; b + 4 <= blocks; b += 4)
		distances_of(rows + b * dim * OPS_BLOCK, x, dim, 4, add, distances + b * OPS_BLOCK,
			least + b);
	for (; b < blocks; b++)
		distances_of(rows + b * dim * OPS_BLOCK, x, dim, 1, add, distances + b * OPS_BLOCK,
			least + b);
}

/* Half of the limits at a time: their sums and counts stay in registers. */
void KERNEL(sums_below)(const float *values, const float *targets, size_t count,
	const float *limits, float *sums, float *counts)
{
	enum { HALF = OPS_LIMITS / 2 };

	for (int first = 0; first < OPS_LIMITS; first += HALF) {
		vf sum[HALF], below[HALF];

		UNROLL
		for (int k = 0; k < HALF; k++)
			sum[k] = below[k] = v_zero();
		for (size_t i = 0; i < count; i += VW) {
			const int left = count - i < VW ? (int)(count - i) : VW;
			const vf value = left < VW ? v_load_first(values + i, left, INFINITY)
						   : v_loadu(values + i);
			const vf target = left < VW ? v_load_first(targets + i, left, 0)
						    : v_loadu(targets + i);

			UNROLL
			for (int k = 0; k < HALF; k++) {
				const vi is = value <= v_set1(limits[first + k]);

				sum[k] += v_and(target, is);
				below[k] += v_and(v_set1(1), is);
			}
		}
		UNROLL
		for (int k = 0; k < HALF; k++) {
			sums[first + k] = v_sum(sum[k]);
			counts[first + k] = v_sum(below[k]);
		}
	}
}

void KERNEL(vectors_to_blocks)(const float *plain, int n, int features, float *blocks, size_t plane)
{
	for (int f = 0; f < features; f += VW, blocks += plane) {
		const int width = features - f < VW ? features - f : VW;
		for (int i = 0; i < n; i++) {
			const float *from = plain + (size_t)i * features + f;
			if (width == VW) {
				v_store(blocks + (size_t)i * VW, v_loadu(from));
				continue;
			}
			vf v = v_zero();
			memcpy(&v, from, width * sizeof(float));
			v_store(blocks + (size_t)i * VW, v);
		}
	}
}

void KERNEL(blocks_to_vectors)(const float *blocks, size_t plane, int n, int features, float *plain)
{
	for (int f = 0; f < features; f += VW, blocks += plane) {
		const int width = features - f < VW ? features - f : VW;
		for (int i = 0; i < n; i++) {
			float *to = plain + (size_t)i * features + f;
			if (width == VW)
				v_storeu(to, v_load(blocks + (size_t)i * VW));
			else
				memcpy(to, blocks + (size_t)i * VW, width * sizeof(float));
		}
	}
}

void KERNEL(copy_pixels)(
	const float *from, size_t row_step, size_t col_step, int rows, int cols, float *to)
{
	for (int r = 0; r < rows; r++, from += row_step)
		for (int c = 0; c < cols; c++, to += VW)
			v_store(to, v_load(from + c * col_step));
}

void KERNEL(add)(float *into, const float *from, size_t count)
{
	size_t i = 0;

	for (; i + VW <= count; i += VW)
		v_storeu(into + i, v_loadu(into + i) + v_loadu(from + i));
	for (; i < count; i++)
		into[i] += from[i];
}
