/*
 * 3x3 stride-1 convolution by Winograd's F(4x4, 3x3): 36 products of small
 * matrices in place of 144 multiplications per tile and channel pair.
 *
 * Tiles are taken in chunks. Where chunk and weights fit the second-level cache
 * a task does a whole chunk alone; else all threads share a chunk and go through
 * its three stages together, so that large weights are read once per chunk. The
 * sums run over channels (forward) or tiles in order (weights), whatever the
 * thread count.
 *
 * The gradient of the input is the same convolution with filters turned round
 * and the roles of channels swapped.
 */
#include <string.h>
#include "nn/own/conv/conv_winograd.h"

enum {
	CHANNELS_MIN = 16,
	SUM_LENGTH = 256,
	PRIVATE_TILES = 36,        /* tiles of a chunk that one worker does alone */
	PRIVATE_WEIGHTS = 3 << 18, /* floats of transformed weights up to which it does */
};

static bool fits(const struct conv *conv)
{
	const struct conv_shape *s = &conv->shape;
	return !s->planar && s->size == 3 && s->stride == 1 && s->pad <= 2 &&
	       s->in >= CHANNELS_MIN && s->out >= CHANNELS_MIN;
}

static size_t weight_floats(int in_blocks, int out_panels, int block)
{
	return (size_t)in_blocks * block * out_panels * 2 * block;
}

static bool is_private(const struct direction *d)
{
	return WINOGRAD_POINTS *
		       weight_floats(d->in_blocks, d->out_panels, d->conv->kernels->block) <=
	       PRIVATE_WEIGHTS;
}

static struct direction backward_of(struct conv *conv)
{
	return (struct direction){conv, &conv->out, &conv->in, 2 - conv->shape.pad,
		conv->backward_weights, conv->out_blocks, conv->in_blocks, conv->in_panels};
}

static size_t direction_floats(const struct direction *d, int tiles)
{
	return WINOGRAD_POINTS * (winograd_point(d->conv, d->in_blocks, tiles) +
					 winograd_point(d->conv, d->out_blocks, tiles));
}

static void want_scratch(struct conv *conv, const struct direction *d)
{
	if (is_private(d)) {
		const size_t floats = direction_floats(d, winograd_chunk(d, PRIVATE_TILES));
		conv->worker_floats = floats > conv->worker_floats ? floats : conv->worker_floats;
	} else {
		const size_t floats = direction_floats(d, winograd_chunk(d, SHARED_TILES));
		conv->shared_floats = floats > conv->shared_floats ? floats : conv->shared_floats;
	}
}

static int plan(struct conv *conv, struct arena *arena, struct err *err)
{
	const int block = conv->kernels->block;
	const size_t forward =
		WINOGRAD_POINTS * weight_floats(conv->in_blocks, conv->out_panels, block);
	const size_t backward = conv->input_grad ? WINOGRAD_POINTS * weight_floats(conv->out_blocks,
									     conv->in_panels, block)
						 : 0;

	const int code = conv_weights_new(conv, arena, forward, backward, err);
	if (code)
		return code;
	const struct direction there = winograd_forward_of(conv), back = backward_of(conv);
	want_scratch(conv, &there);
	if (backward)
		want_scratch(conv, &back);
	if (conv->train) {
		const size_t floats =
			WINOGRAD_POINTS * winograd_gradient_point(conv) +
			direction_floats(&there, winograd_chunk(&there, SHARED_TILES));
		conv->shared_floats = floats > conv->shared_floats ? floats : conv->shared_floats;
	}
	return 0;
}

