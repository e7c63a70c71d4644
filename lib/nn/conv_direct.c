/*
 * Direct convolution on tiles. A pass is cut into classes: sets of output
 * pixels on a regular grid that use the same taps. The forward pass is one
 * class. The gradient of the input has stride * stride of them: the input
 * pixels of one parity see one subset of the taps, and for them it is an
 * ordinary convolution of the output gradient.
 *
 * Padding is made by copying a window of the input, a few channel blocks at a
 * time, into the worker's scratch; without padding the input is read in place.
 * A task computes a band of one image for some panels of output channels.
 */
#include <string.h>
#include "nn/conv.h"

enum {
	SUM_LENGTH = 256,   /* weights per output channel that stay in the first-level cache */
	BAND_PIXELS = 96,   /* pixels of a task: their inputs stay in the second-level cache */
	TASKS_WANTED = 8,   /* split channels, too, when there would be fewer */
	OUTER_PIXELS = 256, /* pixels summed per outer tile */
	OUTER_CHANNELS = 64,
};

struct conv_class {
	int rows, cols;		   /* grid of outputs */
	int in_stride;		   /* input pixels per grid step */
	int out_stride, out_y, out_x; /* where the grid lies in the output image */
	int in_y, in_x;		   /* input pixel of grid point (0, 0), tap offsets counted from it */
	int span_y, span_x;	   /* input pixels the taps reach over */
	bool window;		   /* parts lie outside the image: copy with padding */
	int tap_count;
	int32_t *taps;		   /* offsets in floats */
	int *tap_index;		   /* which tap of the filter */
	float *weights;		   /* [panel][block][tap][B][2 B] */
};

static bool always_fits(const struct conv *conv)
{
	return conv != NULL;
}

static bool is_pointwise(const struct conv_shape *s)
{
	return s->size == 1 && s->stride == 1 && s->pad == 0;
}

static int new_taps(struct conv_class *class, int count, struct arena *arena)
{
	class->tap_count = count;
	class->taps = arena_new(arena, count ? count : 1, sizeof *class->taps);
	class->tap_index = arena_new(arena, count ? count : 1, sizeof *class->tap_index);
	return class->taps && class->tap_index ? 0 : -1;
}

/* Tap offsets once it is known how wide a line of the input is as the tiles will see it. */
static void place_taps(struct conv_class *class, const int *dy, const int *dx, int image_width, int unit)
{
	const int line = class->window ? (class->cols - 1) * class->in_stride + class->span_x : image_width;

	for (int t = 0; t < class->tap_count; t++)
		class->taps[t] = ((dy[t] - class->in_y) * line + dx[t] - class->in_x) * unit;
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
	class->weights = conv->forward_weights;
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
	if (is_pointwise(s)) {
		class->rows = 1;
		class->cols = s->height * s->width;
	}
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

static int plan_backward_class(struct conv *conv, struct conv_class *class, int cy, int cx, struct arena *arena)
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
	if (is_pointwise(s)) {
		class->rows = 1;
		class->cols = s->height * s->width;
	}
	return 0;
}

static int plan_backward(struct conv *conv, struct arena *arena)
{
	const int stride = conv->shape.stride, block = conv->kernels->block;
	float *weights = conv->backward_weights;

	conv->backward_class_count = stride * stride;
	conv->backward_classes = arena_new(arena, stride * stride, sizeof *conv->backward_classes);
	if (!conv->backward_classes)
		return -1;
	for (int i = 0; i < stride * stride; i++) {
		struct conv_class *class = conv->backward_classes + i;
		if (plan_backward_class(conv, class, i / stride, i % stride, arena))
			return -1;
		class->weights = weights;
		weights += (size_t)conv->in_panels * conv->out_blocks * class->tap_count * block * 2 * block;
	}
	return 0;
}

/* Blocks of input summed in one go. */
static int blocks_per_sum(const struct conv_class *class, int inner)
{
	const int blocks = SUM_LENGTH / ((class->tap_count ? class->tap_count : 1) * inner);
	return blocks > 0 ? blocks : 1;
}

