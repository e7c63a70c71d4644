/*
 * The gradient of the weights: for every tap, output channels times input
 * channels, summed over pixels. A task owns a rectangle of channels and a part
 * of the images. Rectangles are as large as the second-level cache allows, so
 * that activations are read from memory few times; where a layer has too few of
 * them, images are divided as well and the parts' sums added in order at the
 * end. The cut depends on the shape alone, so the sums' order is fixed.
 *
 * The result is [part][tap][out][in], padded to whole panels of input channels.
 * Strided input is gathered first: its pixels then lie together.
 */
#include <string.h>
#include "nn/own/conv/conv_outer.h"

enum {
	PIXELS = 256,         /* summed per outer tile */
	CHANNELS_POINT = 128, /* side of a rectangle for a 1x1 convolution */
	CHANNELS_TAPPED = 64, /* ... for larger ones, which have several sums per pair */
	TASKS_WANTED = 16,
	PARTS_FLOATS = 1 << 20, /* of gradient in all parts together */
};

static bool is_flat(const struct conv_shape *s)
{
	return s->size == 1 && s->stride == 1 && s->pad == 0;
}

/* Floats of one part. */
static size_t part_floats(const struct conv *conv)
{
	const size_t panel = 2 * (size_t)conv->kernels->block;

	if (conv->shape.planar)
		return (size_t)conv->shape.in * conv->taps * conv->out_panels * panel;
	return (size_t)conv->taps * conv->out_blocks * conv->kernels->block * conv->in_panels *
	       panel;
}

static int gather_rows(const struct conv_shape *s)
{
	return PIXELS / s->out_width > 0 ? PIXELS / s->out_width : 1;
}

/* How the channels are cut: blocks of output and panels of input per rectangle. */
struct cut {
	int out_step, in_step, in_tasks, rectangles;
};

static struct cut cut_of(const struct conv *conv)
{
	const int block = conv->kernels->block,
		  side = conv->taps == 1 ? CHANNELS_POINT : CHANNELS_TAPPED;
	struct cut cut = {side / block, side / (2 * block), 0, 0};

	cut.in_tasks = conv_runs(conv->in_panels, cut.in_step);
	cut.rectangles = conv_runs(conv->out_blocks, cut.out_step) * cut.in_tasks;
	while (conv->outer_parts == 1 && cut.out_step > 1 && cut.rectangles < TASKS_WANTED / 2) {
		cut.out_step /= 2;
		cut.rectangles = conv_runs(conv->out_blocks, cut.out_step) * cut.in_tasks;
	}
	return cut;
}

void conv_outer_plan(struct conv *conv)
{
	const struct conv_shape *s = &conv->shape;

	conv->outer_parts = 1;
	if (!s->planar && s->n >= 4) {
		conv->outer_parts = 2;
		while (cut_of(conv).rectangles * conv->outer_parts < TASKS_WANTED &&
			4 * conv->outer_parts <= s->n &&
			2 * conv->outer_parts * part_floats(conv) <= PARTS_FLOATS)
			conv->outer_parts *= 2;
		if (cut_of(conv).rectangles >= TASKS_WANTED || 2 * part_floats(conv) > PARTS_FLOATS)
			conv->outer_parts = 1;
	}
	conv->plain_gradient = !s->planar && conv->taps == 1 && !conv->standardize &&
			       conv->outer_parts == 1 && s->in % (2 * conv->kernels->block) == 0 &&
			       s->out % conv->kernels->outer_rows == 0;
	const size_t shared = conv->plain_gradient ? 0 : conv->outer_parts * part_floats(conv);
	const size_t gathered =
		s->stride == 1 || s->planar
			? 0
			: (size_t)gather_rows(s) * s->out_width * 2 * conv->kernels->block;
	conv->shared_floats = shared > conv->shared_floats ? shared : conv->shared_floats;
	conv->worker_floats = gathered > conv->worker_floats ? gathered : conv->worker_floats;
}

struct outer_pass {
	struct conv *conv;
	const float *in, *out_grad;
	struct cut cut;
};

/* What a task works on. */
struct share {
	int out0, out1;     /* output channels */
	int panel0, panel1; /* input panels */
	int image0, image1;
	float *grad;     /* the part's */
	float *gathered; /* scratch */
};

static size_t gradient_at(const struct conv *conv, int tap, int out, int panel)
{
	const size_t block = conv->kernels->block, row = conv->in_panels * 2 * block;
	return ((size_t)tap * conv->out_blocks * block + out) * row + panel * 2 * block;
}

/* One panel of input channels with all output channels of the share. */
static void panel_tiles(const struct conv *conv, const struct share *share, int tap, int panel,
	const struct outer_job *job, const float *a, const float *b0, const float *b1)
{
	const struct kernels *k = conv->kernels;

	for (int o = share->out0; o < share->out1; o += k->outer_rows)
		k->outer[k->outer_rows](job, a + (o / k->block) * conv->out.plane + o % k->block,
			b0, b1, share->grad + gradient_at(conv, tap, o, panel));
}

