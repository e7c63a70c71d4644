/*
 * What the kinds of normalisation share. Sums per channel come from the kernels;
 * each kind combines them in double precision and in a fixed order.
 *
 * With xhat = (x - mean) * inverse and M values per group, the gradient is
 *   dx = inverse * (scale dy - mean(scale dy) - xhat mean(scale dy xhat))
 * which is a * dy + b * x + c with constants per channel.
 */
#include <math.h>
#include <string.h>
#include "nn/own/norm/norm_impl.h"

static const struct norm_type *const norm_types[] = {&norm_group, &norm_batch, &norm_plain, NULL};

const struct norm_type *norm_find(const char *name)
{
	for (int i = 0; norm_types[i]; i++)
		if (!strcmp(norm_types[i]->name, name))
			return norm_types[i];
	return NULL;
}

size_t norm_mask_bytes(const struct tensor *t, int block)
{
	return (size_t)t->n * t->blocks * tensor_pixels(t) * ((block + 7) / 8);
}

int norm_plan(struct norm *norm, struct arena *arena, struct err *err)
{
	norm->padded = norm->tensor.blocks * norm->kernels->block;
	const size_t rows = norm->type->per_image ? norm->tensor.n : 1,
		     floats = rows * norm->padded;

	if (norm->type->running && norm->tensor.n * tensor_pixels(&norm->tensor) < 2)
		return err_set(err, ERR_INPUT,
			"batch norm needs more than one value per channel in training: a batch of "
			"one image whose features are 1 x 1 has only one");
	norm->mean = arena_new(arena, floats, sizeof(float));
	norm->inverse = arena_new(arena, floats, sizeof(float));
	const bool sums = norm->train && norm->type->per_image;
	norm->sums = sums ? arena_new(arena, 2 * floats, sizeof(float)) : NULL;
	if (!norm->mean || !norm->inverse || (sums && !norm->sums))
		return err_memory(err, "a norm's statistics", 4 * floats * sizeof(float));
	norm->worker_floats = (size_t)SCRATCH_ROWS * norm->padded;
	return 0;
}

void norm_forward(struct norm *norm, const struct norm_flow *flow)
{
	norm->type->forward(norm, flow);
}

void norm_backward(struct norm *norm, const struct norm_flow *flow)
{
	norm->type->backward(norm, flow);
}

void norm_fold(const float *scale, const float *shift, const float *mean, const float *variance,
	int channels, float *fold_scale, float *fold_shift)
{
	for (int c = 0; c < channels; c++) {
		fold_scale[c] = scale[c] / sqrtf(variance[c] + (float)NORM_EPSILON);
		fold_shift[c] = shift[c] - mean[c] * fold_scale[c];
	}
}

static void *mask_at(const struct norm *norm, void *mask, int n, int b)
{
	const size_t pixels = tensor_pixels(&norm->tensor);
	return mask ? (char *)mask + ((size_t)n * norm->tensor.blocks + b) * pixels *
					     ((norm->kernels->block + 7) / 8)
		    : NULL;
}

void norm_apply_block(const struct norm *norm, const struct norm_flow *flow, int n, int b,
	const float *scale, const float *offset)
{
	const size_t at = norm_block(norm, n, b);

	norm->kernels->norm_apply(flow->x + at, flow->y + at, flow->add ? flow->add + at : NULL,
		mask_at(norm, flow->mask, n, b), tensor_pixels(&norm->tensor), scale, offset,
		norm->relu);
}

struct norm_grad norm_grad_of(const struct norm *norm, const struct norm_flow *flow, int n, int b)
{
	const size_t at = norm_block(norm, n, b);

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