/* Rows of a band; a band of a one-row class is cut by columns instead. */
static int band_rows(const struct conv_class *class)
{
	const int rows = BAND_PIXELS / class->cols;
	return rows < 1 ? 1 : rows > class->rows ? class->rows : rows;
}

static size_t window_floats(const struct conv_class *class, int block)
{
	if (!class->window)
		return 0;
	const size_t rows = (size_t)(band_rows(class) - 1) * class->in_stride + class->span_y;
	const size_t cols = (size_t)(class->cols - 1) * class->in_stride + class->span_x;
	return rows * cols * block * blocks_per_sum(class, block);
}

static size_t gradient_floats(const struct conv *conv)
{
	const size_t panel = 2 * (size_t)conv->kernels->block;

	if (conv->shape.planar)
		return (size_t)conv->shape.in * conv->taps * conv->out_panels * panel;
	return (size_t)conv->taps * conv->out_blocks * conv->kernels->block * conv->in_panels * panel;
}

static int plan(struct conv *conv, struct arena *arena, struct err *err)
{
	const size_t block = conv->kernels->block, panel = 2 * block;
	const size_t forward = (size_t)conv->out_panels * conv->taps * panel *
		(conv->shape.planar ? (size_t)conv->shape.in : conv->in_blocks * block);
	const size_t backward = conv->input_grad
		? (size_t)conv->in_panels * conv->out_blocks * block * conv->taps * panel
		: 0;

	conv->forward_weights = arena_new(arena, forward, sizeof(float));
	conv->backward_weights = backward ? arena_new(arena, backward, sizeof(float)) : NULL;
	if (!conv->forward_weights || (backward && !conv->backward_weights))
		return err_memory(err, "packed weights", (forward + backward) * sizeof(float));
	if (plan_forward(conv, arena) || (backward && plan_backward(conv, arena)))
		return err_memory(err, "a convolution's tables", conv->taps * sizeof(int));
	conv->worker_floats = window_floats(conv->forward_class, (int)block);
	for (int i = 0; i < conv->backward_class_count; i++) {
		const size_t floats = window_floats(conv->backward_classes + i, (int)block);
		conv->worker_floats = floats > conv->worker_floats ? floats : conv->worker_floats;
	}
	conv->shared_floats = conv->train ? gradient_floats(conv) : 0;
	return 0;
}

static void pack_forward(struct conv *conv, int panel, const float *rows, size_t filter_step, size_t row_step,
	int filters)
{
	const struct kernels *k = conv->kernels;
	const int block = k->block, in = conv->shape.in;
	float *to = conv->forward_weights + (size_t)panel * conv->in_blocks * conv->taps * block * 2 * block;

	for (int ib = 0; ib < conv->in_blocks; ib++) {
		const int cols = in - ib * block < block ? in - ib * block : block;
		for (int t = 0; t < conv->taps; t++, to += block * 2 * block)
			k->transpose(rows + t * row_step + ib * block, filter_step, filters, cols, to, 2 * block);
	}
}

static void pack_backward(struct conv *conv, int panel, const float *rows, size_t filter_step, size_t row_step,
	int filters)
{
	const size_t block = conv->kernels->block, wide = 2 * block;

	for (int c = 0; c < conv->backward_class_count; c++) {
		const struct conv_class *class = conv->backward_classes + c;
		for (int f = 0; f < filters; f++) {
			const size_t ob = 2 * (size_t)panel + f / block, lane = f % block;
			for (int t = 0; t < class->tap_count; t++) {
				const float *from = rows + f * filter_step + class->tap_index[t] * row_step;
				for (size_t ip = 0; ip < (size_t)conv->in_panels; ip++) {
					const size_t left = conv->shape.in - ip * wide;
					float *to = class->weights +
						(((ip * conv->out_blocks + ob) * class->tap_count + t) * block + lane) *
							wide;
					memcpy(to, from + ip * wide, (left < wide ? left : wide) * sizeof(float));
				}
			}
		}
	}
}