static struct outer_job job_of(const struct conv *conv)
{
	const size_t block = conv->kernels->block;
	return (struct outer_job){.a_col = block,
		.b_col = block,
		.grad_step = conv->in_panels * 2 * block,
		.accumulate = true};
}

/* 1x1: pixels in a row, over several images where these are small. */
static void flat_share(const struct outer_pass *pass, const struct share *share)
{
	const struct conv *conv = pass->conv;
	const int block = conv->kernels->block, pixels = conv->in.height * conv->in.width;
	const int images = pixels < PIXELS ? PIXELS / pixels : 1,
		  pieces = conv_runs(pixels, PIXELS);
	struct outer_job job = job_of(conv);

	job.a_row = conv->out.image;
	job.b_row = conv->in.image;
	for (int n = share->image0; n < share->image1; n += images) {
		job.rows = share->image1 - n < images ? share->image1 - n : images;
		for (int piece = 0, p = 0; piece < pieces; piece++, p += job.cols) {
			const float *a = pass->out_grad + n * conv->out.image + (size_t)p * block;
			const float *b = pass->in + n * conv->in.image + (size_t)p * block;
			job.cols = (pixels - p) / (pieces - piece);
			job.accumulate = n > share->image0 || piece > 0;
			for (int panel = share->panel0; panel < share->panel1; panel++) {
				const float *b0 = b + 2 * panel * conv->in.plane;
				const float *b1 =
					2 * panel + 1 < conv->in_blocks ? b0 + conv->in.plane : b0;
				panel_tiles(conv, share, 0, panel, &job, a, b0, b1);
			}
		}
	}
}

/* Output positions [*first, *first + count) whose input under tap k lies inside the image. */
static int inside(const struct conv_shape *s, int k, int size, int outputs, int *first)
{
	const int low = s->pad - k, high = size - 1 + s->pad - k;
	const int end = high < 0 ? 0 : high / s->stride + 1;

	*first = low > 0 ? (low + s->stride - 1) / s->stride : 0;
	return (end < outputs ? end : outputs) - *first;
}

/* A band of output rows under one tap. */
static void tapped_band(
	const struct outer_pass *pass, const struct share *share, int n, int row, int tap)
{
	const struct conv *conv = pass->conv;
	const struct conv_shape *s = &conv->shape;
	const int block = conv->kernels->block, ky = tap / s->size, kx = tap % s->size;
	const int last = row + gather_rows(s);
	struct outer_job job = job_of(conv);
	int y, x;

	const int end = inside(s, ky, s->height, s->out_height, &y) + y;
	job.cols = inside(s, kx, s->width, s->out_width, &x);
	y = y > row ? y : row;
	job.rows = (end < last ? end : last) - y;
	if (job.rows <= 0 || job.cols <= 0)
		return;
	job.a_row = (size_t)s->out_width * block;
	job.b_row = (size_t)(s->stride > 1 ? job.cols : s->width) * block;
	const long iy = y * s->stride + ky - s->pad, ix = x * s->stride + kx - s->pad;
	const float *a =
		pass->out_grad + n * conv->out.image + ((long)y * s->out_width + x) * block;
	const float *b = pass->in + n * conv->in.image + (iy * s->width + ix) * block;
	for (int panel = share->panel0; panel < share->panel1; panel++) {
		const float *b0 = b + 2 * panel * conv->in.plane;
		const float *b1 = 2 * panel + 1 < conv->in_blocks ? b0 + conv->in.plane : b0;
		if (s->stride > 1) {
			float *second = share->gathered + (size_t)job.rows * job.cols * block;
			const size_t line = (size_t)s->stride * s->width * block,
				     col = (size_t)s->stride * block;
			conv->kernels->copy_pixels(
				b0, line, col, job.rows, job.cols, share->gathered);
			conv->kernels->copy_pixels(b1, line, col, job.rows, job.cols, second);
			panel_tiles(conv, share, tap, panel, &job, a, share->gathered, second);
		} else {
			panel_tiles(conv, share, tap, panel, &job, a, b0, b1);
		}
	}
}

static void tapped_share(const struct outer_pass *pass, const struct share *share)
{
	const struct conv *conv = pass->conv;
	const struct conv_shape *s = &conv->shape;
	const size_t width = (size_t)(share->panel1 - share->panel0) * 2 * conv->kernels->block;

	/* A tap may miss every pixel of a band, so there is no first one to start a sum. */
	for (int tap = 0; tap < conv->taps; tap++)
		for (int o = share->out0; o < share->out1; o++)
			memset(share->grad + gradient_at(conv, tap, o, share->panel0), 0,
				width * sizeof(float));
	for (int n = share->image0; n < share->image1; n++)
		for (int row = 0; row < s->out_height; row += gather_rows(s))
			for (int tap = 0; tap < conv->taps; tap++)
				tapped_band(pass, share, n, row, tap);
}

