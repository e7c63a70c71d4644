/*
 * Group norm runs unit by unit: the fewest whole channel blocks of one image
 * that hold whole groups, so that statistics and their use meet in the cache.
 * Batch norm runs block by block over all images. Sums per channel come from
 * the kernels; here they are combined, in double precision and in a fixed order.
 *
 * With xhat = (x - mean) * inverse and M values per group, the gradient is
 *   dx = inverse * (scale dy - mean(scale dy) - xhat mean(scale dy xhat))
 * which is a * dy + b * x + c with constants per channel.
 */
#include <math.h>
#include <string.h>
#include "nn/norm.h"

static const double EPSILON = 1e-5;

/* Rows of a worker's scratch, each as long as a unit of channels can be. */
enum scratch_row {
	ROW_SHIFT,
	ROW_SUM,
	ROW_SQUARE,
	ROW_SCALE,
	ROW_OFFSET,
	ROW_A,
	ROW_B,
	ROW_C,
	SCRATCH_ROWS
};

static float *scratch_row(const struct norm *norm, int worker, enum scratch_row row)
{
	return norm->worker + worker * norm->worker_stride + (size_t)row * norm->padded;
}

size_t norm_mask_bytes(const struct tensor *t, int block)
{
	return (size_t)t->n * t->blocks * tensor_pixels(t) * (block / 8);
}

int norm_plan(struct norm *norm, struct arena *arena, struct err *err)
{
	norm->padded = norm->tensor.blocks * norm->kernels->block;
	const size_t rows = norm->kind == NORM_GROUP ? norm->tensor.n : 1,
		     floats = rows * norm->padded;

	norm->mean = arena_new(arena, floats, sizeof(float));
	norm->inverse = arena_new(arena, floats, sizeof(float));
	norm->sums = norm->train ? arena_new(arena, 2 * floats, sizeof(float)) : NULL;
	if (!norm->mean || !norm->inverse || (norm->train && !norm->sums))
		return err_memory(err, "a norm's statistics", 4 * floats * sizeof(float));
	norm->worker_floats = (size_t)SCRATCH_ROWS * norm->padded;
	return 0;
}

void norm_fold(const float *scale, const float *shift, const float *mean, const float *variance,
	int channels, float *fold_scale, float *fold_shift)
{
	for (int c = 0; c < channels; c++) {
		fold_scale[c] = scale[c] / sqrtf(variance[c] + (float)EPSILON);
		fold_shift[c] = shift[c] - mean[c] * fold_scale[c];
	}
}

struct norm_run {
	struct norm *norm;
	const struct norm_flow *flow;
	int unit; /* group norm: blocks per unit */
};

/* Whole blocks that hold whole groups: one, a group's width, or all. */
static int unit_blocks(const struct norm *norm)
{
	const int block = norm->kernels->block, width = norm->tensor.channels / norm->groups;

	if (block % width == 0)
		return 1;
	return width % block == 0 ? width / block : norm->tensor.blocks;
}

static size_t block_at(const struct norm *norm, int n, int b)
{
	return n * norm->tensor.image + b * norm->tensor.plane;
}

static void *mask_at(const struct norm *norm, void *mask, int n, int b)
{
	const size_t pixels = tensor_pixels(&norm->tensor);
	return mask ? (char *)mask + ((size_t)n * norm->tensor.blocks + b) * pixels *
					     (norm->kernels->block / 8)
		    : NULL;
}

static void apply_block(const struct norm *norm, const struct norm_flow *flow, int n, int b,
	const float *scale, const float *offset)
{
	const size_t at = block_at(norm, n, b);

	norm->kernels->norm_apply(flow->x + at, flow->y + at, flow->add ? flow->add + at : NULL,
		mask_at(norm, flow->mask, n, b), tensor_pixels(&norm->tensor), scale, offset,
		norm->relu);
}

/* Channel c's map y = x * scale + offset; nothing comes out of channels past the last. */
static void set_map(const struct norm *norm, const struct norm_flow *flow, int c, float mean,
	float inverse, float *scale, float *offset)
{
	const bool real = c < norm->tensor.channels;

	*scale = real ? flow->scale[c] * inverse : 0;
	*offset = real ? flow->shift[c] - mean * *scale : 0;
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
				       EPSILON));
}

