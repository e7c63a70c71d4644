/*
 * Convolution through oneDNN: the faster choice for 1x1, and for all others a
 * check of our own kernels by somebody else's.
 *
 * A batch is cut into equal parts, a task each, whose number depends on the
 * batch alone. The weights' gradient is made per part in shared scratch, then
 * the parts are added in order: the same bits for any number of threads.
 */
#include <math.h>
#include <string.h>
#include "nn/own/conv/conv.h"
#include "nn/own/onednn.h"

enum {
	PARTS_MAX = 8,
	ADD_PIECE = 1 << 14, /* floats per task when gradients are added */
};

static bool whole(const struct tensor *t, int block)
{
	return t->planar_pad < 0 && t->channels % block == 0 &&
	       t->plane == tensor_pixels(t) * block;
}

/* Bias, residual and ReLU are left to our own kernels. */
static bool fits(const struct conv *conv)
{
	const int block = conv->kernels->block;
	return onednn_speed(block) != ONEDNN_NONE && !conv->fused && whole(&conv->in, block) &&
	       whole(&conv->out, block);
}

static int part_count(const struct conv *conv)
{
	int parts = PARTS_MAX;

	while (conv->shape.n % parts)
		parts--;
	return parts;
}

static size_t weight_floats(const struct conv *conv)
{
	return (size_t)conv->shape.out * conv->shape.in * conv->taps;
}

static int plan(struct conv *conv, struct arena *arena, struct err *err)
{
	const struct conv_shape *s = &conv->shape;
	const size_t floats = weight_floats(conv);
	const int parts = part_count(conv);
	const struct onednn_shape shape = {.n = s->n / parts,
		.in = s->in,
		.out = s->out,
		.height = s->height,
		.width = s->width,
		.out_height = s->out_height,
		.out_width = s->out_width,
		.size = s->size,
		.stride = s->stride,
		.pad = s->pad,
		.block = conv->kernels->block};
	const unsigned passes = (conv->input_grad ? 1u << ONEDNN_BACKWARD_INPUT : 0) |
				(conv->train ? 1u << ONEDNN_BACKWARD_WEIGHTS : 0);

	int code = conv_weights_new(conv, arena, floats, conv->input_grad ? floats : 0, err);
	if (!code)
		code = onednn_conv_new(&conv->onednn, &shape, passes, team_size(conv->team), err);
	if (code)
		return code;
	conv->worker_floats = onednn_conv_scratch(conv->onednn);
	conv->shared_floats = conv->train ? parts * floats : 0;
	return 0;
}

static void release(struct conv *conv)
{
	onednn_conv_free(conv->onednn);
	conv->onednn = NULL;
}

/* Where the weights between two channel blocks start: [first][second][tap][block][block]. */
static size_t weights_at(const struct conv *conv, size_t first, size_t second, size_t seconds)
{
	const size_t block = conv->kernels->block;
	return (first * seconds + second) * conv->taps * block * block;
}

static void pack_block(
	struct conv *conv, int ob, const float *rows, size_t filter_step, size_t row_step)
{
	const struct kernels *k = conv->kernels;
	const size_t block = k->block;

	for (int ib = 0; ib < conv->in_blocks; ib++) {
		float *to = conv->forward_weights + weights_at(conv, ob, ib, conv->in_blocks);
		for (int t = 0; t < conv->taps; t++, to += block * block)
			k->transpose(rows + t * row_step + ib * block, filter_step, k->block,
				k->block, to, block);
	}
	for (int ib = 0; conv->backward_weights && ib < conv->in_blocks; ib++) {
		float *to = conv->backward_weights +
			    (onednn_conv_in_first(conv->onednn)
					    ? weights_at(conv, ib, ob, conv->out_blocks)
					    : weights_at(conv, ob, ib, conv->in_blocks));
		for (int t = 0; t < conv->taps; t++)
			for (size_t o = 0; o < block; o++, to += block)
				memcpy(to, rows + o * filter_step + t * row_step + ib * block,
					block * sizeof(float));
	}
}

