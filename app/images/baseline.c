/*
 * Goes through the blocks of a scan from the top to the window's last row. Blocks
 * beside and above the window are read, since a code's place is known only from
 * those before it, but not transformed. Then chroma is brought to full size
 * where it is not, and colours are converted, window by row.
 */
#include "images/baseline.h"

#include <string.h>
#include "base/mem.h"
#include "images/entropy.h"

/* Narrower images than this have no neighbours to interpolate between. */
enum { LEAST_SIDE = 16, BLOCK = 8 };

struct plane {
	uint8_t *pixels;
	size_t stride;
	int h, v;          /* blocks per unit */
	int left, top;     /* of the first sample, in samples */
	int width, height; /* of the whole component, in samples */
	bool wanted;
	const struct entropy_table *dc_table, *ac_table;
	const uint16_t *steps;
	int dc;
};

/* What is decoded together: the blocks of all components for the same pixels. */
struct units {
	int width, height;            /* of one, in pixels */
	int columns;                  /* in a row of the image */
	int left, right, top, bottom; /* those that are transformed, the latter exclusive */
};

struct baseline {
	const struct pixel_kernels *kernels;
	struct entropy_table dc[3], ac[3];
	struct image_buffer data, samples;
	struct plane planes[3];
	struct units units;
	int16_t block[64 + 32] __attribute__((aligned(64))); /* and room for what is outside */
};

int baseline_new(struct baseline **baseline, const struct pixel_kernels *kernels, struct err *err)
{
	*baseline = mem_new(1, sizeof(**baseline));
	if (!*baseline)
		return err_memory(err, "a JPEG decoder", sizeof(**baseline));
	(*baseline)->kernels = kernels;
	return 0;
}

void baseline_free(struct baseline *baseline)
{
	if (!baseline)
		return;
	mem_free(baseline->data.bytes);
	mem_free(baseline->samples.bytes);
	mem_free(baseline);
}

static bool is_mine(const struct baseline_header *header)
{
	const struct baseline_component *c = header->components;

	if (header->width < LEAST_SIDE || header->height < LEAST_SIDE)
		return false;
	if (header->count == 1)
		return true;
	return header->count == 3 && c[0].h <= 2 && c[0].v <= c[0].h && c[1].h == 1 &&
	       c[1].v == 1 && c[2].h == 1 && c[2].v == 1;
}

static int at_most(int a, int b)
{
	return a < b ? a : b;
}

static int ceiling(int a, int b)
{
	return (a + b - 1) / b;
}

/* Units that the window's pixels and their neighbours are in. */
static struct units find_units(const struct baseline_header *header, const struct image_window *w)
{
	const int h = header->count == 1 ? 1 : header->components[0].h;
	const int v = header->count == 1 ? 1 : header->components[0].v;
	struct units u = {.width = BLOCK * h, .height = BLOCK * v};
	const int near_x = h > 1 ? 2 : 0, near_y = v > 1 ? 2 : 0;

	u.columns = ceiling(header->width, u.width);
	u.left = (w->x > near_x ? w->x - near_x : 0) / u.width;
	u.top = (w->y > near_y ? w->y - near_y : 0) / u.height;
	u.right = ceiling(at_most(header->width, w->x + w->width + near_x), u.width);
	u.bottom = ceiling(at_most(header->height, w->y + w->height + near_y), u.height);
	return u;
}

/* Where each component's samples go; false if there is no memory. */
static bool lay_out(
	struct baseline *b, const struct baseline_header *header, int components, struct err *err)
{
	const struct units *u = &b->units;
	size_t total = 0;

	for (int i = 0; i < header->count; i++) {
		struct plane *p = &b->planes[i];
		const int h = header->count == 1 ? 1 : header->components[i].h;
		const int v = header->count == 1 ? 1 : header->components[i].v;
		const int every_x = u->width / (BLOCK * h), every_y = u->height / (BLOCK * v);

		*p = (struct plane){.h = h,
			.v = v,
			.left = u->left * BLOCK * h,
			.top = u->top * BLOCK * v,
			.width = ceiling(header->width, every_x),
			.height = ceiling(header->height, every_y),
			.wanted = i == 0 || components == 3,
			.dc_table = &b->dc[i],
			.ac_table = &b->ac[i],
			.steps = header->components[i].steps};
		p->stride = (size_t)(u->right - u->left) * BLOCK * (size_t)h;
		total += p->stride * (size_t)((u->bottom - u->top) * BLOCK * v);
	}
	if (!image_buffer_reserve(&b->samples, total, err))
		return false;
	total = 0;
	for (int i = 0; i < header->count; i++) {
		struct plane *p = &b->planes[i];

		p->pixels = b->samples.bytes + total;
		total += p->stride * (size_t)((u->bottom - u->top) * BLOCK * p->v);
	}
	return true;
}

/* By vectors: a call, or an instruction for any number of bytes, takes longer. */
static void clear(int16_t block[64])
{
	typedef int16_t row __attribute__((vector_size(16), may_alias));

	for (int i = 0; i < BLOCK; i++)
		((row *)block)[i] = (row){0};
}

/* One block that is in the window. */
static bool keep_block(struct baseline *b, struct entropy *entropy, struct plane *p, uint8_t *out)
{
	int16_t *block = b->block;
	enum entropy_kind kind;

	clear(block);
	kind = entropy_block(entropy, p->dc_table, p->ac_table, &p->dc, block);
	if (kind == ENTROPY_FLAT) {
		const int level = ((int16_t)(block[0] * p->steps[0]) + 4) >> 3;
		const int value = level < -128 ? 0 : level > 127 ? 255 : level + 128;

		for (int i = 0; i < BLOCK; i++)
			memset(out + (size_t)i * p->stride, value, BLOCK);
	} else if (kind == ENTROPY_FULL) {
		b->kernels->transform(block, p->steps, out, p->stride);
	}
	return kind != ENTROPY_BROKEN;
}

