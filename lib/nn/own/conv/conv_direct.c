/*
 * Direct convolution on tiles. A pass is cut into classes: sets of output
 * pixels on a regular grid that use the same taps. The forward pass is one
 * class. The gradient of the input has stride * stride of them: the input
 * pixels of one parity see one subset of the taps, and for them it is an
 * ordinary convolution of the output gradient.
 *
 * Here classes are planned and weights packed; conv_direct_run.c runs them.
 */
#include "nn/own/conv/conv_direct.h"
#include "nn/own/conv/conv_outer.h"

static bool always_fits(const struct conv *conv)
{
	return conv != NULL;
}

static int new_taps(struct conv_class *class, int count, struct arena *arena)
{
	class->tap_count = count;
	class->taps = arena_new(arena, count ? count : 1, sizeof(*class->taps));
	class->tap_index = arena_new(arena, count ? count : 1, sizeof(*class->tap_index));
	return class->taps && class->tap_index ? 0 : -1;
}

/* Tap offsets once it is known how wide a line of the input is as the tiles will see it. */
static void place_taps(
	struct conv_class *class, const int *dy, const int *dx, int image_width, int unit)
{
	const int line =
		class->window ? (class->cols - 1) * class->in_stride + class->span_x : image_width;

	for (int t = 0; t < class->tap_count; t++)
		class->taps[t] = ((dy[t] - class->in_y) * line + dx[t] - class->in_x) * unit;
}

/* 1x1: the image as one row of pixels, where in and out are such rows. */
static void flatten(struct conv_class *class, bool compact, bool same_grid)
{
	class->compact = compact;
	if (!same_grid)
		return;
	class->cols *= class->rows;
	class->rows = 1;
}

static int plan_forward(struct conv *conv, struct arena *arena)
{
	const struct conv_shape *s = &conv->shape;
	const int block = conv->kernels->block;
	struct conv_class *class = arena_new(arena, 1, sizeof(*class));
	int dy[64 * 64], dx[64 * 64];

	if (!class || new_taps(class, s->planar ? s->size : conv->taps, arena))
		return -1;
	conv->forward_class = class;
	class->rows = s->out_height;
	class->cols = s->out_width;
	class->in_stride = s->stride;
	class->out_stride = 1;
	class->span_y = class->span_x = s->size;
	if (s->planar) {
		for (int t = 0; t < s->size; t++)
			class->taps[t] = t * (s->width + 2 * s->pad);
		return 0;
	}
	class->in_y = class->in_x = -s->pad;
	class->window = s->pad > 0;
	for (int t = 0; t < conv->taps; t++) {
		class->tap_index[t] = t;
		dy[t] = t / s->size - s->pad;
		dx[t] = t % s->size - s->pad;
	}
	place_taps(class, dy, dx, s->width, block);
	if (s->size == 1 && s->pad == 0)
		flatten(class, s->stride > 1 || s->height * s->width > COPY_PIXELS, s->stride == 1);
	return 0;
}

/* Which taps join input position `at` to outputs, and to which ones; returns their number. */
static int taps_of(int at, const struct conv_shape *s, int *tap, int *offset)
{
	int count = 0;

	for (int k = 0; k < s->size; k++) {
		const int distance = at + s->pad - k;
		if (distance % s->stride)
			continue;
		tap[count] = k;
		offset[count++] = distance / s->stride;
	}
	return count;
}

static void span_of(const int *offset, int count, int *low, int *span)
{
	*low = 0;
	*span = 1;
	for (int i = 0; i < count; i++)
		*low = i == 0 || offset[i] < *low ? offset[i] : *low;
	for (int i = 0; i < count; i++)
		*span = offset[i] - *low + 1 > *span ? offset[i] - *low + 1 : *span;
}

static int plan_backward_class(
	struct conv *conv, struct conv_class *class, int cy, int cx, struct arena *arena)
{
	const struct conv_shape *s = &conv->shape;
	int tap_y[64], tap_x[64], off_y[64], off_x[64], dy[64 * 64], dx[64 * 64];
	const int ny = taps_of(cy, s, tap_y, off_y), nx = taps_of(cx, s, tap_x, off_x);

	if (new_taps(class, ny * nx, arena))
		return -1;
	class->rows = (s->height - cy + s->stride - 1) / s->stride;
	class->cols = (s->width - cx + s->stride - 1) / s->stride;
	class->in_stride = 1;
	class->out_stride = s->stride;
	class->out_y = cy;
	class->out_x = cx;
	span_of(off_y, ny, &class->in_y, &class->span_y);
	span_of(off_x, nx, &class->in_x, &class->span_x);
	class->window = class->in_y < 0 || class->in_x < 0 ||
			class->in_y + class->rows - 1 + class->span_y > s->out_height ||
			class->in_x + class->cols - 1 + class->span_x > s->out_width;
	for (int i = 0; i < ny * nx; i++) {
		class->tap_index[i] = tap_y[i / nx] * s->size + tap_x[i % nx];
		dy[i] = off_y[i / nx];
		dx[i] = off_x[i % nx];
	}
	place_taps(class, dy, dx, s->out_width, conv->kernels->block);
	class->clear = s->size == 1 && s->pad == 0 && s->stride > 1;
	if (s->size == 1 && s->pad == 0)
		flatten(class, s->out_height * s->out_width > COPY_PIXELS, s->stride == 1);
	return 0;
}

