/*
 * What all convolution algorithms share: the choice between them, standardizing
 * and packing weights, and bringing their gradient back to the plain layout.
 *
 * Weight standardization (per filter of K weights): v = (w - mean) * s with
 * s = 1 / (deviation + 1e-5), deviation unbiased. Its gradient, for g = dL/dv:
 *   dL/dw = s (g - mean g) - s^2 / (deviation (K - 1)) * (w - mean) * sum g (w - mean)
 */
#include <assert.h>
#include <math.h>
#include <string.h>
#include "nn/own/conv/conv.h"
#include "nn/own/onednn.h"

static const float STANDARDIZE_EPSILON = 1e-5f;

/* Filters per task when gradients are brought back. */
enum { FILTERS_PER_TASK = 16 };

static const struct {
	const char *name;
	const struct conv_algorithm *preferred;
} policies[] = {
	{"auto", NULL},
	{"own", &conv_winograd},
	{"direct", &conv_direct},
	{"onednn", &conv_onednn},
};

int conv_policy_find(const char *name, const struct conv_algorithm **preferred)
{
	for (size_t i = 0; i < sizeof(policies) / sizeof(*policies); i++) {
		if (strcmp(policies[i].name, name))
			continue;
		*preferred = policies[i].preferred;
		return 0;
	}
	return -1;
}

/* Channels between two taps of a standardized row. */
static size_t row_step_of(const struct conv *conv)
{
	return (size_t)conv->in_panels * 2 * conv->kernels->block;
}

static size_t filter_weights(const struct conv *conv)
{
	return (size_t)conv->shape.in * conv->taps;
}

/* Worker scratch: rows of a panel of filters, and of two more. */
static size_t rows_floats(const struct conv *conv)
{
	return (size_t)(2 * conv->kernels->block + 2) * row_step_of(conv) * conv->taps;
}

/*
 * oneDNN's 1x1 kernels are up to a tenth faster than ours where they are made for
 * the machine's own vectors; elsewhere it has only slow ones.
 */
static bool onednn_is_faster(const struct conv *conv)
{
	return conv->taps == 1 && conv->kernels == kernels_find("auto") &&
	       onednn_speed(conv->kernels->block) == ONEDNN_FAST && conv_onednn.fits(conv);
}

static const struct conv_algorithm *choose(
	const struct conv *conv, const struct conv_algorithm *preferred)
{
	if (preferred && preferred->fits(conv))
		return preferred;
	if (!preferred && onednn_is_faster(conv))
		return &conv_onednn;
	return conv_winograd.fits(conv) ? &conv_winograd : &conv_direct;
}

int conv_plan(struct conv *conv, const struct conv_algorithm *preferred, struct arena *arena,
	struct err *err)
{
	const int block = conv->kernels->block;

	conv->taps = conv->shape.size * conv->shape.size;
	conv->in_blocks = (conv->shape.in + block - 1) / block;
	conv->out_blocks = (conv->shape.out + block - 1) / block;
	conv->in_panels = (conv->in_blocks + 1) / 2;
	conv->out_panels = (conv->out_blocks + 1) / 2;
	conv->algorithm = choose(conv, preferred);
	conv->shared_floats = conv->worker_floats = 0;
	const int code = conv->algorithm->plan(conv, arena, err);
	if (conv->worker_floats < rows_floats(conv))
		conv->worker_floats = rows_floats(conv);
	return code;
}

int conv_weights_new(
	struct conv *conv, struct arena *arena, size_t forward, size_t backward, struct err *err)
{
	const size_t filters = (size_t)conv->shape.out,
		     padded = (size_t)conv->out_panels * 2 * conv->kernels->block;

	if (conv->borrows)
		return 0;
	conv->filter_mean = arena_new(arena, 3 * filters, sizeof(float));
	conv->bias = arena_new(arena, padded, sizeof(float));
	conv->forward_weights = arena_new(arena, forward, sizeof(float));
	conv->backward_weights = backward ? arena_new(arena, backward, sizeof(float)) : NULL;
	if (!conv->filter_mean || !conv->bias || !conv->forward_weights ||
		(backward && !conv->backward_weights))
		return err_memory(err, "packed weights",
			(3 * filters + padded + forward + backward) * sizeof(float));
	conv->filter_deviation = conv->filter_mean + filters;
	conv->filter_scale = conv->filter_deviation + filters;
	return 0;
}

void conv_borrow(struct conv *conv, const struct conv *from)
{
	assert(conv->borrows && conv->algorithm == from->algorithm &&
		conv->kernels == from->kernels);
	conv->forward_weights = from->forward_weights;
	conv->bias = from->bias;
}

void conv_release(struct conv *conv)
{
	if (conv->algorithm && conv->algorithm->release)
		conv->algorithm->release(conv);
}

static float *worker_scratch(const struct conv *conv, int worker)
{
	return conv->worker + worker * conv->worker_stride;
}

/* The affine map w * a + b that standardizes and folds filter f. */
static void filter_map(
	struct conv *conv, int f, const float *w, const float *fold_scale, float *a, float *b)
{
	const size_t count = filter_weights(conv);
	const float fold = fold_scale ? fold_scale[f] : 1.0f;