static bool skip_block(struct entropy *entropy, struct plane *p)
{
	return entropy_block(entropy, p->dc_table, p->ac_table, &p->dc, NULL) != ENTROPY_BROKEN;
}

static bool skip_unit(struct baseline *b, struct entropy *entropy, int count)
{
	for (int i = 0; i < count; i++) {
		struct plane *p = &b->planes[i];

		for (int k = 0; k < p->h * p->v; k++)
			if (!skip_block(entropy, p))
				return false;
	}
	return true;
}

/* The blocks of one component, row by row. */
static bool keep_plane(
	struct baseline *b, struct entropy *entropy, struct plane *p, int column, int row)
{
	for (int v = 0; v < p->v; v++)
		for (int h = 0; h < p->h; h++) {
			const size_t x = (size_t)((column * p->h + h) * BLOCK);
			const size_t y = (size_t)((row * p->v + v) * BLOCK);

			if (p->wanted ? !keep_block(b, entropy, p, p->pixels + y * p->stride + x)
				      : !skip_block(entropy, p))
				return false;
		}
	return true;
}

static bool keep_unit(struct baseline *b, struct entropy *entropy, int count, int column, int row)
{
	for (int i = 0; i < count; i++)
		if (!keep_plane(b, entropy, &b->planes[i], column, row))
			return false;
	return true;
}

static bool read_scan(struct baseline *b, struct entropy *entropy, int count)
{
	const struct units *u = &b->units;

	for (int row = 0; row < u->bottom; row++)
		for (int column = 0; column < u->columns; column++) {
			const bool inside = row >= u->top && column >= u->left && column < u->right;

			/* Nothing is needed any more. */
			if (row == u->bottom - 1 && column == u->right)
				return true;
			if (inside ? !keep_unit(b, entropy, count, column - u->left, row - u->top)
				   : !skip_unit(b, entropy, count))
				return false;
		}
	return true;
}

static const uint8_t *row_of(const struct plane *p, int y)
{
	const int inside = y < 0 ? 0 : y >= p->height ? p->height - 1 : y;

	return p->pixels + (size_t)(inside - p->top) * p->stride;
}

/* A row of chroma at full width; `room` is where it goes if it is not there already. */
static const uint8_t *full_row(
	const struct baseline *b, const struct plane *p, int y, uint8_t *room)
{
	const struct units *u = &b->units;
	const int count = at_most((int)p->stride, p->width - p->left);
	const bool half_height = u->height > BLOCK * p->v;

	if (u->width == BLOCK * p->h)
		return row_of(p, y);
	if (half_height)
		b->kernels->widen(
			row_of(p, y / 2), row_of(p, y / 2 + (y % 2 ? 1 : -1)), count, room);
	else
		b->kernels->widen(row_of(p, y), NULL, count, room);
	return room;
}

static void convert(
	const struct baseline *b, const struct image_window *w, uint8_t *out, uint8_t *room)
{
	const size_t plane = (size_t)w->width * (size_t)w->height;
	const size_t full = (size_t)(b->units.right - b->units.left) * (size_t)b->units.width;
	const int shift = w->x - b->units.left * b->units.width;

	for (int y = w->y; y < w->y + w->height; y++, out += w->width)
		b->kernels->colour(row_of(&b->planes[0], y) + shift,
			full_row(b, &b->planes[1], y, room) + shift,
			full_row(b, &b->planes[2], y, room + full) + shift, w->width, out,
			out + plane, out + 2 * plane);
}

/* Pixels out of samples. */
static int finish(struct baseline *b, const struct image_window *w, bool grey,
	struct image_buffer *buffer, struct image *image, struct err *err)
{
	const struct plane *luma = &b->planes[0];
	const size_t pixels = (size_t)w->width * (size_t)w->height;
	const size_t room = 2 * (size_t)(b->units.right - b->units.left) * (size_t)b->units.width;

	*image = (struct image){.width = w->width,
		.height = w->height,
		.components = grey ? 1 : 3,
		.planar = true,
		.left = w->x,
		.top = w->y,
		.ratio = 1};
	if (grey) {
		image->stride = luma->stride;
		image->pixels = row_of(luma, w->y) + (w->x - luma->left);
		return 0;
	}
	if (!image_buffer_reserve(buffer, 3 * pixels + room, err))
		return ERR_MEMORY;
	convert(b, w, buffer->bytes, buffer->bytes + 3 * pixels);
	image->stride = (size_t)w->width;
	image->pixels = buffer->bytes;
	return 0;
}

int baseline_read(struct baseline *baseline, const struct baseline_header *header,
	const struct image_window *window, int components, struct image_buffer *buffer,
	struct image *image, struct err *err)
{
	struct entropy entropy;
	uint8_t *data;

	if (!is_mine(header))
		return 1;
	for (int i = 0; i < header->count; i++) {
		const struct baseline_component *c = &header->components[i];

		if (!entropy_table_init(&baseline->dc[i], c->dc.counts, c->dc.symbols, true) ||
			!entropy_table_init(&baseline->ac[i], c->ac.counts, c->ac.symbols, false))
			return 1;
	}
	baseline->units = find_units(header, window);
	data = image_buffer_reserve(&baseline->data, header->size + ENTROPY_PADDING, err);
	if (!data || !lay_out(baseline, header, components, err))
		return ERR_MEMORY;
	entropy_init(&entropy, data, entropy_unescape(header->data, header->size, data));
	if (!read_scan(baseline, &entropy, header->count))
		return 1;
	return finish(baseline, window, header->count == 1 || components == 1, buffer, image, err);
}
