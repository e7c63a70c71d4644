/*
 * Batch norm, channel block by channel block over all images. Running statistics are
 * updated as PyTorch does.
 */
#include <math.h>
#include "nn/own/norm/norm_impl.h"

struct norm_run {
	struct norm *norm;
	const struct norm_flow *flow;
};

static void update_running(
	const struct norm_flow *flow, int c, double mean, double spread, double count)
{
	const float keep = 1 - flow->momentum;

	if (!flow->running_mean)
		return;
	flow->running_mean[c] = keep * flow->running_mean[c] + flow->momentum * (float)mean;
	flow->running_variance[c] =
		keep * flow->running_variance[c] + flow->momentum * (float)(spread / (count - 1));
}

/* One channel block's statistics over all images, as running means: no image's level matters. */
static void batch_moments(struct norm *norm, const struct norm_flow *flow, int b, int worker,
	double *mean, double *spread)
{
	const int block = norm->kernels->block;
	const double pixels = (double)tensor_pixels(&norm->tensor);
	float *shift = norm_scratch(norm, worker, ROW_SHIFT),
	      *sum = norm_scratch(norm, worker, ROW_SUM);
	float *square = norm_scratch(norm, worker, ROW_SQUARE);

	for (int c = 0; c < block; c++)
		mean[c] = spread[c] = 0;
	for (int n = 0; n < norm->tensor.n; n++) {
		norm->kernels->norm_moments(
			flow->x + norm_block(norm, n, b), (size_t)pixels, shift, sum, square);
		for (int c = 0; c < block; c++) {
			const double own = shift[c] + sum[c] / pixels, away = own - mean[c];
			mean[c] += away / (n + 1);
			spread[c] += square[c] - (double)sum[c] * sum[c] / pixels +
				     pixels * away * away * n / (n + 1);
		}
	}
}

static void forward_task(void *context, int b, int worker)
{
	const struct norm_run *run = context;
	struct norm *norm = run->norm;
	const int block = norm->kernels->block, first = b * block;
	const double count = (double)tensor_pixels(&norm->tensor) * norm->tensor.n;
	float *scale = norm_scratch(norm, worker, ROW_SCALE),
	      *offset = norm_scratch(norm, worker, ROW_OFFSET);
	double mean[BLOCK_MAX], spread[BLOCK_MAX];

	batch_moments(norm, run->flow, b, worker, mean, spread);
	for (int c = 0; c < block; c++) {
		const double variance = spread[c] / count;
		norm->mean[first + c] = (float)mean[c];
		norm->inverse[first + c] =
			(float)(1 / sqrt((variance < 0 ? 0 : variance) + NORM_EPSILON));
		norm_set_map(norm, run->flow, first + c, norm->mean[first + c],
			norm->inverse[first + c], scale + c, offset + c);
		if (first + c < norm->tensor.channels)
			update_running(run->flow, first + c, mean[c], spread[c], count);
	}
	for (int n = 0; n < norm->tensor.n; n++)
		norm_apply_block(norm, run->flow, n, b, scale, offset);
}

static void forward(struct norm *norm, const struct norm_flow *flow)
{
	struct norm_run run = {norm, flow};

	team_run(norm->team, norm->tensor.blocks, forward_task, &run);
}

static void backward_task(void *context, int block_index, int worker)
{
	const struct norm_run *run = context;
	struct norm *norm = run->norm;
	const struct norm_flow *flow = run->flow;
	const int block = norm->kernels->block, first = block_index * block;
	const double count = (double)tensor_pixels(&norm->tensor) * norm->tensor.n;
	float *sum = norm_scratch(norm, worker, ROW_SUM),
	      *product = norm_scratch(norm, worker, ROW_SQUARE);
	float *scale = norm_scratch(norm, worker, ROW_SCALE),
	      *offset = norm_scratch(norm, worker, ROW_OFFSET);
	float *a = norm_scratch(norm, worker, ROW_A), *b = norm_scratch(norm, worker, ROW_B);
	float *c = norm_scratch(norm, worker, ROW_C);
	double dy[BLOCK_MAX] = {0}, dy_x[BLOCK_MAX] = {0};

	for (int k = 0; k < block; k++) {
		norm_set_map(norm, flow, first + k, norm->mean[first + k], norm->inverse[first + k],
			scale + k, offset + k);
		a[k] = b[k] = c[k] = 0;
	}
	for (int n = 0; n < norm->tensor.n; n++) {
		const struct norm_grad g = norm_grad_of(norm, flow, n, block_index);
		norm->kernels->norm_grad_sums(&g, scale, offset, norm->mean + first, sum, product);
		for (int k = 0; k < block; k++) {
			dy[k] += sum[k];
			dy_x[k] += product[k];
		}
	}
	for (int k = 0; k < block && first + k < norm->tensor.channels; k++) {
		const float mean = norm->mean[first + k], inverse = norm->inverse[first + k];
		const double gain = flow->scale[first + k];
		flow->scale_grad[first + k] = (float)(dy_x[k] * inverse);
		flow->shift_grad[first + k] = (float)dy[k];
		norm_set_input_map(flow, first + k, mean, inverse, gain * dy[k] / count,
			gain * dy_x[k] * inverse / count, a + k, b + k, c + k);
	}
	for (int n = 0; n < norm->tensor.n; n++) {
		const struct norm_grad g = norm_grad_of(norm, flow, n, block_index);
		norm->kernels->norm_grad_input(&g, scale, offset, a, b, c);
	}
}

static void backward(struct norm *norm, const struct norm_flow *flow)
{
	struct norm_run run = {norm, flow};

	team_run(norm->team, norm->tensor.blocks, backward_task, &run);
}

const struct norm_type norm_batch = {
	.name = "bn",
	.scales = true,
	.running = true,
	.folds = true,
	.forward = forward,
	.backward = backward,
};