/* Forward: vectors run over filters. */
static void pack_forward(struct conv *conv, int panel, const float *rows, size_t filter_step,
	size_t row_step, int filters)
{
	const struct kernels *k = conv->kernels;
	const size_t wide = 2 * (size_t)k->block;
	const size_t step = weight_floats(conv->in_blocks, conv->out_panels, k->block);
	float *to = conv->forward_weights + panel * (conv->in_blocks * k->block * wide);
	float taps[9 * BLOCK_MAX * BLOCK_MAX] __attribute__((aligned(MEM_ALIGN)));
	float one[9 * BLOCK_MAX] __attribute__((aligned(MEM_ALIGN)));

	for (int half = 0; half < 2; half++) {
		const int first = half * k->block, left = filters - first;
		const int count = left < k->block ? left : k->block;
		if (count <= 0)
			return;
		for (int i0 = 0; i0 < conv->shape.in; i0 += k->block) {
			const int cols =
				conv->shape.in - i0 < k->block ? conv->shape.in - i0 : k->block;
			memset(taps, 0, sizeof(taps));
			for (int t = 0; t < 9; t++)
				k->transpose(rows + first * filter_step + t * row_step + i0,
					filter_step, count, cols, taps + t * k->block * k->block,
					k->block);
			for (int i = 0; i < cols; i++) {
				for (int t = 0; t < 9; t++)
					memcpy(one + t * k->block,
						taps + (t * k->block + i) * k->block,
						k->block * sizeof(float));
				k->winograd_weights(one, to + (i0 + i) * wide + first, step);
			}
		}
	}
}

/* Backward: vectors run over input channels, taps are turned round. */
static void pack_backward(struct conv *conv, int panel, const float *rows, size_t filter_step,
	size_t row_step, int filters)
{
	const struct kernels *k = conv->kernels;
	const size_t block = k->block, wide = 2 * block;
	const size_t step = weight_floats(conv->out_blocks, conv->in_panels, k->block);
	float one[9 * BLOCK_MAX] __attribute__((aligned(MEM_ALIGN)));

	for (int f = 0; f < filters; f++) {
		const size_t out = panel * wide + f;
		for (size_t i = 0; i < (size_t)conv->shape.in; i += block) {
			const size_t count =
				conv->shape.in - i < block ? conv->shape.in - i : block;
			memset(one, 0, sizeof(one));
			for (int t = 0; t < 9; t++)
				memcpy(one + (8 - t) * block,
					rows + f * filter_step + t * row_step + i,
					count * sizeof(float));
			k->winograd_weights(one,
				conv->backward_weights +
					(i / wide * conv->out_blocks * block + out) * wide +
					i % wide,
				step);
		}
	}
}

static void pack(
	struct conv *conv, int panel, const float *rows, size_t filter_step, size_t row_step)
{
	const int wide = 2 * conv->kernels->block, left = conv->shape.out - panel * wide;
	const int filters = left < wide ? left : wide;

	pack_forward(conv, panel, rows, filter_step, row_step, filters);
	if (conv->backward_weights)
		pack_backward(conv, panel, rows, filter_step, row_step, filters);
}

/* One chunk of tiles on its way. */
struct chunk {
	const struct direction *d;
	struct winograd_shape in, out;
	const float *from;
	float *to;
	const struct epilogue *end;
	float *points, *products;
	int first, count;
};

/* The matrix product of one point for some panels of output channels. */
static void multiply(const struct chunk *chunk, int point, int panel0, int panel1)
{
	static const int32_t no_offset[1] = {0};
	const struct direction *d = chunk->d;
	const struct kernels *k = d->conv->kernels;
	const size_t block = k->block,
		     weights = weight_floats(d->in_blocks, d->out_panels, k->block);
	const int runs = conv_runs(chunk->count, k->tile_rows), step = SUM_LENGTH / k->block;
	struct tile_job job = {.taps = no_offset,
		.tap_count = 1,
		.block_step = chunk->in.tile_block,
		.row_step = block,
		.out_step = block,
		.inner = k->block};

	for (int first = 0; first < d->in_blocks; first += step) {
		job.blocks = d->in_blocks - first < step ? d->in_blocks - first : step;
		job.accumulate = first > 0;
		for (int p = panel0; p < panel1; p++) {
			const float *w = d->weights + point * weights +
					 ((size_t)p * d->in_blocks + first) * block * 2 * block;
			const float *in = chunk->points + point * chunk->in.point +
					  first * chunk->in.tile_block;
			float *out = chunk->products + point * chunk->out.point +
				     2 * p * chunk->out.tile_block;
			const bool both = 2 * p + 1 < d->out_blocks;
			for (int run = 0, t = 0; run < runs; run++) {
				const int rows = (chunk->count - t) / (runs - run);
				k->tile[TILE_UNIT][rows](&job, in + t * block, w, out + t * block,
					both ? out + chunk->out.tile_block + t * block : NULL, NULL,
					NULL, NULL);
				t += rows;
			}
		}
	}
}