	*a = fold;
	*b = 0;
	if (!conv->standardize)
		return;
	float mean, square;
	conv->kernels->row_moments(w, count, &mean, &square);
	const float deviation = count > 1 ? sqrtf(square / (float)(count - 1)) : 0;
	const float scale = 1.0f / (deviation + STANDARDIZE_EPSILON);
	conv->filter_mean[f] = mean;
	conv->filter_deviation[f] = deviation;
	conv->filter_scale[f] = scale;
	*a = fold * scale;
	*b = -mean * *a;
}

/* One filter's plain weights [in][tap], mapped, to [tap][row_step]. */
static void arrange_row(const struct conv *conv, const float *plain, float *row, size_t row_step)
{
	const int taps = conv->taps;

	for (int i = 0; i < conv->shape.in; i++)
		for (int t = 0; t < taps; t++)
			row[t * row_step + i] = plain[(size_t)i * taps + t];
}

struct bind_run {
	struct conv *conv;
	const float *weights, *fold_scale;
};

/* The rows of filter f as they are to be packed. */
static void make_row(const struct bind_run *run, int f, float *row, size_t row_step, float *plain)
{
	struct conv *conv = run->conv;
	const size_t count = filter_weights(conv);
	const bool as_is = conv->shape.planar || conv->taps == 1;
	float a, b;

	filter_map(conv, f, run->weights + f * count, run->fold_scale, &a, &b);
	conv->kernels->row_affine(run->weights + f * count, as_is ? row : plain, count, a, b);
	if (!as_is)
		arrange_row(conv, plain, row, row_step);
}

static void bind_panel(void *context, int panel, int worker)
{
	const struct bind_run *run = context;
	struct conv *conv = run->conv;
	const size_t count = filter_weights(conv), row_step = row_step_of(conv);
	const size_t filter_step = conv->shape.planar ? count : row_step * conv->taps;
	float *rows = worker_scratch(conv, worker),
	      *plain = rows + 2 * conv->kernels->block * filter_step;
	const int first = panel * 2 * conv->kernels->block;

	if (conv->taps == 1 && !conv->standardize && !run->fold_scale) {
		conv->algorithm->pack(conv, panel, run->weights + first * count, count, count);
		return;
	}
	for (int f = first; f < conv->shape.out && f < first + 2 * conv->kernels->block; f++)
		make_row(run, f, rows + (f - first) * filter_step, row_step, plain);
	conv->algorithm->pack(conv, panel, rows, filter_step, row_step);
}

void conv_bind(struct conv *conv, const float *weights, const float *fold_scale, const float *bias)
{
	struct bind_run run = {conv, weights, fold_scale};

	team_run(conv->team, conv->out_panels, bind_panel, &run);
	if (conv->has_bias)
		memcpy(conv->bias, bias, conv->shape.out * sizeof(float));
}

void conv_forward(struct conv *conv, const float *in, float *out, const float *add, bool relu)
{
	const struct epilogue end = {conv->has_bias ? conv->bias : NULL, add, relu};

	conv->algorithm->forward(conv, in, out, &end);
}

void conv_backward_input(struct conv *conv, const float *out_grad, float *in_grad)
{
	conv->algorithm->backward_input(conv, out_grad, in_grad);
}

struct unpack_run {
	struct conv *conv;
	const float *weights;
	float *grad;
};

static void standardize_backward(
	const struct conv *conv, int f, const float *w, const float *g, float *out)
{
	const size_t count = filter_weights(conv);
	const float mean = conv->filter_mean[f], deviation = conv->filter_deviation[f];
	const float scale = conv->filter_scale[f];
	float sum, product;

	conv->kernels->row_products(g, w, mean, count, &sum, &product);
	/* A constant filter has no direction in which its deviation grows. */
	const float b =
		deviation > 0 ? -scale * scale * product / (deviation * (float)(count - 1)) : 0;
	conv->kernels->ops.row_combine(
		g, w, out, count, scale, b, -scale * sum / (float)count - b * mean);
}

static void unpack_filter(
	struct conv *conv, int f, const float *weights, float *grad, float *scratch)
{
	const size_t row_step = row_step_of(conv);
	const int taps = conv->taps;
	float *rows = scratch, *plain = scratch + taps * row_step;
	const bool as_is = conv->shape.planar || taps == 1;

	float *target = conv->standardize ? plain : grad;
	conv->algorithm->unpack(conv, f, as_is ? target : rows, row_step);
	if (!as_is)
		for (int i = 0; i < conv->shape.in; i++)
			for (int t = 0; t < taps; t++)
				target[(size_t)i * taps + t] = rows[t * row_step + i];
	if (conv->standardize)
		standardize_backward(conv, f, weights, plain, grad);
}

static void unpack_task(void *context, int task, int worker)
{
	const struct unpack_run *run = context;
	struct conv *conv = run->conv;
	const size_t count = filter_weights(conv);
	const int first = task * FILTERS_PER_TASK;

	for (int f = first; f < conv->shape.out && f < first + FILTERS_PER_TASK; f++)
		unpack_filter(conv, f, run->weights + f * count, run->grad + f * count,
			worker_scratch(conv, worker));
}

void conv_backward_weights(struct conv *conv, const float *weights, const float *in,
	const float *out_grad, float *grad)
{
	struct unpack_run run = {conv, weights, grad};

	conv->gradient = conv->plain_gradient ? grad : conv->shared;
	conv->algorithm->backward_weights(conv, in, out_grad);
	if (conv->plain_gradient)
		return;
	team_run(conv->team, (conv->shape.out + FILTERS_PER_TASK - 1) / FILTERS_PER_TASK,
		unpack_task, &run);
}