static void group_forward_task(void *context, int task, int worker)
{
	const struct norm_run *run = context;
	struct norm *norm = run->norm;
	const int block = norm->kernels->block, units = norm->tensor.blocks / run->unit;
	const int n = task / units, block0 = task % units * run->unit, first = block0 * block;
	const int width = norm->tensor.channels / norm->groups, channels = run->unit * block;
	const double pixels = (double)tensor_pixels(&norm->tensor);
	float *shift = scratch_row(norm, worker, ROW_SHIFT),
	      *sum = scratch_row(norm, worker, ROW_SUM);
	float *square = scratch_row(norm, worker, ROW_SQUARE);
	float *scale = scratch_row(norm, worker, ROW_SCALE),
	      *offset = scratch_row(norm, worker, ROW_OFFSET);
	float *mean = norm->mean + (size_t)n * norm->padded + first;
	float *inverse = norm->inverse + (size_t)n * norm->padded + first;

	for (int b = 0; b < run->unit; b++)
		norm->kernels->norm_moments(run->flow->x + block_at(norm, n, block0 + b),
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
		set_map(norm, run->flow, first + c, mean[c], inverse[c], scale + c, offset + c);
	for (int b = 0; b < run->unit; b++)
		apply_block(norm, run->flow, n, block0 + b, scale + b * block, offset + b * block);
}

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

/* One channel block's statistics over all images, as running means so that no image's level matters. */
static void batch_moments(struct norm *norm, const struct norm_flow *flow, int b, int worker,
	double *mean, double *spread)
{
	const int block = norm->kernels->block;
	const double pixels = (double)tensor_pixels(&norm->tensor);
	float *shift = scratch_row(norm, worker, ROW_SHIFT),
	      *sum = scratch_row(norm, worker, ROW_SUM);
	float *square = scratch_row(norm, worker, ROW_SQUARE);

	for (int c = 0; c < block; c++)
		mean[c] = spread[c] = 0;
	for (int n = 0; n < norm->tensor.n; n++) {
		norm->kernels->norm_moments(
			flow->x + block_at(norm, n, b), (size_t)pixels, shift, sum, square);
		for (int c = 0; c < block; c++) {
			const double own = shift[c] + sum[c] / pixels, away = own - mean[c];
			mean[c] += away / (n + 1);
			spread[c] += square[c] - (double)sum[c] * sum[c] / pixels +
				     pixels * away * away * n / (n + 1);
		}
	}
}

static void batch_forward_task(void *context, int b, int worker)
{
	const struct norm_run *run = context;
	struct norm *norm = run->norm;
	const int block = norm->kernels->block, first = b * block;
	const double count = (double)tensor_pixels(&norm->tensor) * norm->tensor.n;
	float *scale = scratch_row(norm, worker, ROW_SCALE),
	      *offset = scratch_row(norm, worker, ROW_OFFSET);
	double mean[BLOCK_MAX], spread[BLOCK_MAX];

	batch_moments(norm, run->flow, b, worker, mean, spread);
	for (int c = 0; c < block; c++) {
		const double variance = spread[c] / count;
		norm->mean[first + c] = (float)mean[c];
		norm->inverse[first + c] =
			(float)(1 / sqrt((variance < 0 ? 0 : variance) + EPSILON));
		set_map(norm, run->flow, first + c, norm->mean[first + c], norm->inverse[first + c],
			scale + c, offset + c);
		if (first + c < norm->tensor.channels)
			update_running(run->flow, first + c, mean[c], spread[c], count);
	}
	for (int n = 0; n < norm->tensor.n; n++)
		apply_block(norm, run->flow, n, b, scale, offset);
}

static void plain_forward_task(void *context, int task, int worker)
{
	const struct norm_run *run = context;
	struct norm *norm = run->norm;
	float *scale = scratch_row(norm, worker, ROW_SCALE),
	      *offset = scratch_row(norm, worker, ROW_OFFSET);

	for (int c = 0; c < norm->kernels->block; c++) {
		scale[c] = 1;
		offset[c] = 0;
	}
	apply_block(norm, run->flow, task / norm->tensor.blocks, task % norm->tensor.blocks, scale,
		offset);
}

void norm_forward(struct norm *norm, const struct norm_flow *flow)
{
	struct norm_run run = {norm, flow, unit_blocks(norm)};

	if (norm->kind == NORM_GROUP)
		team_run(norm->team, norm->tensor.n * (norm->tensor.blocks / run.unit),
			group_forward_task, &run);
	else if (norm->kind == NORM_BATCH)
		team_run(norm->team, norm->tensor.blocks, batch_forward_task, &run);
	else
		team_run(
			norm->team, norm->tensor.n * norm->tensor.blocks, plain_forward_task, &run);
}

static struct norm_grad grad_of(const struct norm *norm, const struct norm_flow *flow, int n, int b)
{
	const size_t at = block_at(norm, n, b);

	return (struct norm_grad){.x = flow->x + at,
		.mask = mask_at(norm, flow->mask, n, b),
		.dy0 = flow->dy0 + at,
		.dy1 = flow->dy1 ? flow->dy1 + at : NULL,
		.join = flow->join ? flow->join + at : NULL,
		.dx = flow->dx + at,
		.pixels = tensor_pixels(&norm->tensor),
		.kind = flow->join   ? NORM_JOIN
			: norm->relu ? NORM_RELU
				     : NORM_LINEAR};
}

/* dx's constants of channel c from its group's means of scale * dy and scale * dy * xhat. */
static void set_input_map(const struct norm_flow *flow, int c, float mean, float inverse,
	double mean_dy, double mean_product, float *a, float *b, float *shift)
{
	*a = flow->scale[c] * inverse;
	*b = (float)(-(double)inverse * inverse * mean_product);
	*shift = (float)(-inverse * mean_dy) - *b * mean;
}

static void group_backward_task(void *context, int task, int worker)
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
	float *scale = scratch_row(norm, worker, ROW_SCALE),
	      *offset = scratch_row(norm, worker, ROW_OFFSET);
	float *a = scratch_row(norm, worker, ROW_A), *b = scratch_row(norm, worker, ROW_B);
	float *c = scratch_row(norm, worker, ROW_C);

	for (int k = 0; k < channels; k++) {
		set_map(norm, flow, first + k, mean[k], inverse[k], scale + k, offset + k);
		a[k] = b[k] = c[k] = 0;
	}
	for (int i = 0; i < run->unit; i++) {
		const struct norm_grad g = grad_of(norm, flow, n, block0 + i);
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
			set_input_map(flow, first + j, mean[j], inverse[j], dy / count,
				product / count, a + j, b + j, c + j);
	}
	for (int i = 0; i < run->unit; i++) {
		const struct norm_grad g = grad_of(norm, flow, n, block0 + i);
		norm->kernels->norm_grad_input(&g, scale + i * block, offset + i * block,
			a + i * block, b + i * block, c + i * block);
	}
}

