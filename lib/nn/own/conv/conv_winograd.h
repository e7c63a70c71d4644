/*
 * Winograd's convolution: what its two directions (conv_winograd.c) and the gradient of
 * its weights (conv_winograd_weights.c) share.
 */
#ifndef RETAIN_NN_CONV_CONV_WINOGRAD_H
#define RETAIN_NN_CONV_CONV_WINOGRAD_H

#include "nn/own/conv/conv.h"

enum {
	POINT_GAP = 16,     /* keeps the 36 points off the same cache sets */
	SHARED_TILES = 128, /* tiles of a chunk that all workers do together */
};

/* One direction: blocked image in, blocked image out, transformed weights. */
struct direction {
	struct conv *conv;
	const struct tensor *in, *out;
	int pad;
	const float *weights; /* [36][out panel][in block][B][2 B] */
	int in_blocks, out_blocks, out_panels;
};

static inline int winograd_tiles(const struct tensor *out)
{
	return out->n * conv_runs(out->height, 4) * conv_runs(out->width, 4);
}

static inline size_t winograd_point(const struct conv *conv, int blocks, int tiles)
{
	return (size_t)blocks * tiles * conv->kernels->block + POINT_GAP;
}

static inline int winograd_chunk(const struct direction *d, int limit)
{
	const int tiles = winograd_tiles(d->out);
	return tiles < limit ? tiles : limit;
}

static inline struct winograd_shape winograd_shape_of(const struct conv *conv,
	const struct tensor *image, const struct tensor *out, int pad, int tiles)
{
	return (struct winograd_shape){.height = image->height,
		.width = image->width,
		.pad = pad,
		.tile_rows = conv_runs(out->height, 4),
		.tile_cols = conv_runs(out->width, 4),
		.blocks = image->blocks,
		.image = image->image,
		.plane = image->plane,
		.point = winograd_point(conv, image->blocks, tiles),
		.tile_block = (size_t)tiles * conv->kernels->block};
}

static inline struct direction winograd_forward_of(struct conv *conv)
{
	return (struct direction){conv, &conv->in, &conv->out, conv->shape.pad,
		conv->forward_weights, conv->in_blocks, conv->out_blocks, conv->out_panels};
}

/* Floats of one point of the weights' gradient: [out][in], padded. */
static inline size_t winograd_gradient_point(const struct conv *conv)
{
	const size_t block = conv->kernels->block;
	return conv->out_blocks * block * conv->in_panels * 2 * block + POINT_GAP;
}

void winograd_backward_weights(struct conv *conv, const float *in, const float *out_grad);
void winograd_unpack(struct conv *conv, int filter, float *rows, size_t row_step);

#endif
