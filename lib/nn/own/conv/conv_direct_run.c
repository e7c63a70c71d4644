/*
 * The passes of a direct convolution. A task computes a band of one image for some
 * panels of output channels.
 *
 * Padding is made by copying a window of the input, a few channel blocks at a
 * time, into the worker's scratch. 1x1 convolutions copy, too, just the pixels
 * they use, where planes are long: tiles would touch a little of every plane,
 * which no prefetcher follows. Else the input is read in place.
 */
#include <string.h>
#include "nn/own/conv/conv_direct.h"

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
 * Where there are few images, first their bands are made smaller: threads then keep to
 * their own pixels from layer to layer. Only then are channels divided.
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

void conv_direct_forward(struct conv *conv, const float *in, float *out, const struct epilogue *end)
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

void conv_direct_backward_input(struct conv *conv, const float *out_grad, float *in_grad)
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
