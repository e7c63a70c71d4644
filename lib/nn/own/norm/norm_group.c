/*
 * Group norm, by units: the fewest whole channel blocks of one image that hold whole
 * groups, so that statistics and their use meet in the cache.
 */
#include <math.h>
#include "nn/own/norm/norm_impl.h"

struct norm_run {
	struct norm *norm;
	const struct norm_flow *flow;
	int unit; /* blocks */
};

/* Whole blocks that hold whole groups: one, a group's width, or all. */
static int unit_blocks(const struct norm *norm)
{
	const int block = norm->kernels->block, width = norm->tensor.channels / norm->groups;

	if (block % width == 0)
		return 1;
	return width % block == 0 ? width / block : norm->tensor.blocks;
}

/* Mean and inverse deviation of channels [first, first + width) from sums around `shift`. */
static void combine(const float *shift, const float *sum, const float *square, int width,
	double pixels, float *mean, float *inverse)
{
	double total = 0, spread = 0;

	for (int c = 0; c < width; c++)
		total += shift[c] + sum[c] / pixels;
	const double middle = total / width;
	for (int c = 0; c < width; c++) {
		const double own = shift[c] + sum[c] / pixels - middle;
		spread += square[c] - (double)sum[c] * sum[c] / pixels + pixels * own * own;
	}
	const double variance = spread / (pixels * width);
	*mean = (float)middle;
	*inverse = (float)(1 / sqrt((variance > 0                  ? variance
					    : variance != variance ? variance
								   : 0) +
				       NORM_EPSILON));
}

static void forward_task(void *context, int task, int worker)
{
	const struct norm_run *run = context;
	struct norm *norm = run->norm;
	const int block = norm->kernels->block, units = norm->tensor.blocks / run->unit;
	const int n = task / units, block0 = task % units * run->unit, first = block0 * block;
	const int width = norm->tensor.channels / norm->groups, channels = run->unit * block;
	const double pixels = (double)tensor_pixels(&norm->tensor);
	float *shift = norm_scratch(norm, worker, ROW_SHIFT),
	      *sum = norm_scratch(norm, worker, ROW_SUM);
	float *square = norm_scratch(norm, worker, ROW_SQUARE);
	float *scale = norm_scratch(norm, worker, ROW_SCALE),
	      *offset = norm_scratch(norm, worker, ROW_OFFSET);
	float *mean = norm->mean + (size_t)n * norm->padded + first;
	float *inverse = norm->inverse + (size_t)n * norm->padded + first;

	for (int b = 0; b < run->unit; b++)
		norm->kernels->norm_moments(run->flow->x + norm_block(norm, n, block0 + b),
			(size_t)pixels, shift + b * block, sum + b * block, square + b * block);
	for (int c = 0; c < channels && first + c < norm->tensor.channels; c += width) {
		float m, i;
		combine(shift + c, sum + c, square + c, width, pixels, &m, &i);
		for (int k = c; k < c + width; k++) {
			mean[k] = m;
			inverse[k] = i;
		}
	}
	for (int c = 0; c < channels; c++)
		norm_set_map(
			norm, run->flow, first + c, mean[c], inverse[c], scale + c, offset + c);
	for (int b = 0; b < run->unit; b++)
		norm_apply_block(
			norm, run->flow, n, block0 + b, scale + b * block, offset + b * block);
}

static void forward(struct norm *norm, const struct norm_flow *flow)
{
	struct norm_run run = {norm, flow, unit_blocks(norm)};

	team_run(norm->team, norm->tensor.n * (norm->tensor.blocks / run.unit), forward_task, &run);
}

static void backward_task(void *context, int task, int worker)
{
	const struct norm_run *run = context;
	struct norm *norm = run->norm;
	const struct norm_flow *flow = run->flow;
	const int block = norm->kernels->block, units = norm->tensor.blocks / run->unit;
	const int n = task / units, block0 = task % units * run->unit, first = block0 * block;
	const int width = norm->tensor.channels / norm->groups, channels = run->unit * block;
	const double count = (double)tensor_pixels(&norm->tensor) * width;
	const float *mean = norm->mean + (size_t)n * norm->padded + first;
	const float *inverse = norm->inverse + (size_t)n * norm->padded + first;
	float *scale_sum = norm->sums + (size_t)n * 2 * norm->padded + first,
	      *shift_sum = scale_sum + norm->padded;
	float *scale = norm_scratch(norm, worker, ROW_SCALE),
	      *offset = norm_scratch(norm, worker, ROW_OFFSET);
	float *a = norm_scratch(norm, worker, ROW_A), *b = norm_scratch(norm, worker, ROW_B);
	float *c = norm_scratch(norm, worker, ROW_C);

	for (int k = 0; k < channels; k++) {
		norm_set_map(norm, flow, first + k, mean[k], inverse[k], scale + k, offset + k);
		a[k] = b[k] = c[k] = 0;
	}
	for (int i = 0; i < run->unit; i++) {
		const struct norm_grad g = norm_grad_of(norm, flow, n, block0 + i);
		norm->kernels->norm_grad_sums(&g, scale + i * block, offset + i * block,
			mean + i * block, shift_sum + i * block, scale_sum + i * block);
	}
	for (int k = 0; k < channels && first + k < norm->tensor.channels; k += width) {
		double dy = 0, product = 0;
		for (int j = k; j < k + width; j++) {
			scale_sum[j] *= inverse[j];
			dy += (double)flow->scale[first + j] * shift_sum[j];
			product += (double)flow->scale[first + j] * scale_sum[j];
		}
		for (int j = k; j < k + width; j++)
			norm_set_input_map(flow, first + j, mean[j], inverse[j], dy / count,
				product / count, a + j, b + j, c + j);
	}
	for (int i = 0; i < run->unit; i++) {
		const struct norm_grad g = norm_grad_of(norm, flow, n, block0 + i);
		norm->kernels->norm_grad_input(&g, scale + i * block, offset + i * block,
			a + i * block, b + i * block, c + i * block);
	}
}

/* Sums over images in their order. */
static void sum_task(void *context, int b, int worker)
{
	const struct norm_run *run = context;
	const struct norm *norm = run->norm;
	const int block = norm->kernels->block, end = (b + 1) * block;

	(void)worker;
	for (int c = b * block; c < end && c < norm->tensor.channels; c++) {
		double scale = 0, shift = 0;
		for (int n = 0; n < norm->tensor.n; n++) {
			scale += norm->sums[(size_t)n * 2 * norm->padded + c];
			shift += norm->sums[((size_t)n * 2 + 1) * norm->padded + c];
		}
		run->flow->scale_grad[c] = (float)scale;
		run->flow->shift_grad[c] = (float)shift;
	}
}

static void backward(struct norm *norm, const struct norm_flow *flow)
{
	struct norm_run run = {norm, flow, unit_blocks(norm)};

	team_run(
		norm->team, norm->tensor.n * (norm->tensor.blocks / run.unit), backward_task, &run);
	team_run(norm->team, norm->tensor.blocks, sum_task, &run);
}

const struct norm_type norm_group = {
	.name = "gn-ws",
	.standardizes = true,
	.scales = true,
	.per_image = true,
	.forward = forward,
	.backward = backward,
};
