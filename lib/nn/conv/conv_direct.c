/*
 * Direct convolution on tiles. A pass is cut into classes: sets of output
 * pixels on a regular grid that use the same taps. The forward pass is one
 * class. The gradient of the input has stride * stride of them: the input
 * pixels of one parity see one subset of the taps, and for them it is an
 * ordinary convolution of the output gradient.
 *
 * Padding is made by copying a window of the input, a few channel blocks at a
 * time, into the worker's scratch. 1x1 convolutions copy, too, just the pixels
 * they use, where planes are long: tiles would touch a little of every plane,
 * which no prefetcher follows. Else the input is read in place. A task computes
 * a band of one image for some panels of output channels.
 */
#include <string.h>
#include "nn/conv/conv.h"
#include "nn/conv/conv_outer.h"

enum {
	SUM_LENGTH = 256,     /* weights per output channel that stay in the first-level cache */
	BAND_PIXELS = 96,     /* pixels of a task: their inputs stay in the second-level cache */
	BAND_PIXELS_MIN = 32, /* ... where there are few images */
	TASKS_WANTED = 8,     /* split channels, too, when there would be fewer */
	COPY_PIXELS = 128,    /* planes longer than this are copied before use */
};

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

static bool always_fits(const struct conv *conv)
{
	return conv != NULL;
}