static void pack(struct conv *conv, int panel, const float *rows, size_t filter_step, size_t row_step)
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
	const float *from;
	float *to;
	const struct epilogue *end;
	int in_blocks, out_blocks;
	int bands, groups, panels; /* panels in all; groups of panels per band */
};

struct band {
	int row, rows, col, cols;
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
static void copy_window(const struct pass *pass, const struct band *band, const float *image, int first,
	int count, float *to)
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

static enum tile_kind kind_of(const struct pass *pass)
{
	const int stride = pass->class->in_stride;

	if (pass->conv->shape.planar)
		return stride == 1 ? TILE_PLANAR1 : stride == 2 ? TILE_PLANAR2 : TILE_PLANAR;
	return stride == 1 ? TILE_UNIT : stride == 2 ? TILE_DOUBLE : TILE_STRIDED;
}

/* Where a band's tiles find their input: position of grid point (row 0, col 0) of the band. */
struct source {
	const float *at;
	size_t line, pixel; /* floats per grid row and column */
};

static void panel_tiles(const struct pass *pass, const struct band *band, const struct tile_job *job,
	const struct source *source, const float *weights, int panel, float *image, const float *add, bool last)
{
	const struct conv_class *class = pass->class;
	const struct kernels *k = pass->conv->kernels;
	tile_fn *const *tiles = k->tile[kind_of(pass)];
	const bool both = 2 * panel + 1 < pass->out_blocks;
	const float *bias = last && pass->end->bias ? pass->end->bias + (size_t)panel * 2 * k->block : NULL;
	const int runs = conv_runs(band->cols, k->tile_rows);
	const size_t plane = pass->out->plane;

	add = last ? add : NULL;
	for (int r = 0; r < band->rows; r++) {
		const size_t line = (size_t)((band->row + r) * class->out_stride + class->out_y) * pass->out->width;
		for (int run = 0, c = 0; run < runs; run++) {
			const int width = (band->cols - c) / (runs - run);
			const size_t at = 2 * panel * plane +
				(line + (size_t)(band->col + c) * class->out_stride + class->out_x) * k->block;
			tiles[width](job, source->at + r * source->line + c * source->pixel, weights, image + at,
				both ? image + at + plane : NULL, bias, add ? add + at : NULL,
				add ? add + at + plane : NULL);
			c += width;
		}
	}
}

static void pass_task(void *context, int task, int worker)
{
	const struct pass *pass = context;
	const struct conv *conv = pass->conv;
	const struct conv_class *class = pass->class;
	const size_t unit = conv->shape.planar ? 1 : conv->kernels->block;
	const int inner = conv->shape.planar ? conv->shape.size : conv->kernels->block;
	const int group = task % pass->groups, n = task / pass->groups / pass->bands;
	const struct band band = band_at(pass, task / pass->groups % pass->bands);
	const int panel0 = pass->panels * group / pass->groups, panel1 = pass->panels * (group + 1) / pass->groups;
	const int step = blocks_per_sum(class, inner);
	const float *image = pass->from + n * pass->in->image;
	float *out = pass->to + n * pass->out->image, *window = conv->worker + worker * conv->worker_stride;
	const float *add = pass->end->add ? pass->end->add + n * pass->out->image : NULL;
	const int line_pixels = class->window ? (class->cols - 1) * class->in_stride + class->span_x
					      : pass->in->width + 2 * (conv->shape.planar ? conv->shape.pad : 0);
	struct tile_job job = {.taps = class->taps, .tap_count = class->tap_count, .inner = inner,
		.row_step = class->in_stride * unit, .out_step = class->out_stride * conv->kernels->block};

	for (int first = 0; first < pass->in_blocks; first += step) {
		const int count = pass->in_blocks - first < step ? pass->in_blocks - first : step;
		const bool last = first + count == pass->in_blocks;
		struct source source = {.line = (size_t)class->in_stride * line_pixels * unit,
			.pixel = class->in_stride * unit};
		if (class->window) {
			copy_window(pass, &band, image, first, count, window);
			source.at = window;
			const size_t rows = (size_t)(band.rows - 1) * class->in_stride + class->span_y;
			job.block_step = rows * line_pixels * unit;
		} else {
			const long y = band.row * class->in_stride + class->in_y;
			const long x = band.col * class->in_stride + class->in_x;
			source.at = image + first * pass->in->plane + (y * line_pixels + x) * (long)unit;
			job.block_step = pass->in->plane;
		}
		job.blocks = count;
		job.accumulate = first > 0;
		job.relu = last && pass->end->relu;
		for (int p = panel0; p < panel1; p++) {
			const float *weights = class->weights +
				((size_t)p * pass->in_blocks + first) * class->tap_count * inner * 2 *
					conv->kernels->block;
			panel_tiles(pass, &band, &job, &source, weights, p, out, add, last);
		}
	}
}

static void run_pass(struct pass *pass)
{
	const struct conv_class *class = pass->class;

	pass->bands = class->rows == 1 ? conv_runs(class->cols, BAND_PIXELS)
				       : conv_runs(class->rows, band_rows(class));
	const int tasks = pass->in->n * pass->bands;
	pass->groups = tasks >= TASKS_WANTED ? 1 : conv_runs(TASKS_WANTED, tasks);
	if (pass->groups > pass->panels)
		pass->groups = pass->panels;
	team_run(pass->conv->team, tasks * pass->groups, pass_task, pass);
}

static void forward(struct conv *conv, const float *in, float *out, const struct epilogue *end)
{
	struct pass pass = {.conv = conv, .class = conv->forward_class, .in = &conv->in, .out = &conv->out,
		.from = in, .to = out, .end = end, .out_blocks = conv->out_blocks, .panels = conv->out_panels,
		.in_blocks = conv->shape.planar ? conv->shape.in : conv->in_blocks};

	run_pass(&pass);
}

static void backward_input(struct conv *conv, const float *out_grad, float *in_grad)
{
	const struct epilogue none = {0};

	for (int i = 0; i < conv->backward_class_count; i++) {
		struct pass pass = {.conv = conv, .class = conv->backward_classes + i, .in = &conv->out,
			.out = &conv->in, .from = out_grad, .to = in_grad, .end = &none,
			.in_blocks = conv->out_blocks, .out_blocks = conv->in_blocks, .panels = conv->in_panels};
		run_pass(&pass);
	}
}

/*
 * The weights' gradient. A task owns a rectangle of output and input channels and sums over all
 * images itself, so the sums' order is fixed. The result is [tap][out][in], padded to whole panels.
 */
struct outer_pass {
	const struct conv *conv;
	const float *in, *out_grad;
	int out_step, in_step; /* blocks of output, panels of input per task */
	int in_tasks;
};

struct rectangle {
	int out0, out1;	    /* output channels */
	int panel0, panel1; /* input panels */
};

static float *gradient_at(const struct conv *conv, int tap, int out, int panel)
{
	const size_t block = conv->kernels->block, row = conv->in_panels * 2 * block;
	return conv->shared + ((size_t)tap * conv->out_blocks * block + out) * row + panel * 2 * block;
}

/* All outer tiles of a rectangle for one piece of the images. */
static void rectangle_tiles(const struct outer_pass *pass, const struct rectangle *r, int tap,
	struct outer_job *job, const float *a, const float *b)
{
	const struct conv *conv = pass->conv;
	const struct kernels *k = conv->kernels;