/* Sums over images in their order. */
static void group_sum_task(void *context, int b, int worker)
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

static void batch_backward_task(void *context, int block_index, int worker)
{
	const struct norm_run *run = context;
	struct norm *norm = run->norm;
	const struct norm_flow *flow = run->flow;
	const int block = norm->kernels->block, first = block_index * block;
	const double count = (double)tensor_pixels(&norm->tensor) * norm->tensor.n;
	float *sum = scratch_row(norm, worker, ROW_SUM),
	      *product = scratch_row(norm, worker, ROW_SQUARE);
	float *scale = scratch_row(norm, worker, ROW_SCALE),
	      *offset = scratch_row(norm, worker, ROW_OFFSET);
	float *a = scratch_row(norm, worker, ROW_A), *b = scratch_row(norm, worker, ROW_B);
	float *c = scratch_row(norm, worker, ROW_C);
	double dy[BLOCK_MAX] = {0}, dy_x[BLOCK_MAX] = {0};

	for (int k = 0; k < block; k++) {
		set_map(norm, flow, first + k, norm->mean[first + k], norm->inverse[first + k],
			scale + k, offset + k);
		a[k] = b[k] = c[k] = 0;
	}
	for (int n = 0; n < norm->tensor.n; n++) {
		const struct norm_grad g = grad_of(norm, flow, n, block_index);
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
		set_input_map(flow, first + k, mean, inverse, gain * dy[k] / count,
			gain * dy_x[k] * inverse / count, a + k, b + k, c + k);
	}
	for (int n = 0; n < norm->tensor.n; n++) {
		const struct norm_grad g = grad_of(norm, flow, n, block_index);
		norm->kernels->norm_grad_input(&g, scale, offset, a, b, c);
	}
}

static void plain_backward_task(void *context, int task, int worker)
{
	const struct norm_run *run = context;
	struct norm *norm = run->norm;
	float *one = scratch_row(norm, worker, ROW_SCALE),
	      *zero = scratch_row(norm, worker, ROW_OFFSET);
	const struct norm_grad g =
		grad_of(norm, run->flow, task / norm->tensor.blocks, task % norm->tensor.blocks);

	for (int c = 0; c < norm->kernels->block; c++) {
		one[c] = 1;
		zero[c] = 0;
	}
	if (g.kind == NORM_JOIN)
		norm->kernels->norm_grad_sums(&g, one, zero, zero,
			scratch_row(norm, worker, ROW_SUM), scratch_row(norm, worker, ROW_SQUARE));
	norm->kernels->norm_grad_input(&g, one, zero, one, zero, zero);
}

void norm_backward(struct norm *norm, const struct norm_flow *flow)
{
	struct norm_run run = {norm, flow, unit_blocks(norm)};

	if (norm->kind == NORM_GROUP) {
		team_run(norm->team, norm->tensor.n * (norm->tensor.blocks / run.unit),
			group_backward_task, &run);
		team_run(norm->team, norm->tensor.blocks, group_sum_task, &run);
	} else if (norm->kind == NORM_BATCH) {
		team_run(norm->team, norm->tensor.blocks, batch_backward_task, &run);
	} else {
		team_run(norm->team, norm->tensor.n * norm->tensor.blocks, plain_backward_task,
			&run);
	}
}