static int new_taps(struct conv_class *class, int count, struct arena *arena)
{
	class->tap_count = count;
	class->taps = arena_new(arena, count ? count : 1, sizeof *class->taps);
	class->tap_index = arena_new(arena, count ? count : 1, sizeof *class->tap_index);
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
	struct conv_class *class = arena_new(arena, 1, sizeof *class);
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

/* The taps that join input position `at` to outputs, and the outputs' offsets; returns their number. */
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
	conv->backward_classes = arena_new(arena, stride * stride, sizeof *conv->backward_classes);
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

/* Blocks of input summed in one go. */
static int blocks_per_sum(const struct conv_class *class, int inner)
{
	const int blocks = SUM_LENGTH / ((class->tap_count ? class->tap_count : 1) * inner);
	return blocks > 0 ? blocks : 1;
}

struct band {
	int row, rows, col, cols;
};

/* Rows of a band; a band of a one-row class is cut by columns instead. */
static int band_rows(const struct conv_class *class)
{
	const int rows = BAND_PIXELS / class->cols;
	return rows < 1 ? 1 : rows > class->rows ? class->rows : rows;
}

/* An odd number of blocks apart: neighbours fall on different cache sets. */
static size_t compact_step(const struct band *band, size_t block)
{
	return ((size_t)band->rows * band->cols | 1) * block;
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

/* A pass over all images of one class. */
struct pass {
	const struct conv *conv;
	const struct conv_class *class;
	const struct tensor *in, *out;
	const float *weights, *from;
	float *to;
	const struct epilogue *end;
	int in_blocks, out_blocks;
	int bands, groups, panels; /* panels in all; groups of panels per band */
};

static struct band band_at(const struct pass *pass, int index)
{
	const struct conv_class *class = pass->class;
	const int total = class->rows == 1 ? class->cols : class->rows;
	const int first = (int)((long)total * index / pass->bands);
	const int count = (int)((long)total * (index + 1) / pass->bands) - first;

	if (class->rows == 1)
		return (struct band){0, 1, first, count};
	return (struct band){first, count, 0, class->cols};
}

/* Copies the input window of a band for blocks [first, first + count), zeros outside the image. */
static void copy_window(const struct pass *pass, const struct band *band, const float *image,
	int first, int count, float *to)
{
	const struct conv_class *class = pass->class;
	const struct tensor *in = pass->in;
	const size_t block = pass->conv->kernels->block;
	const int rows = (band->rows - 1) * class->in_stride + class->span_y;
	const int cols = (class->cols - 1) * class->in_stride + class->span_x;
	const int y0 = band->row * class->in_stride + class->in_y, x0 = class->in_x;
	const int left = x0 < 0 ? -x0 : 0, end = x0 + cols > in->width ? in->width - x0 : cols;

	for (int b = first; b < first + count; b++) {
		for (int y = y0; y < y0 + rows; y++, to += cols * block) {
			if (y < 0 || y >= in->height || end <= left) {
				memset(to, 0, cols * block * sizeof(float));
				continue;
			}
			const float *line = image + b * in->plane + (size_t)y * in->width * block;
			memset(to, 0, left * block * sizeof(float));
			memcpy(to + left * block, line + (x0 + left) * (long)block,
				(end - left) * block * sizeof(float));
			memset(to + end * block, 0, (cols - end) * block * sizeof(float));
		}
	}
}

/* Copies the pixels a band of a 1x1 convolution uses, block after block. */
static void copy_compact(const struct pass *pass, const struct band *band, const float *image,
	int first, int count, float *to)
{
	const struct conv_class *class = pass->class;
	const struct tensor *in = pass->in;
	const struct kernels *kernels = pass->conv->kernels;
	const size_t block = kernels->block, step = compact_step(band, block),
		     stride = class->in_stride;

	for (int b = 0; b < count; b++) {
		const size_t from = band->row * stride * in->width + band->col * stride;
		kernels->copy_pixels(image + (first + b) * in->plane + from * block,
			stride * in->width * block, stride * block, band->rows, band->cols,
			to + b * step);
	}
}

/* Zeroes a band's part of the output, which takes in the pixels that no tap reaches. */
static void clear_band(const struct pass *pass, const struct band *band, float *image, int panel)
{
	const struct tensor *out = pass->out;
	const int stride = pass->class->out_stride, y0 = band->row * stride,
		  x0 = band->col * stride;
	const int y1 =
		y0 + band->rows * stride < out->height ? y0 + band->rows * stride : out->height;
	const int x1 =
		x0 + band->cols * stride < out->width ? x0 + band->cols * stride : out->width;
	const size_t block = pass->conv->kernels->block;

	for (int b = 2 * panel; b < 2 * panel + 2 && b < pass->out_blocks; b++)
		for (int y = y0; y < y1; y++)
			memset(image + b * out->plane + ((size_t)y * out->width + x0) * block, 0,
				(x1 - x0) * block * sizeof(float));
}

static enum tile_kind kind_of(const struct pass *pass)
{
	const int stride = pass->class->compact ? 1 : pass->class->in_stride;

	if (pass->conv->shape.planar)
		return stride == 1 ? TILE_PLANAR1 : stride == 2 ? TILE_PLANAR2 : TILE_PLANAR;
	return stride == 1 ? TILE_UNIT : stride == 2 ? TILE_DOUBLE : TILE_STRIDED;
}

/* Where a band's tiles find their input: position of grid point (row 0, col 0) of the band. */
struct source {
	const float *at;
	size_t line, pixel; /* floats per grid row and column */
};

static void panel_tiles(const struct pass *pass, const struct band *band,
	const struct tile_job *job, const struct source *source, const float *weights, int panel,
	float *image, const float *add, bool last)
{
	const struct conv_class *class = pass->class;
	const struct kernels *k = pass->conv->kernels;
	tile_fn *const *tiles = k->tile[kind_of(pass)];
	const bool both = 2 * panel + 1 < pass->out_blocks;
	const float *bias =
		last && pass->end->bias ? pass->end->bias + (size_t)panel * 2 * k->block : NULL;
	const int runs = conv_runs(band->cols, k->tile_rows);
	const size_t plane = pass->out->plane;

	add = last ? add : NULL;
	for (int r = 0; r < band->rows; r++) {
		const size_t line = (size_t)((band->row + r) * class->out_stride + class->out_y) *
				    pass->out->width;
		for (int run = 0, c = 0; run < runs; run++) {
			const int width = (band->cols - c) / (runs - run);
			const size_t at = 2 * panel * plane +
					  (line + (size_t)(band->col + c) * class->out_stride +
						  class->out_x) *
						  k->block;
			tiles[width](job, source->at + r * source->line + c * source->pixel,
				weights, image + at, both ? image + at + plane : NULL, bias,
				add ? add + at : NULL, add ? add + at + plane : NULL);
			c += width;
		}
	}
}

/* Gives the tiles their input for blocks [first, first + count), copied or in place. */
static struct source find_source(const struct pass *pass, const struct band *band,
	const float *image, int first, int count, float *scratch, struct tile_job *job)
{
	const struct conv_class *class = pass->class;
	const struct conv_shape *s = &pass->conv->shape;
	const size_t unit = s->planar ? 1 : pass->conv->kernels->block, stride = class->in_stride;

	if (class->compact) {
		copy_compact(pass, band, image, first, count, scratch);
		job->block_step = compact_step(band, unit);
		return (struct source){scratch, band->cols * unit, unit};
	}
	if (class->window) {
		const size_t cols = (class->cols - 1) * stride + class->span_x;
		copy_window(pass, band, image, first, count, scratch);
		job->block_step = ((band->rows - 1) * stride + class->span_y) * cols * unit;
		return (struct source){
			scratch + band->col * stride * unit, stride * cols * unit, stride * unit};
	}
	const long line = pass->in->width + 2 * (s->planar ? s->pad : 0);
	const long y = band->row * (long)stride + class->in_y,
		   x = band->col * (long)stride + class->in_x;
	job->block_step = pass->in->plane;
	return (struct source){image + first * pass->in->plane + (y * line + x) * (long)unit,
		stride * line * unit, stride * unit};
}

static void pass_task(void *context, int task, int worker)
{
	const struct pass *pass = context;
	const struct conv *conv = pass->conv;
	const struct conv_class *class = pass->class;
	const int inner = conv->shape.planar ? conv->shape.size : conv->kernels->block;
	const int group = task % pass->groups, n = task / pass->groups / pass->bands;
	const struct band band = band_at(pass, task / pass->groups % pass->bands);
	const int panel0 = pass->panels * group / pass->groups,
		  panel1 = pass->panels * (group + 1) / pass->groups;
	const int step = blocks_per_sum(class, inner);
	const float *image = pass->from + n * pass->in->image;
	const float *add = pass->end->add ? pass->end->add + n * pass->out->image : NULL;
	float *out = pass->to + n * pass->out->image,
	      *scratch = conv->worker + worker * conv->worker_stride;
	struct tile_job job = {.taps = class->taps,
		.tap_count = class->tap_count,
		.inner = inner,
		.out_step = class->out_stride * (size_t)conv->kernels->block};

	for (int p = panel0; class->clear && p < panel1; p++)
		clear_band(pass, &band, out, p);
	for (int first = 0; first < pass->in_blocks; first += step) {
		const int count = pass->in_blocks - first < step ? pass->in_blocks - first : step;
		const bool last = first + count == pass->in_blocks;
		const struct source source =
			find_source(pass, &band, image, first, count, scratch, &job);
		job.row_step = source.pixel;
		job.blocks = count;
		job.accumulate = first > 0;
		job.relu = last && pass->end->relu;
		for (int p = panel0; p < panel1; p++) {
			const float *weights =
				pass->weights + ((size_t)p * pass->in_blocks + first) *
							class->tap_count * inner * 2 *
							conv->kernels->block;
			panel_tiles(pass, &band, &job, &source, weights, p, out, add, last);
		}
	}
}

/*
 * Where there are few images, first their bands are made smaller: threads then keep to their own pixels
 * from layer to layer. Only then are channels divided.
 */
static int few_bands(const struct pass *pass, int bands)
{
	const struct conv_class *class = pass->class;
	const int wanted = conv_runs(TASKS_WANTED, pass->in->n),
		  most = class->cols / BAND_PIXELS_MIN;

	if (class->rows > 1 || class->cols < COPY_PIXELS || bands >= wanted || bands >= most)
		return bands;
	return wanted < most ? wanted : most;
}

static void run_pass(struct pass *pass)
{
	const struct conv_class *class = pass->class;

	pass->bands = class->rows == 1 ? conv_runs(class->cols, BAND_PIXELS)
				       : conv_runs(class->rows, band_rows(class));
	pass->bands = few_bands(pass, pass->bands);
	const int tasks = pass->in->n * pass->bands;
	pass->groups = tasks >= TASKS_WANTED ? 1 : conv_runs(TASKS_WANTED, tasks);
	if (pass->groups > pass->panels)
		pass->groups = pass->panels;
	team_run(pass->conv->team, tasks * pass->groups, pass_task, pass);
}

static void forward(struct conv *conv, const float *in, float *out, const struct epilogue *end)
{
	struct pass pass = {.conv = conv,
		.class = conv->forward_class,
		.weights = conv->forward_weights,
		.in = &conv->in,
		.out = &conv->out,
		.from = in,
		.to = out,
		.end = end,
		.out_blocks = conv->out_blocks,
		.panels = conv->out_panels,
		.in_blocks = conv->shape.planar ? conv->shape.in : conv->in_blocks};

	run_pass(&pass);
}

static void backward_input(struct conv *conv, const float *out_grad, float *in_grad)
{
	const struct epilogue none = {0};

	for (int i = 0; i < conv->backward_class_count; i++) {
		/* Pixels without taps are cleared by the class that has some. */
		if (conv->backward_classes[i].clear && conv->backward_classes[i].tap_count == 0)
			continue;
		struct pass pass = {.conv = conv,
			.class = conv->backward_classes + i,
			.weights = conv->backward_classes[i].weights,
			.in = &conv->out,
			.out = &conv->in,
			.from = out_grad,
			.to = in_grad,
			.end = &none,
			.in_blocks = conv->out_blocks,
			.out_blocks = conv->in_blocks,
			.panels = conv->in_panels};
		run_pass(&pass);
	}
}

const struct conv_algorithm conv_direct = {
	.name = "direct",
	.fits = always_fits,
	.plan = plan,
	.pack = pack,
	.forward = forward,
	.backward_input = backward_input,
	.backward_weights = conv_outer_run,
	.unpack = conv_outer_unpack,
};
