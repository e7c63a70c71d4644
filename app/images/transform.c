/*
 * The kinds of transforms. A kind decides from an image's size what to cut out of it (struct
 * cut); reading and resampling that, or copying it if sizes agree, is common.
 */
#include "images/transform.h"

#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "images/crop.h"
#include "images/image.h"
#include "images/resample.h"

/* What is to become the output, in full-size pixels. */
struct cut {
	struct image_window window; /* nothing outside it is looked at */
	double x, y;                /* where the output begins */
	double scale_x, scale_y;    /* input pixels per output pixel */
	int shift_x, shift_y;       /* output pixels by which a copy is moved */
	bool mirror;
};

struct transform_kind {
	const char *name;
	bool resamples; /* else images must have the size, and are copied */
	/* NULL: as for evaluation. */
	void (*train)(const struct transform_config *config, struct crop_chance chance, int width,
		int height, struct cut *cut);
	void (*eval)(const struct transform_config *config, int width, int height, struct cut *cut);
};

struct transform_scratch {
	struct image_reader *reader;
	struct resample_scratch resample;
};

/* --- kinds --- */

static void crop_train(const struct transform_config *config, struct crop_chance chance, int width,
	int height, struct cut *cut)
{
	const struct image_window w = crop_random(chance, width, height);

	*cut = (struct cut){.window = w,
		.x = w.x,
		.y = w.y,
		.scale_x = (double)w.width / config->size,
		.scale_y = (double)w.height / config->size,
		.mirror = config->flip && crop_flip(chance)};
}

/* The pixels that outputs first .. first+count-1 depend on, the filter's reach included. */
static void cover(double scale, int first, int count, int length, int *start, int *extent)
{
	const double reach = (scale > 1 ? scale : 1) + 1;
	const double low = floor(first * scale - reach),
		     high = ceil((first + count) * scale + reach);

	*start = low > 0 ? (int)low : 0;
	*extent = (high < length ? (int)high : length) - *start;
}

static void crop_eval(const struct transform_config *config, int width, int height, struct cut *cut)
{
	int new_width, new_height, left, top;

	crop_resized(width, height, config->resize, &new_width, &new_height);
	left = crop_centre(new_width, config->size);
	top = crop_centre(new_height, config->size);
	*cut = (struct cut){
		.scale_x = (double)width / new_width, .scale_y = (double)height / new_height};
	cut->x = left * cut->scale_x;
	cut->y = top * cut->scale_y;
	cover(cut->scale_x, left, config->size, width, &cut->window.x, &cut->window.width);
	cover(cut->scale_y, top, config->size, height, &cut->window.y, &cut->window.height);
}

static void plain_eval(
	const struct transform_config *config, int width, int height, struct cut *cut)
{
	*cut = (struct cut){.window = {0, 0, width, height}, .scale_x = 1, .scale_y = 1};
}

static void pad_train(const struct transform_config *config, struct crop_chance chance, int width,
	int height, struct cut *cut)
{
	plain_eval(config, width, height, cut);
	crop_shift(chance, 2 * config->pad, &cut->shift_x, &cut->shift_y);
	cut->shift_x -= config->pad;
	cut->shift_y -= config->pad;
	cut->mirror = config->flip && crop_flip(chance);
}

