/*
 * An activation's layout: n images of channel blocks of pixels of B channels.
 * Vectors (after pooling, in dense layers) are one image whose pixels are the
 * samples. The planar form, for the first layer's few channels, is padded and
 * has no blocks.
 */
#ifndef RETAIN_NN_TENSOR_H
#define RETAIN_NN_TENSOR_H

#include <stdbool.h>
#include <stddef.h>

struct tensor {
	int n, channels, height, width;
	int blocks;          /* channel blocks, or planes where planar */
	int planar_pad;      /* planar: pixels of zeros around each plane; else -1 */
	size_t plane, image; /* floats between blocks, between images */
	size_t floats;
};

static inline size_t tensor_pixels(const struct tensor *t)
{
	return (size_t)t->height * t->width;
}

/*
 * Blocks that lie a multiple of 4 KiB apart fall on the same cache sets; two more pixels per plane
 * spread them.
 */
static inline struct tensor tensor_blocked(int n, int channels, int height, int width, int block)
{
	struct tensor t = {n, channels, height, width, (channels + block - 1) / block, -1, 0, 0, 0};

	t.plane = (size_t)height * width * block;
	if (t.plane % 1024 == 0)
		t.plane += 2 * (size_t)block;
	t.image = t.plane * t.blocks;
	t.floats = t.image * n;
	return t;
}

static inline struct tensor tensor_planar(int n, int channels, int height, int width, int pad)
{
	struct tensor t = {n, channels, height, width, channels, pad, 0, 0, 0};

	t.plane = (size_t)(height + 2 * pad) * (width + 2 * pad);
	t.image = t.plane * channels;
	t.floats = t.image * n;
	return t;
}

#endif
