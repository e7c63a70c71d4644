/*
 * BMP: Windows bitmaps of 1, 4, 8, 16, 24 and 32 bits a pixel, and OS/2's. Rows are plain, so
 * there is nothing to decode; compressed ones (RLE, and JPEG or PNG in a bitmap's frame) are
 * rejected by name.
 */
#include <limits.h>
#include <string.h>

#include "base/mem.h"
#include "images/image_format.h"

enum { FILE_HEADER = 14, OS2_HEADER = 12, WINDOWS_HEADER = 40, MASKED_HEADER = 52 };

enum { RGB = 0, RLE8, RLE4, BITFIELDS, JPEG, PNG, ALPHA_BITFIELDS };

/* Of 16 and 32 bits: where a colour's bits are. */
struct channel {
	uint32_t mask, most;
	int shift;
};

struct bmp {
	const uint8_t *bytes;
	size_t size, start, stride; /* start: of the rows */
	int width, height, bits, colours, entry;
	bool upright; /* the first row is the top one */
	const uint8_t *palette;
	struct channel channels[3];
};

static uint32_t number(const uint8_t *p, int size)
{
	uint32_t value = 0;

	for (int i = 0; i < size; i++)
		value |= (uint32_t)p[i] << 8 * i;
	return value;
}

static int bmp_new(void **state, struct err *err)
{
	*state = mem_new(1, sizeof(struct bmp));
	return *state ? 0 : err_memory(err, "a BMP reader", sizeof(struct bmp));
}

static int broken(struct err *err, const char *why)
{
	return err_set(err, ERR_FORMAT, "broken BMP image: %s", why);
}

static int take_size(struct bmp *bmp, uint32_t header, struct err *err)
{
	const bool short_ = header == OS2_HEADER;
	const uint8_t *p = bmp->bytes + FILE_HEADER + 4;
	const int32_t height = short_ ? (int32_t)number(p + 2, 2) : (int32_t)number(p + 4, 4);

	bmp->width = short_ ? (int)number(p, 2) : (int)(int32_t)number(p, 4);
	if (bmp->width < 1 || !height || height == INT32_MIN)
		return broken(err, "it has no size");
	bmp->upright = height < 0;
	bmp->height = height < 0 ? -height : height;
	bmp->bits = (int)number(p + (short_ ? 6 : 10), 2);
	return 0;
}

static int take_masks(struct bmp *bmp, uint32_t kind, struct err *err)
{
	static const uint32_t usual[2][3] = {{0x7c00, 0x3e0, 0x1f}, {0xff0000, 0xff00, 0xff}};
	const uint8_t *p = bmp->bytes + FILE_HEADER + WINDOWS_HEADER;

	if (kind != RGB && bmp->size < FILE_HEADER + MASKED_HEADER)
		return broken(err, "its masks of colours are cut off");
	for (int c = 0; c < 3; c++) {
		struct channel *channel = &bmp->channels[c];

		channel->mask = kind == RGB ? usual[bmp->bits == 32][c] : number(p + 4 * c, 4);
		channel->shift = channel->mask ? __builtin_ctz(channel->mask) : 0;
		channel->most = channel->mask >> channel->shift;
		if (!channel->mask || channel->most & (channel->most + 1))
			return broken(err, "its masks of colours make no sense");
	}
	return 0;
}

static int take_palette(struct bmp *bmp, uint32_t header, struct err *err)
{
	const uint32_t given = header == OS2_HEADER ? 0 : number(bmp->bytes + FILE_HEADER + 32, 4);
	const size_t from = FILE_HEADER + (size_t)header;

	bmp->entry = header == OS2_HEADER ? 3 : 4;
	bmp->colours = given && given < 1u << bmp->bits ? (int)given : 1 << bmp->bits;
	bmp->palette = bmp->bytes + from;
	if (bmp->size < from || bmp->size - from < (size_t)(bmp->colours * bmp->entry))
		return broken(err, "its palette is cut off");
	return 0;
}