static void pack(
	struct conv *conv, int panel, const float *rows, size_t filter_step, size_t row_step)
{
	for (int half = 0; half < 2 && 2 * panel + half < conv->out_blocks; half++)
		pack_block(conv, 2 * panel + half, rows + half * conv->kernels->block * filter_step,
			filter_step, row_step);
}

/* A pass over all parts. The array the pass is named after is written, the others only read. */
struct pass {
	struct conv *conv;
	enum onednn_pass kind;
	float *in, *weights, *out;
	size_t weights_step; /* floats between the parts' weights */
};

/* oneDNN may run out of memory. A pass cannot say so, but must not leave numbers that look well. */
static void spoil(const struct pass *pass, const struct onednn_arrays *part, int images)
{
	const struct conv *conv = pass->conv;
	const struct {
		float *at;
		size_t count;
	} written[ONEDNN_PASSES] = {
		[ONEDNN_FORWARD] = {part->out, images * conv->out.image},
		[ONEDNN_BACKWARD_INPUT] = {part->in, images * conv->in.image},
		[ONEDNN_BACKWARD_WEIGHTS] = {part->weights, weight_floats(conv)},
	};

	for (size_t i = 0; i < written[pass->kind].count; i++)
		written[pass->kind].at[i] = NAN;
}

static void part_task(void *context, int task, int worker)
{
	const struct pass *pass = context;
	struct conv *conv = pass->conv;
	const int images = conv->shape.n / part_count(conv);
	const size_t first = (size_t)task * images;
	const struct onednn_arrays part = {pass->in + first * conv->in.image,
		pass->weights + task * pass->weights_step, pass->out + first * conv->out.image,
		conv->worker + worker * conv->worker_stride};

	if (onednn_conv_run(conv->onednn, pass->kind, worker, &part))
		spoil(pass, &part, images);
}

static void forward(struct conv *conv, const float *in, float *out, const struct epilogue *end)
{
	struct pass pass = {conv, ONEDNN_FORWARD, (float *)in, conv->forward_weights, out, 0};

	(void)end;
	team_run(conv->team, part_count(conv), part_task, &pass);
}

static void backward_input(struct conv *conv, const float *out_grad, float *in_grad)
{
	struct pass pass = {
		conv, ONEDNN_BACKWARD_INPUT, in_grad, conv->backward_weights, (float *)out_grad, 0};

	team_run(conv->team, part_count(conv), part_task, &pass);
}

/* Adds a piece of all parts' gradients to the first part's. */
static void add_task(void *context, int task, int worker)
{
	const struct conv *conv = context;
	const size_t floats = weight_floats(conv), first = (size_t)task * ADD_PIECE;
	const size_t count = floats - first < ADD_PIECE ? floats - first : ADD_PIECE;

	(void)worker;
	for (int part = 1; part < part_count(conv); part++)
		conv->kernels->add(
			conv->shared + first, conv->shared + part * floats + first, count);
}

static void backward_weights(struct conv *conv, const float *in, const float *out_grad)
{
	const size_t floats = weight_floats(conv);
	struct pass pass = {conv, ONEDNN_BACKWARD_WEIGHTS, (float *)in, conv->shared,
		(float *)out_grad, floats};

	team_run(conv->team, part_count(conv), part_task, &pass);
	team_run(conv->team, (int)((floats + ADD_PIECE - 1) / ADD_PIECE), add_task, conv);
}

static void unpack(struct conv *conv, int filter, float *rows, size_t row_step)
{
	const int block = conv->kernels->block, lane = filter % block;

	for (int ib = 0; ib < conv->in_blocks; ib++) {
		const float *from =
			conv->shared + weights_at(conv, filter / block, ib, conv->in_blocks) + lane;
		for (int t = 0; t < conv->taps; t++)
			for (int i = 0; i < block; i++, from += block)
				rows[t * row_step + ib * block + i] = *from;
	}
}

const struct conv_algorithm conv_onednn = {
	.name = "onednn",
	.fits = fits,
	.plan = plan,
	.pack = pack,
	.forward = forward,
	.backward_input = backward_input,
	.backward_weights = backward_weights,
	.unpack = unpack,
	.release = release,
};