static int plan_backward(struct conv *conv, struct arena *arena)
{
	const int stride = conv->shape.stride, block = conv->kernels->block;
	float *weights = conv->backward_weights;

	conv->backward_class_count = 0;
	conv->backward_classes = arena_new(arena, stride * stride, sizeof(*conv->backward_classes));
	if (!conv->backward_classes)
		return -1;
	for (int i = 0; i < stride * stride; i++) {
		/* An image smaller than the stride has no pixels of some parities. */
		if (i / stride >= conv->shape.height || i % stride >= conv->shape.width)
			continue;
		struct conv_class *class = conv->backward_classes + conv->backward_class_count++;
		if (plan_backward_class(conv, class, i / stride, i % stride, arena))
			return -1;
		class->weights = weights;
		weights += (size_t)conv->in_panels * conv->out_blocks * class->tap_count * block *
			   2 * block;
	}
	return 0;
}

static size_t window_floats(const struct conv_class *class, int block)
{
	if (class->compact) {
		const struct band most = {0, band_rows(class), 0,
			class->rows == 1 && class->cols > BAND_PIXELS ? BAND_PIXELS : class->cols};
		return compact_step(&most, block) * blocks_per_sum(class, block);
	}
	if (!class->window)
		return 0;
	const size_t rows = (size_t)(band_rows(class) - 1) * class->in_stride + class->span_y;
	const size_t cols = (size_t)(class->cols - 1) * class->in_stride + class->span_x;
	return rows * cols * block * blocks_per_sum(class, block);
}

static int plan(struct conv *conv, struct arena *arena, struct err *err)
{
	const size_t block = conv->kernels->block, panel = 2 * block;
	const size_t forward =
		(size_t)conv->out_panels * conv->taps * panel *
		(conv->shape.planar ? (size_t)conv->shape.in : conv->in_blocks * block);
	const size_t backward = conv->input_grad ? (size_t)conv->in_panels * conv->out_blocks *
							   block * conv->taps * panel
						 : 0;

	const int code = conv_weights_new(conv, arena, forward, backward, err);
	if (code)
		return code;
	if (plan_forward(conv, arena) || (backward && plan_backward(conv, arena)))
		return err_memory(err, "a convolution's tables", conv->taps * sizeof(int));
	conv->worker_floats = window_floats(conv->forward_class, (int)block);
	for (int i = 0; i < conv->backward_class_count; i++) {
		const size_t floats = window_floats(conv->backward_classes + i, (int)block);
		conv->worker_floats = floats > conv->worker_floats ? floats : conv->worker_floats;
	}
	if (conv->train)
		conv_outer_plan(conv);
	return 0;
}

static void pack_forward(struct conv *conv, int panel, const float *rows, size_t filter_step,
	size_t row_step, int filters)
{
	const struct kernels *k = conv->kernels;
	const int block = k->block, in = conv->shape.in;
	float *to = conv->forward_weights +
		    (size_t)panel * conv->in_blocks * conv->taps * block * 2 * block;

	for (int ib = 0; ib < conv->in_blocks; ib++) {
		const int cols = in - ib * block < block ? in - ib * block : block;
		for (int t = 0; t < conv->taps; t++, to += block * 2 * block)
			k->transpose(rows + t * row_step + ib * block, filter_step, filters, cols,
				to, 2 * block);
	}
}

/* The filters' rows, cut into panels of input channels: one copy per panel and tap. */
static void pack_backward(struct conv *conv, int panel, const float *rows, size_t filter_step,
	size_t row_step, int filters)
{
	const int block = conv->kernels->block, wide = 2 * block;

	for (int c = 0; c < conv->backward_class_count; c++) {
		const struct conv_class *class = conv->backward_classes + c;
		for (int f0 = 0; f0 < filters; f0 += block) {
			const int count = filters - f0 < block ? filters - f0 : block;
			const size_t ob = 2 * (size_t)panel + f0 / block;
			for (int t = 0; t < class->tap_count; t++) {
				const float *from =
					rows + f0 * filter_step + class->tap_index[t] * row_step;
				for (int ip = 0; ip < conv->in_panels; ip++) {
					const int left = conv->shape.in - ip * wide;
					const size_t at = ((size_t)ip * conv->out_blocks + ob) *
								  class->tap_count +
							  t;
					conv->kernels->copy_rows(from + ip * wide, filter_step,
						count, left < wide ? left : wide,
						class->weights + at * block * wide, wide);
				}
			}
		}
	}
}

static void pack(
	struct conv *conv, int panel, const float *rows, size_t filter_step, size_t row_step)
{
	const int wide = 2 * conv->kernels->block, left = conv->shape.out - panel * wide;
	const int filters = left < wide ? left : wide;

	if (conv->shape.planar) {
		const size_t count = (size_t)conv->shape.in * conv->taps;
		conv->kernels->transpose(rows, filter_step, filters, (int)count,
			conv->forward_weights + panel * count * wide, wide);
		return;
	}
	pack_forward(conv, panel, rows, filter_step, row_step, filters);
	if (conv->backward_weights)
		pack_backward(conv, panel, rows, filter_step, row_step, filters);
}

const struct conv_algorithm conv_direct = {
	.name = "direct",
	.fits = always_fits,
	.plan = plan,
	.pack = pack,
	.forward = conv_direct_forward,
	.backward_input = conv_direct_backward_input,
	.backward_weights = conv_outer_run,
	.unpack = conv_outer_unpack,
};