static struct share share_of(const struct outer_pass *pass, int task, int worker)
{
	const struct conv *conv = pass->conv;
	const struct cut *cut = &pass->cut;
	const int block = conv->kernels->block;
	const int channels = conv->plain_gradient ? conv->shape.out : conv->out_blocks * block;
	const int part = task / cut->rectangles, rectangle = task % cut->rectangles;
	struct share share = {.grad = conv->gradient + part * part_floats(conv),
		.gathered = conv->worker + worker * conv->worker_stride};

	share.out0 = rectangle / cut->in_tasks * cut->out_step * block;
	share.out1 = share.out0 + cut->out_step * block < channels
			     ? share.out0 + cut->out_step * block
			     : channels;
	share.panel0 = rectangle % cut->in_tasks * cut->in_step;
	share.panel1 = share.panel0 + cut->in_step < conv->in_panels ? share.panel0 + cut->in_step
								     : conv->in_panels;
	share.image0 = (int)((long)conv->in.n * part / conv->outer_parts);
	share.image1 = (int)((long)conv->in.n * (part + 1) / conv->outer_parts);
	return share;
}

static void outer_task(void *context, int task, int worker)
{
	const struct outer_pass *pass = context;
	const struct share share = share_of(pass, task, worker);

	if (is_flat(&pass->conv->shape))
		flat_share(pass, &share);
	else
		tapped_share(pass, &share);
}

/*
 * Planar input: the rows of an outer tile are a run of taps, its vectors output channels.
 * A task owns one plane and one panel of output channels. The result is [plane][tap][out].
 */
static void planar_band(const struct outer_pass *pass, int panel, int c, int n, int row, int rows)
{
	const struct conv *conv = pass->conv;
	const struct conv_shape *s = &conv->shape;
	const struct kernels *k = conv->kernels;
	const size_t block = k->block, wide = conv->out_panels * 2 * block;
	const int line = s->width + 2 * s->pad, runs = conv_runs(s->size, k->outer_rows_max);
	const float *b0 = pass->out_grad + n * conv->out.image + 2 * panel * conv->out.plane +
			  (size_t)row * s->out_width * block;
	const float *b1 = 2 * panel + 1 < conv->out_blocks ? b0 + conv->out.plane : b0;
	const struct outer_job job = {.rows = rows,
		.cols = s->out_width,
		.a_row = (size_t)s->stride * line,
		.a_col = s->stride,
		.b_row = s->out_width * block,
		.b_col = block,
		.grad_step = wide,
		.accumulate = n > 0 || row > 0};

	for (int ky = 0; ky < s->size; ky++) {
		const float *a = pass->in + n * conv->in.image + c * conv->in.plane +
				 (size_t)(row * s->stride + ky) * line;
		for (int run = 0, kx = 0; run < runs; run++) {
			const int width = (s->size - kx) / (runs - run);
			float *grad = conv->gradient +
				      ((size_t)(c * s->size + ky) * s->size + kx) * wide +
				      panel * 2 * block;
			k->outer[width](&job, a + kx, b0, b1, grad);
			kx += width;
		}
	}
}

static void planar_task(void *context, int task, int worker)
{
	const struct outer_pass *pass = context;
	const struct conv_shape *s = &pass->conv->shape;
	const int rows = 2 * gather_rows(s);

	(void)worker;
	for (int n = 0; n < s->n; n++)
		for (int row = 0; row < s->out_height; row += rows)
			planar_band(pass, task / s->in, task % s->in, n, row,
				s->out_height - row < rows ? s->out_height - row : rows);
}

void conv_outer_run(struct conv *conv, const float *in, const float *out_grad)
{
	struct outer_pass pass = {conv, in, out_grad, cut_of(conv)};

	if (conv->shape.planar)
		team_run(conv->team, conv->out_panels * conv->shape.in, planar_task, &pass);
	else
		team_run(conv->team, pass.cut.rectangles * conv->outer_parts, outer_task, &pass);
}

void conv_outer_unpack(struct conv *conv, int filter, float *rows, size_t row_step)
{
	const size_t wide = conv->out_panels * 2 * (size_t)conv->kernels->block;
	const size_t count = (size_t)conv->shape.in * conv->taps;

	if (conv->shape.planar) {
		for (size_t i = 0; i < count; i++)
			rows[i] = conv->gradient[i * wide + filter];
		return;
	}
	for (int tap = 0; tap < conv->taps; tap++) {
		const float *from = conv->gradient + gradient_at(conv, tap, filter, 0);
		memcpy(rows + tap * row_step, from, conv->shape.in * sizeof(float));
		for (int part = 1; part < conv->outer_parts; part++)
			conv->kernels->add(rows + tap * row_step, from + part * part_floats(conv),
				conv->shape.in);
	}
}