static const struct transform_kind kinds[] = {
	{"crop", true, crop_train, crop_eval},
	{"pad", false, pad_train, plain_eval},
	{"plain", false, NULL, plain_eval},
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

bool transform_augments(const struct transform *transform)
{
	return transform->kind->train != NULL;
}

/* --- setting up --- */

static int check_config(const struct transform_config *config, struct err *err)
{
	if (config->size < 1 || config->size > TRANSFORM_SIZE_MAX)
		return err_set(err, ERR_INPUT, "images of %d pixels a side: 1 to %d are possible",
			config->size, TRANSFORM_SIZE_MAX);
	if (config->channels != 1 && config->channels != 3)
		return err_set(err, ERR_INPUT, "%d channels: images have 1 or 3", config->channels);
	for (int c = 0; c < config->channels; c++)
		if (!isfinite(config->mean[c]) || !isfinite(config->std[c]) || config->std[c] <= 0)
			return err_set(err, ERR_INPUT,
				"mean %g and standard deviation %g of channel %d: the latter must "
				"be positive",
				(double)config->mean[c], (double)config->std[c], c);
	return 0;
}

static int check_kind(const struct transform *transform, struct err *err)
{
	const struct transform_config *config = &transform->config;

	if (!transform->kind)
		return err_set(err, ERR_INPUT,
			"%s: no such transform; there are crop, pad and plain", config->kind);
	if (transform->kind->resamples &&
		(config->resize < config->size || config->resize > TRANSFORM_SIZE_MAX))
		return err_set(err, ERR_INPUT,
			"a shorter side of %d pixels for a centre of %d: %d to %d are possible",
			config->resize, config->size, config->size, TRANSFORM_SIZE_MAX);
	if (config->pad < 0 || config->pad > config->size)
		return err_set(err, ERR_INPUT, "a border of %d pixels: 0 to %d are possible",
			config->pad, config->size);
	return 0;
}

int transform_init(
	struct transform *transform, const struct transform_config *config, struct err *err)
{
	int code = check_config(config, err);

	if (code)
		return code;
	*transform = (struct transform){.config = *config, .kernels = pixel_kernels_at(0)};
	for (int i = 0; i < KINDS; i++)
		if (!strcmp(kinds[i].name, config->kind))
			transform->kind = &kinds[i];
	for (int c = 0; c < config->channels; c++) {
		transform->scale[c] = 1 / (255 * config->std[c]);
		transform->shift[c] = -config->mean[c] / config->std[c];
	}
	code = check_kind(transform, err);
	if (!code)
		transform->config.kind = transform->kind->name;
	return code;
}

int transform_scratch_new(struct transform_scratch **scratch, struct err *err)
{
	struct transform_scratch *s = *scratch = mem_new(1, sizeof(*s));
	int code;

	if (!s)
		return err_memory(err, "scratch for images", sizeof(*s));
	code = image_reader_new(&s->reader, err);
	if (code) {
		mem_free(s);
		*scratch = NULL;
	}
	return code;
}

void transform_scratch_free(struct transform_scratch *scratch)
{
	if (!scratch)
		return;
	image_reader_free(scratch->reader);
	resample_release(&scratch->resample);
	mem_free(scratch);
}

/* --- working --- */

/* Pixels that came as they are. */
static int take_pixels(const struct transform *transform, const struct transform_input *input,
	struct image *image, struct err *err)
{
	const int64_t pixels = (int64_t)input->width * input->height;

	if (input->height < 1 || input->width < 0 || pixels > IMAGE_PIXELS_MAX ||
		(input->components != 1 && input->components != transform->config.channels))
		return err_set(err, ERR_INPUT,
			"%d x %d pixels of %d components do not fit %d channels", input->width,
			input->height, input->components, transform->config.channels);
	if (input->size < (uint64_t)pixels * (unsigned)input->components)
		return err_set(err, ERR_INPUT,
			"%zu bytes are less than %d x %d pixels of %d components", input->size,
			input->width, input->height, input->components);
	*image = (struct image){.pixels = input->bytes,
		.width = input->width,
		.height = input->height,
		.components = input->components,
		.planar = input->planar,
		.stride = (size_t)input->width * (size_t)(input->planar ? 1 : input->components),
		.ratio = 1};
	return 0;
}

static int open_input(const struct transform *transform, struct transform_scratch *scratch,
	const struct transform_input *input, struct image *image, struct err *err)
{
	const int size = transform->config.size;
	int code;

	if (input->width)
		code = take_pixels(transform, input, image, err);
	else
		code = image_open(scratch->reader, input->bytes, input->size, &image->width,
			&image->height, err);
	if (!code && !transform->kind->resamples && (image->width != size || image->height != size))
		code = err_set(err, ERR_FORMAT,
			"image of %d x %d pixels where %d x %d are expected", image->width,
			image->height, size, size);
	return code;
}

static struct resample_axis axis_of(double start, double scale, int low, int extent, double origin,
	double ratio, int length, int count)
{
	const double end = ceil((low + extent - origin) * ratio);

	return (struct resample_axis){.start = (start - origin) * ratio,
		.scale = scale * ratio,
		.low = (int)((low - origin) * ratio),
		.high = end < length ? (int)end : length,
		.count = count};
}

static int resample_cut(const struct transform *transform, struct transform_scratch *scratch,
	const struct image *image, const struct cut *cut, float *out, struct err *err)
{
	const struct image_window *w = &cut->window;
	const int size = transform->config.size;
	struct resample_job job = {.channels = transform->config.channels,
		.scale = transform->scale,
		.shift = transform->shift,
		.kernels = transform->kernels};

	job.x = axis_of(cut->x, cut->scale_x, w->x, w->width, image->left, image->ratio,
		image->width, size);
	job.y = axis_of(cut->y, cut->scale_y, w->y, w->height, image->top, image->ratio,
		image->height, size);
	job.x.mirror = cut->mirror;
	return resample(image, &job, &scratch->resample, out, err);
}

static void copy_row(const uint8_t *from, size_t step, int size, const struct cut *cut, float scale,
	float shift, float *out)
{
	for (int x = 0; x < size; x++) {
		const int at = (cut->mirror ? size - 1 - x : x) + cut->shift_x;

		out[x] =
			(at < 0 || at >= size ? 0 : (float)from[(size_t)at * step]) * scale + shift;
	}
}

/* Outside the image are zeros. */
static void copy_cut(const struct transform *transform, const struct image *image,
	const struct cut *cut, float *out)
{
	const int size = transform->config.size;
	const size_t step = image->planar ? 1 : (size_t)image->components;
	const size_t plane = image->planar ? (size_t)image->height * image->stride : 1;

	for (int c = 0; c < transform->config.channels; c++)
		for (int y = 0; y < size; y++, out += size) {
			const int at = y + cut->shift_y;
			const uint8_t *row =
				image->pixels + (image->components == 1 ? 0 : (size_t)c * plane);

			if (at >= 0 && at < size)
				copy_row(row + (size_t)at * image->stride, step, size, cut,
					transform->scale[c], transform->shift[c], out);
			else
				for (int x = 0; x < size; x++)
					out[x] = transform->shift[c];
		}
}

int transform_apply(const struct transform *transform, struct transform_scratch *scratch,
	const struct transform_input *input, const struct transform_place *place, float *out,
	struct err *err)
{
	/* Shrunk by the decoder, an image keeps so many pixels for each of the output's; one
	 * would do. */
	const double spare = 1.25;
	const struct transform_config *config = &transform->config;
	struct image image;
	struct cut cut;
	double scale;
	int code = open_input(transform, scratch, input, &image, err);

	if (code)
		return code;
	if (place && transform->kind->train)
		transform->kind->train(config,
			crop_chance_at(config->seed, place->iteration, place->position),
			image.width, image.height, &cut);
	else
		transform->kind->eval(config, image.width, image.height, &cut);
	scale = cut.scale_x < cut.scale_y ? cut.scale_x : cut.scale_y;
	if (!input->width)
		code = image_read(scratch->reader, &cut.window, scale > spare ? spare / scale : 1,
			config->channels, &image, err);
	if (code)
		return code;
	if (transform->kind->resamples)
		return resample_cut(transform, scratch, &image, &cut, out, err);
	copy_cut(transform, &image, &cut, out);
	return 0;
}
