/* What kinds of normalisation are made of: for nn/own/norm/norm*.c. */
#ifndef RETAIN_NN_NORM_NORM_IMPL_H
#define RETAIN_NN_NORM_NORM_IMPL_H

#include "nn/own/norm/norm.h"

#define NORM_EPSILON 1e-5

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

static inline float *norm_scratch(const struct norm *norm, int worker, enum scratch_row row)
{
	return norm->worker + worker * norm->worker_stride + (size_t)row * norm->padded;
}

/* Where channel block b of image n begins. */
static inline size_t norm_block(const struct norm *norm, int n, int b)
{
	return n * norm->tensor.image + b * norm->tensor.plane;
}

/* y of a block: x * scale + offset, the residual, the ReLU and its bits. */
void norm_apply_block(const struct norm *norm, const struct norm_flow *flow, int n, int b,
	const float *scale, const float *offset);
/* What the kernels of the backward pass are told about a block. */
struct norm_grad norm_grad_of(const struct norm *norm, const struct norm_flow *flow, int n, int b);

/* Channel c's map y = x * scale + offset; nothing comes out of channels past the last. */
static inline void norm_set_map(const struct norm *norm, const struct norm_flow *flow, int c,
	float mean, float inverse, float *scale, float *offset)
{
	const bool real = c < norm->tensor.channels;

	*scale = real ? flow->scale[c] * inverse : 0;
	*offset = real ? flow->shift[c] - mean * *scale : 0;
}

/* dx's constants of channel c from its group's means of scale * dy and scale * dy * xhat. */
static inline void norm_set_input_map(const struct norm_flow *flow, int c, float mean,
	float inverse, double mean_dy, double mean_product, float *a, float *b, float *shift)
{
	*a = flow->scale[c] * inverse;
	*b = (float)(-(double)inverse * inverse * mean_product);
	*shift = (float)(-inverse * mean_dy) - *b * mean;
}

#endif