	for (int panel = r->panel0; panel < r->panel1; panel++) {
		const float *b0 = b + 2 * panel * conv->in.plane;
		const float *b1 = 2 * panel + 1 < conv->in_blocks ? b0 + conv->in.plane : b0;
		for (int o = r->out0; o < r->out1; o += k->outer_rows)
			k->outer[k->outer_rows](job, a + (o / k->block) * conv->out.plane + o % k->block, b0, b1,
				gradient_at(conv, tap, o, panel));
	}
}

static void pointwise_rectangle(const struct outer_pass *pass, const struct rectangle *r)
{
	const struct conv *conv = pass->conv;
	const int block = conv->kernels->block, pixels = conv->in.height * conv->in.width;
	struct outer_job job = {.a_row = conv->out.image, .a_col = block, .b_row = conv->in.image,
		.b_col = block, .grad_step = (size_t)conv->in_panels * 2 * block, .accumulate = true};
	const int images = pixels < OUTER_PIXELS ? OUTER_PIXELS / pixels : 1;
	const int pieces = conv_runs(pixels, OUTER_PIXELS);

	for (int n = 0; n < conv->in.n; n += images) {
		job.rows = conv->in.n - n < images ? conv->in.n - n : images;
		for (int piece = 0, p = 0; piece < pieces; piece++, p += job.cols) {
			job.cols = (pixels - p) / (pieces - piece);
			rectangle_tiles(pass, r, 0, &job, pass->out_grad + n * conv->out.image + (size_t)p * block,
				pass->in + n * conv->in.image + (size_t)p * block);
		}
	}
}

/* Output positions [*first, *first + count) whose input under tap k lies inside the image. */
static int inside(const struct conv_shape *s, int k, int size, int outputs, int *first)
{
	const int low = s->pad - k;
	*first = low > 0 ? (low + s->stride - 1) / s->stride : 0;
	const int end = size - 1 + s->pad - k < 0 ? 0 : (size - 1 + s->pad - k) / s->stride + 1;
	return (end < outputs ? end : outputs) - *first;
}

static void tapped_rectangle(const struct outer_pass *pass, const struct rectangle *r)
{
	const struct conv *conv = pass->conv;
	const struct conv_shape *s = &conv->shape;
	const int block = conv->kernels->block;
	struct outer_job job = {.a_row = (size_t)s->out_width * block, .a_col = block,
		.b_row = (size_t)s->stride * s->width * block, .b_col = (size_t)s->stride * block,
		.grad_step = (size_t)conv->in_panels * 2 * block, .accumulate = true};
	const int band = OUTER_PIXELS / s->out_width > 0 ? OUTER_PIXELS / s->out_width : 1;

	for (int n = 0; n < s->n; n++) {
		for (int row = 0; row < s->out_height; row += band) {
			for (int t = 0; t < conv->taps; t++) {
				const int ky = t / s->size, kx = t % s->size;
				int y, x;
				const int end = inside(s, ky, s->height, s->out_height, &y) + y;
				job.cols = inside(s, kx, s->width, s->out_width, &x);
				y = y > row ? y : row;
				job.rows = (end < row + band ? end : row + band) - y;
				if (job.rows <= 0 || job.cols <= 0)
					continue;
				const long iy = y * s->stride + ky - s->pad, ix = x * s->stride + kx - s->pad;
				rectangle_tiles(pass, r, t, &job,
					pass->out_grad + n * conv->out.image + ((long)y * s->out_width + x) * block,
					pass->in + n * conv->in.image + (iy * s->width + ix) * block);
			}
		}
	}
}

static void outer_task(void *context, int task, int worker)
{
	const struct outer_pass *pass = context;
	const struct conv *conv = pass->conv;
	const int block = conv->kernels->block, channels = conv->out_blocks * block;
	const int out0 = task / pass->in_tasks * pass->out_step * block;
	const int panel0 = task % pass->in_tasks * pass->in_step;
	struct rectangle r = {out0, out0 + pass->out_step * block, panel0, panel0 + pass->in_step};

	(void)worker;
	r.out1 = r.out1 < channels ? r.out1 : channels;
	r.panel1 = r.panel1 < conv->in_panels ? r.panel1 : conv->in_panels;
	for (int t = 0; t < conv->taps; t++)
		for (int o = r.out0; o < r.out1; o++)
			memset(gradient_at(conv, t, o, r.panel0), 0,
				(size_t)(r.panel1 - r.panel0) * 2 * block * sizeof(float));
	if (is_pointwise(&conv->shape))
		pointwise_rectangle(pass, &r);
	else
		tapped_rectangle(pass, &r);
}

/* Planar input: rows of the outer tile are a run of taps, vectors are output channels. */
static void planar_task(void *context, int task, int worker)
{
	const struct outer_pass *pass = context;
	const struct conv *conv = pass->conv;
	const struct conv_shape *s = &conv->shape;
	const struct kernels *k = conv->kernels;
	const size_t block = k->block, wide = conv->out_panels * 2 * block;
	const int panel = task / s->in, c = task % s->in, line = s->width + 2 * s->pad;
	const int band = OUTER_PIXELS * 2 / s->out_width > 0 ? OUTER_PIXELS * 2 / s->out_width : 1;
	const int runs = conv_runs(s->size, k->outer_rows_max);
	struct outer_job job = {.cols = s->out_width, .a_row = (size_t)s->stride * line, .a_col = s->stride,
		.b_row = s->out_width * block, .b_col = block, .grad_step = wide};

	(void)worker;
	for (int n = 0; n < s->n; n++) {
		for (int row = 0; row < s->out_height; row += band) {
			const float *b0 = pass->out_grad + n * conv->out.image + 2 * panel * conv->out.plane +
				(size_t)row * s->out_width * block;
			const float *b1 = 2 * panel + 1 < conv->out_blocks ? b0 + conv->out.plane : b0;
			job.rows = s->out_height - row < band ? s->out_height - row : band;
			job.accumulate = n > 0 || row > 0;
			for (int ky = 0; ky < s->size; ky++) {
				const float *a = pass->in + n * conv->in.image + c * conv->in.plane +
					(size_t)(row * s->stride + ky) * line;
				for (int run = 0, kx = 0; run < runs; run++) {
					const int width = (s->size - kx) / (runs - run);
					float *grad = conv->shared +
						((size_t)(c * s->size + ky) * s->size + kx) * wide + panel * 2 * block;
					k->outer[width](&job, a + kx, b0, b1, grad);
					kx += width;
				}
			}
		}
	}
}

static void backward_weights(struct conv *conv, const float *in, const float *out_grad)
{
	const int block = conv->kernels->block;
	struct outer_pass pass = {.conv = conv, .in = in, .out_grad = out_grad,
		.out_step = OUTER_CHANNELS / block, .in_step = OUTER_CHANNELS / (2 * block)};

	if (conv->shape.planar) {
		team_run(conv->team, conv->out_panels * conv->shape.in, planar_task, &pass);
		return;
	}
	while (pass.out_step > 1 &&
		conv_runs(conv->out_blocks, pass.out_step) * conv_runs(conv->in_panels, pass.in_step) < TASKS_WANTED)
		pass.out_step /= 2;
	pass.in_tasks = conv_runs(conv->in_panels, pass.in_step);
	team_run(conv->team, conv_runs(conv->out_blocks, pass.out_step) * pass.in_tasks, outer_task, &pass);
}

static void unpack(struct conv *conv, int filter, float *rows, size_t row_step)
{
	const size_t block = conv->kernels->block;

	if (conv->shape.planar) {
		const size_t wide = conv->out_panels * 2 * block, count = (size_t)conv->shape.in * conv->taps;
		for (size_t i = 0; i < count; i++)
			rows[i] = conv->shared[i * wide + filter];
		return;
	}
	for (int t = 0; t < conv->taps; t++)
		memcpy(rows + t * row_step, gradient_at(conv, t, filter, 0), conv->shape.in * sizeof(float));
}

const struct conv_algorithm conv_direct = {
	.name = "direct",
	.fits = always_fits,
	.plan = plan,
	.pack = pack,
	.forward = forward,
	.backward_input = backward_input,
	.backward_weights = backward_weights,
	.unpack = unpack,
};