static void place_chunk(struct chunk *chunk, int index, int chunks)
{
	const long tiles = winograd_tiles(chunk->d->out);
	chunk->first = (int)(tiles * index / chunks);
	chunk->count = (int)(tiles * (index + 1) / chunks) - chunk->first;
}

struct private_run {
	struct chunk chunk; /* but for the place and the scratch */
	int chunks;
};

static void private_task(void *context, int task, int worker)
{
	const struct private_run *run = context;
	struct chunk chunk = run->chunk;
	const struct direction *d = chunk.d;
	const struct kernels *k = d->conv->kernels;

	place_chunk(&chunk, task, run->chunks);
	chunk.points = d->conv->worker + worker * d->conv->worker_stride;
	chunk.products = chunk.points + WINOGRAD_POINTS * chunk.in.point;
	k->winograd_input(
		&chunk.in, chunk.from, chunk.points, chunk.first, chunk.count, 0, d->in_blocks);
	for (int point = 0; point < WINOGRAD_POINTS; point++)
		multiply(&chunk, point, 0, d->out_panels);
	k->winograd_output(&chunk.out, chunk.products, chunk.to, chunk.first, chunk.count, 0,
		d->out_blocks, chunk.end);
}

static void input_task(void *context, int task, int worker)
{
	const struct chunk *chunk = context;

	(void)worker;
	chunk->d->conv->kernels->winograd_input(
		&chunk->in, chunk->from, chunk->points, chunk->first, chunk->count, task, task + 1);
}

/* Two tasks per point: enough for any small team, few enough for long products. */
static void multiply_task(void *context, int task, int worker)
{
	const struct chunk *chunk = context;
	const int half = (chunk->d->out_panels + 1) / 2;

	(void)worker;
	multiply(chunk, task / 2, task % 2 ? half : 0, task % 2 ? chunk->d->out_panels : half);
}

static void output_task(void *context, int task, int worker)
{
	const struct chunk *chunk = context;

	(void)worker;
	chunk->d->conv->kernels->winograd_output(&chunk->out, chunk->products, chunk->to,
		chunk->first, chunk->count, task, task + 1, chunk->end);
}

static void convolve(
	const struct direction *d, const float *from, float *to, const struct epilogue *end)
{
	const bool alone = is_private(d);
	const int limit = winograd_chunk(d, alone ? PRIVATE_TILES : SHARED_TILES);
	const int chunks = conv_runs(winograd_tiles(d->out), limit);
	struct private_run run = {.chunks = chunks,
		.chunk = {.d = d,
			.in = winograd_shape_of(d->conv, d->in, d->out, d->pad, limit),
			.out = winograd_shape_of(d->conv, d->out, d->out, 0, limit),
			.from = from,
			.to = to,
			.end = end}};
	struct chunk *chunk = &run.chunk;
	struct team *team = d->conv->team;

	if (alone) {
		team_run(team, chunks, private_task, &run);
		return;
	}
	chunk->points = d->conv->shared;
	chunk->products = chunk->points + WINOGRAD_POINTS * chunk->in.point;
	for (int i = 0; i < chunks; i++) {
		place_chunk(chunk, i, chunks);
		team_run(team, d->in_blocks, input_task, chunk);
		team_run(team, 2 * WINOGRAD_POINTS, multiply_task, chunk);
		team_run(team, d->out_blocks, output_task, chunk);
	}
}

static void forward(struct conv *conv, const float *in, float *out, const struct epilogue *end)
{
	const struct direction d = winograd_forward_of(conv);
	convolve(&d, in, out, end);
}

static void backward_input(struct conv *conv, const float *out_grad, float *in_grad)
{
	const struct direction d = backward_of(conv);
	const struct epilogue none = {0};
	convolve(&d, out_grad, in_grad, &none);
}

const struct conv_algorithm conv_winograd = {
	.name = "winograd",
	.fits = fits,
	.plan = plan,
	.pack = pack,
	.forward = forward,
	.backward_input = backward_input,
	.backward_weights = winograd_backward_weights,
	.unpack = winograd_unpack,
};
