/*
 * PNG by libspng, and the only file that knows it. libspng was chosen over libpng because its
 * errors are return values, it prints nothing, and it uses our allocator; both decode at the
 * speed of zlib.
 *
 * Rows below the window are not inflated. Interlaced images are decoded whole.
 */
#include <stdlib.h>
#include <string.h>
#include <spng.h>

#include "base/file.h"
#include "base/mem.h"
#include "images/image_format.h"

enum { SIGNATURE = 8, CHUNK_FRAME = 12 };

struct png {
	struct spng_ctx *decoder; /* one image's, from open to read */
	struct spng_ihdr header;
};

/*
 * libspng does not tell its allocator for whom it works, and takes zlib's lack of
 * memory for broken data: so the thread notes it, from an image's opening on.
 */
static _Thread_local bool out_of_memory;

static void *noted(void *block)
{
	out_of_memory |= !block;
	return block;
}

static void *block_new(size_t size)
{
	return noted(mem_new(size, 1));
}

static void *block_resize(void *block, size_t size)
{
	return noted(block ? mem_resize(block, size, 1) : mem_new(size, 1));
}

static void *blocks_new(size_t count, size_t size)
{
	return noted(mem_new(count, size));
}

static void close(struct png *png)
{
	spng_ctx_free(png->decoder);
	png->decoder = NULL;
}

static int failed(struct png *png, int code, struct err *err)
{
	close(png);
	if (code == SPNG_EMEM || out_of_memory)
		return err_set(err, ERR_MEMORY, "out of memory: decoding a PNG image");
	return err_set(err, ERR_FORMAT, "broken PNG image: %s", spng_strerror(code));
}

static int png_new(void **state, struct err *err)
{
	*state = mem_new(1, sizeof(struct png));
	return *state ? 0 : err_memory(err, "a PNG decoder", sizeof(struct png));
}

static void png_free(void *state)
{
	struct png *png = state;

	if (!png)
		return;
	close(png);
	mem_free(png);
}

/* A chunk is a length, a name, that many bytes and a checksum; the last is IEND. */
static bool has_end(const uint8_t *bytes, size_t size)
{
	size_t at = SIGNATURE;

	while (size >= CHUNK_FRAME && at <= size - CHUNK_FRAME) {
		const uint8_t *p = bytes + at;
		const size_t length =
			(size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];

		if (length > size - CHUNK_FRAME - at)
			return false;
		if (!memcmp(p + 4, "IEND", 4))
			return true;
		at += CHUNK_FRAME + length;
	}
	return false;
}

static int png_open(
	void *state, const uint8_t *bytes, size_t size, int *width, int *height, struct err *err)
{
	struct spng_alloc memory = {block_new, block_resize, blocks_new, mem_free};
	struct png *png = state;
	int code;

	close(png);
	out_of_memory = false;
	if (!has_end(bytes, size))
		return err_set(
			err, ERR_FORMAT, "broken PNG image: it is cut off after %zu bytes", size);
	png->decoder = spng_ctx_new2(&memory, 0);
	if (!png->decoder)
		return failed(png, SPNG_EMEM, err);
	code = spng_set_crc_action(png->decoder, SPNG_CRC_ERROR, SPNG_CRC_DISCARD);
	if (!code)
		code = spng_set_chunk_limits(png->decoder, 1 << 24, 1 << 26);
	if (!code)
		code = spng_set_png_buffer(png->decoder, bytes, size);
	if (!code)
		code = spng_get_ihdr(png->decoder, &png->header);
	if (code)
		return failed(png, code, err);
	*width = (int)png->header.width;
	*height = (int)png->header.height;
	return 0;
}

/* Decodes rows first .. first+count-1 into consecutive memory, after those before them. */
static int read_rows(
	struct png *png, int format, uint8_t *pixels, size_t stride, int first, int count)
{
	int code = spng_decode_image(png->decoder, NULL, 0, format, SPNG_DECODE_PROGRESSIVE);

	for (int i = 0; i < first + count && !code; i++) {
		code = spng_decode_row(png->decoder,
			pixels + (size_t)(i < first ? 0 : i - first) * stride, stride);
		if (code == SPNG_EOI && i == (int)png->header.height - 1)
			code = 0;
	}
	return code;
}

static int png_read(void *state, const struct image_window *window, double least, int components,
	struct image_buffer *buffer, struct image *image, struct err *err)
{
	struct png *png = state;
	const struct spng_ihdr *header = &png->header;
	const bool grey = header->color_type == SPNG_COLOR_TYPE_GRAYSCALE && header->bit_depth <= 8;
	const bool whole = header->interlace_method != SPNG_INTERLACE_NONE;
	const int format = grey ? SPNG_FMT_G8 : SPNG_FMT_RGB8;
	const int top = whole ? 0 : window->y;
	const int rows = whole ? (int)header->height : window->height;
	const size_t count = (size_t)header->width * (size_t)rows, depth = grey ? 1 : 3;
	uint8_t *pixels = image_buffer_reserve(buffer, count * depth, err);
	int code;

	if (!pixels) {
		close(png);
		return ERR_MEMORY;
	}
	code = whole ? spng_decode_image(png->decoder, pixels, count * depth, format, 0)
		     : read_rows(png, format, pixels, header->width * depth, top, rows);
	if (code)
		return failed(png, code, err);
	close(png);
	if (!grey && components == 1)
		image_make_grey(pixels, count);
	*image = (struct image){.pixels = pixels,
		.width = (int)header->width,
		.height = rows,
		.components = grey ? 1 : components,
		.top = top,
		.ratio = 1};
	image->stride = header->width * (size_t)image->components;
	return 0;
}

const struct image_format image_png = {
	.name = "PNG",
	.magic = "\x89PNG\r\n\x1a\n",
	.endings = {".png"},
	.state_new = png_new,
	.state_free = png_free,
	.open = png_open,
	.read = png_read,
};

int image_write_png(const char *path, const uint8_t *pixels, int width, int height, struct err *err)
{
	struct spng_ihdr header = {.width = (uint32_t)width,
		.height = (uint32_t)height,
		.bit_depth = 8,
		.color_type = SPNG_COLOR_TYPE_TRUECOLOR};
	spng_ctx *encoder = spng_ctx_new(SPNG_CTX_ENCODER);
	size_t size = 0;
	void *bytes = NULL;
	int failed = !encoder ? SPNG_EMEM : spng_set_ihdr(encoder, &header), code;

	if (!failed)
		failed = spng_set_option(encoder, SPNG_ENCODE_TO_BUFFER, 1);
	if (!failed)
		failed = spng_encode_image(encoder, pixels, 3 * (size_t)width * (size_t)height,
			SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE);
	if (!failed)
		bytes = spng_get_png_buffer(encoder, &size, &failed);
	code = failed ? err_set(err, ERR_MEMORY, "%s: %s", path, spng_strerror(failed))
		      : file_write(path, bytes, size, err);
	free(bytes);
	spng_ctx_free(encoder);
	return code;
}