static int take_colours(struct bmp *bmp, uint32_t header, struct err *err)
{
	static const char *const packed[] = {[RLE8] = "RLE",
		[RLE4] = "RLE",
		[JPEG] = "JPEG",
		[PNG] = "PNG",
		[ALPHA_BITFIELDS] = NULL};
	const uint32_t kind = header == OS2_HEADER ? RGB : number(bmp->bytes + FILE_HEADER + 16, 4);
	const bool masked = kind == BITFIELDS || kind == ALPHA_BITFIELDS;

	if (kind > ALPHA_BITFIELDS)
		return broken(err, "its kind of compression is unknown");
	if (packed[kind])
		return err_set(err, ERR_FORMAT,
			"BMP image with %s compression, which is not supported: save it as PNG",
			packed[kind]);
	if (bmp->bits == 16 || bmp->bits == 32)
		return take_masks(bmp, kind, err);
	if (masked)
		return broken(err, "only 16 and 32 bits a pixel have masks of colours");
	if (bmp->bits == 24)
		return 0;
	return bmp->bits == 1 || bmp->bits == 4 || bmp->bits == 8
		       ? take_palette(bmp, header, err)
		       : broken(err, "its bits a pixel are not 1, 4, 8, 16, 24 or 32");
}

static int bmp_open(
	void *state, const uint8_t *bytes, size_t size, int *width, int *height, struct err *err)
{
	struct bmp *bmp = state;
	uint32_t header;
	int code;

	*bmp = (struct bmp){.bytes = bytes, .size = size};
	if (size < FILE_HEADER + OS2_HEADER)
		return broken(err, "its header is cut off");
	header = number(bytes + FILE_HEADER, 4);
	if (header != OS2_HEADER && header < WINDOWS_HEADER)
		return broken(err, "its header makes no sense");
	if (header > size - FILE_HEADER)
		return broken(err, "its header is cut off");
	code = take_size(bmp, header, err);
	if (!code)
		code = take_colours(bmp, header, err);
	if (code)
		return code;
	bmp->start = number(bytes + 10, 4);
	bmp->stride = ((size_t)bmp->width * (size_t)bmp->bits + 31) / 32 * 4;
	if (bmp->start > size || (size - bmp->start) / bmp->stride < (size_t)bmp->height)
		return err_set(
			err, ERR_FORMAT, "broken BMP image: it is cut off after %zu bytes", size);
	*width = bmp->width;
	*height = bmp->height;
	return 0;
}

/* 1, 4 or 8 bits a pixel, the first in the highest; false: one has no colour. */
static bool row_of_indexes(const struct bmp *bmp, const uint8_t *from, uint8_t *to)
{
	for (int x = 0; x < bmp->width; x++) {
		const int bit = x * bmp->bits;
		const int index =
			from[bit / 8] >> (8 - bmp->bits - bit % 8) & ((1 << bmp->bits) - 1);
		const uint8_t *colour = bmp->palette + index * bmp->entry;

		if (index >= bmp->colours)
			return false;
		for (int c = 0; c < 3; c++)
			to[3 * x + c] = colour[2 - c];
	}
	return true;
}

static void row_of_masks(const struct bmp *bmp, const uint8_t *from, uint8_t *to)
{
	const int size = bmp->bits / 8;

	for (int x = 0; x < bmp->width; x++)
		for (int c = 0; c < 3; c++) {
			const struct channel *channel = &bmp->channels[c];
			const uint32_t pixel = number(from + (size_t)x * (size_t)size, size);

			to[3 * x + c] =
				(uint8_t)((uint64_t)((pixel & channel->mask) >> channel->shift) *
					  255 / channel->most);
		}
}

static void row_of_bytes(const struct bmp *bmp, const uint8_t *from, uint8_t *to)
{
	for (int x = 0; x < bmp->width; x++)
		for (int c = 0; c < 3; c++)
			to[3 * x + c] = from[3 * x + 2 - c];
}

static int bmp_read(void *state, const struct image_window *window, double least, int components,
	struct image_buffer *buffer, struct image *image, struct err *err)
{
	const struct bmp *bmp = state;
	uint8_t *pixels = image_canvas(buffer, bmp->width, bmp->height, err);

	if (!pixels)
		return ERR_MEMORY;
	for (int y = 0; y < bmp->height; y++) {
		const int row = bmp->upright ? y : bmp->height - 1 - y;
		const uint8_t *from = bmp->bytes + bmp->start + (size_t)row * bmp->stride;
		uint8_t *to = pixels + 3 * (size_t)y * (size_t)bmp->width;

		if (bmp->bits == 24)
			row_of_bytes(bmp, from, to);
		else if (bmp->bits > 8)
			row_of_masks(bmp, from, to);
		else if (!row_of_indexes(bmp, from, to))
			return broken(err, "its palette lacks colours");
	}
	image_from_canvas(image, pixels, bmp->width, bmp->height, components);
	return 0;
}

const struct image_format image_bmp = {
	.name = "BMP",
	.magic = "BM",
	.endings = {".bmp", ".dib"},
	.state_new = bmp_new,
	.state_free = mem_free,
	.open = bmp_open,
	.read = bmp_read,
};
