/*
 * The gradient of the weights of Winograd's convolution: points of the input and of the
 * output's gradient, multiplied over tiles, chunk after chunk.
 */
#include <string.h>
#include "nn/own/conv/conv_winograd.h"

struct gradient_chunk {
	struct conv *conv;
	struct winograd_shape in, out;
	const float *input, *out_grad;
	float *in_points, *out_points;
	int first, count;
	bool accumulate;
	int splits; /* of output channels per point */
};

static void transform_task(void *context, int task, int worker)
{
	const struct gradient_chunk *g = context;
	const struct kernels *k = g->conv->kernels;
	const int out = task - g->conv->in_blocks;

	(void)worker;
	if (out < 0)
		k->winograd_input(
			&g->in, g->input, g->in_points, g->first, g->count, task, task + 1);
	else
		k->winograd_output_grad(
			&g->out, g->out_grad, g->out_points, g->first, g->count, out, out + 1);
}

static void gradient_task(void *context, int task, int worker)
{
	const struct gradient_chunk *g = context;
	const struct conv *conv = g->conv;
	const struct kernels *k = conv->kernels;
	const int point = task / g->splits, split = task % g->splits;
	const int block0 = conv->out_blocks * split / g->splits;
	const int block1 = conv->out_blocks * (split + 1) / g->splits;
	const size_t block = k->block, row = conv->in_panels * 2 * block;
	float *grad = conv->shared + point * winograd_gradient_point(conv);
	const struct outer_job job = {.rows = 1,
		.cols = g->count,
		.a_col = block,
		.b_col = block,
		.grad_step = row,
		.accumulate = g->accumulate};

	(void)worker;
	for (int panel = 0; panel < conv->in_panels; panel++) {
		const float *b0 = g->in_points + point * g->in.point + 2 * panel * g->in.tile_block;
		const float *b1 = 2 * panel + 1 < conv->in_blocks ? b0 + g->in.tile_block : b0;
		for (int o = block0 * k->block; o < block1 * k->block; o += k->outer_rows) {
			const float *a = g->out_points + point * g->out.point +
					 o / k->block * g->out.tile_block + o % k->block;
			k->outer[k->outer_rows](
				&job, a, b0, b1, grad + o * row + panel * 2 * block);
		}
	}
}

void winograd_backward_weights(struct conv *conv, const float *in, const float *out_grad)
{
	const struct direction d = winograd_forward_of(conv);
	const int limit = winograd_chunk(&d, SHARED_TILES), tiles = winograd_tiles(d.out);
	const int chunks = conv_runs(tiles, limit);
	struct gradient_chunk g = {.conv = conv,
		.input = in,
		.out_grad = out_grad,
		.in = winograd_shape_of(conv, d.in, d.out, d.pad, limit),
		.out = winograd_shape_of(conv, d.out, d.out, 0, limit),
		.splits = conv->out_blocks < 2 ? 1 : 2};

	g.in_points = conv->shared + WINOGRAD_POINTS * winograd_gradient_point(conv);
	g.out_points = g.in_points + WINOGRAD_POINTS * g.in.point;
	for (int i = 0; i < chunks; i++) {
		g.first = (int)((long)tiles * i / chunks);
		g.count = (int)((long)tiles * (i + 1) / chunks) - g.first;
		g.accumulate = i > 0;
		team_run(conv->team, conv->in_blocks + conv->out_blocks, transform_task, &g);
		team_run(conv->team, WINOGRAD_POINTS * g.splits, gradient_task, &g);
	}
}

void winograd_unpack(struct conv *conv, int filter, float *rows, size_t row_step)
{
	const struct kernels *k = conv->kernels;
	const size_t block = k->block;
	const float *from = conv->shared + filter * conv->in_panels * 2 * block;
	float taps[9 * BLOCK_MAX] __attribute__((aligned(MEM_ALIGN)));

	for (size_t i = 0; i < conv->in_blocks * block; i += block) {
		k->winograd_weights_grad(from + i, winograd_gradient_point(conv), taps);
		for (int t = 0; t < 9; t++)
			memcpy(rows + t * row_step + i, taps + t * block, block * sizeof(float));
	}
}
