/*
 * Direct convolution: what its planning (conv_direct.c) and its passes
 * (conv_direct_run.c) share.
 */
#ifndef RETAIN_NN_CONV_CONV_DIRECT_H
#define RETAIN_NN_CONV_CONV_DIRECT_H

#include "nn/own/conv/conv.h"

enum {
	SUM_LENGTH = 256,     /* weights per output channel that stay in the first-level cache */
	BAND_PIXELS = 96,     /* pixels of a task: their inputs stay in the second-level cache */
	BAND_PIXELS_MIN = 32, /* ... where there are few images */
	TASKS_WANTED = 8,     /* split channels, too, when there would be fewer */
	COPY_PIXELS = 128,    /* planes longer than this are copied before use */
};

/* Output pixels on a regular grid that use the same taps. */
struct conv_class {
	int rows, cols;               /* grid of outputs */
	int in_stride;                /* input pixels per grid step */
	int out_stride, out_y, out_x; /* where the grid lies in the output image */
	int in_y, in_x;     /* input pixel of grid point (0, 0), tap offsets counted from it */
	int span_y, span_x; /* input pixels the taps reach over */
	bool window;        /* parts lie outside the image: copy with padding */
	bool compact;       /* 1x1: copy the pixels used, side by side */
	bool clear;         /* other pixels between the grid's are zero: a gap in the taps */
	int tap_count;
	int32_t *taps;  /* offsets in floats */
	int *tap_index; /* which tap of the filter */
	float *weights; /* of the backward pass: [panel][block][tap][B][2 B] */
};

/* Blocks of input summed in one go. */
static inline int blocks_per_sum(const struct conv_class *class, int inner)
{
	const int blocks = SUM_LENGTH / ((class->tap_count ? class->tap_count : 1) * inner);
	return blocks > 0 ? blocks : 1;
}

/* A rectangle of a class's grid: what a task computes. */
struct band {
	int row, rows, col, cols;
};

/* Rows of a band; a band of a one-row class is cut by columns instead. */
static inline int band_rows(const struct conv_class *class)
{
	const int rows = BAND_PIXELS / class->cols;
	return rows < 1 ? 1 : rows > class->rows ? class->rows : rows;
}

/* An odd number of blocks apart: neighbours fall on different cache sets. */
static inline size_t compact_step(const struct band *band, size_t block)
{
	return ((size_t)band->rows * band->cols | 1) * block;
}

void conv_direct_forward(
	struct conv *conv, const float *in, float *out, const struct epilogue *end);
void conv_direct_backward_input(struct conv *conv, const float *out_grad, float *in_grad);

#endif
