/*
 * GIF by giflib, and the only file that knows it: the first frame, as Pillow shows it. Pixels
 * outside the frame have the transparent colour, or colour 0; transparent pixels have their
 * palette colour.
 */
#include <string.h>
#include <gif_lib.h>

#include "base/mem.h"
#include "images/image_format.h"

struct gif {
	GifFileType *file; /* one image's, from open to read */
	const uint8_t *bytes;
	size_t size, at;
	int width, height;
	int blank; /* the colour of what the frame does not cover */
};

static void close(struct gif *gif)
{
	if (gif->file)
		DGifCloseFile(gif->file, NULL);
	gif->file = NULL;
}

static int gif_new(void **state, struct err *err)
{
	*state = mem_new(1, sizeof(struct gif));
	return *state ? 0 : err_memory(err, "a GIF decoder", sizeof(struct gif));
}

static void gif_free(void *state)
{
	if (!state)
		return;
	close(state);
	mem_free(state);
}

static int failed(struct gif *gif, int why, struct err *err)
{
	const char *words = GifErrorString(why);

	close(gif);
	if (why == D_GIF_ERR_NOT_ENOUGH_MEM)
		return err_set(err, ERR_MEMORY, "out of memory: decoding a GIF image");
	return err_set(err, ERR_FORMAT, "broken GIF image: %s", words ? words : "invalid data");
}

static int give_bytes(GifFileType *file, GifByteType *bytes, int count)
{
	struct gif *gif = file->UserData;
	const size_t left = gif->size - gif->at;
	const size_t taken = (size_t)count < left ? (size_t)count : left;

	memcpy(bytes, gif->bytes + gif->at, taken);
	gif->at += taken;
	return (int)taken;
}

/* Of the extensions only a graphics control block counts: it names the transparent colour. */
static int read_extension(struct gif *gif)
{
	GraphicsControlBlock block;
	GifByteType *bytes;
	int kind, ok = DGifGetExtension(gif->file, &kind, &bytes);

	while (ok == GIF_OK && bytes) {
		if (kind == GRAPHICS_EXT_FUNC_CODE &&
			DGifExtensionToGCB(bytes[0], bytes + 1, &block) == GIF_OK &&
			block.TransparentColor != NO_TRANSPARENT_COLOR)
			gif->blank = block.TransparentColor;
		ok = DGifGetExtensionNext(gif->file, &bytes);
	}
	return ok;
}

/* Goes to the data of the first frame. */
static int find_frame(struct gif *gif)
{
	GifRecordType type = UNDEFINED_RECORD_TYPE;
	int ok = GIF_OK;

	while (ok == GIF_OK && type != IMAGE_DESC_RECORD_TYPE) {
		ok = DGifGetRecordType(gif->file, &type);
		if (ok == GIF_OK && type == EXTENSION_RECORD_TYPE)
			ok = read_extension(gif);
		else if (ok == GIF_OK && type == IMAGE_DESC_RECORD_TYPE)
			ok = DGifGetImageDesc(gif->file);
		else if (ok == GIF_OK) {
			gif->file->Error = D_GIF_ERR_NO_IMAG_DSCR;
			ok = GIF_ERROR;
		}
	}
	return ok;
}

/* The bytes of a palette that these flags announce. */
static size_t palette_size(uint8_t flags)
{
	return flags & 0x80 ? (size_t)3 << ((flags & 7) + 1) : 0;
}

/* Goes from block to block, up to the trailer; pieces of data end with an empty one. */
static bool has_end(const uint8_t *bytes, size_t size)
{
	enum { HEADER = 13, FRAME = 10, EXTENSION = 2 };
	size_t at = size < HEADER ? size : HEADER + palette_size(bytes[10]);

	while (at < size && bytes[at] != ';') {
		const bool frame = bytes[at] == ',';

		if (frame ? size - at < FRAME : bytes[at] != '!')
			return false;
		at += frame ? FRAME + palette_size(bytes[at + 9]) + 1 : EXTENSION;
		while (at < size && bytes[at])
			at += 1 + (size_t)bytes[at];
		at++;
	}
	return at < size;
}

static int larger(int a, int b)
{
	return a > b ? a : b;
}

static int gif_open(
	void *state, const uint8_t *bytes, size_t size, int *width, int *height, struct err *err)
{
	struct gif *gif = state;
	const GifImageDesc *frame;
	int why = 0;

	close(gif);
	*gif = (struct gif){.bytes = bytes, .size = size};
	if (!has_end(bytes, size))
		return err_set(err, ERR_FORMAT,
			"broken GIF image: it is cut off after %zu bytes, or not well formed",
			size);
	gif->file = DGifOpen(gif, give_bytes, &why);
	if (!gif->file)
		return failed(gif, why, err);
	if (find_frame(gif) != GIF_OK)
		return failed(gif, gif->file->Error, err);
	frame = &gif->file->Image;
	*width = gif->width = larger(gif->file->SWidth, frame->Left + frame->Width);
	*height = gif->height = larger(gif->file->SHeight, frame->Top + frame->Height);
	return 0;
}

/* Where the row that comes as number i belongs: interlaced ones come in four passes. */
static int row_of(const GifImageDesc *frame, int i)
{
	static const struct {
		int from, step;
	} passes[] = {{0, 8}, {4, 8}, {2, 4}, {1, 2}};

	for (int p = 0; frame->Interlace && p < 4; p++) {
		const int rows =
			(frame->Height - passes[p].from + passes[p].step - 1) / passes[p].step;

		if (i < rows)
			return passes[p].from + i * passes[p].step;
		i -= rows > 0 ? rows : 0;
	}
	return i;
}

/* Indexes may be the last third of what their colours go to. False: one has no colour. */
static bool look_up(const ColorMapObject *map, const uint8_t *indexes, uint8_t *out, int count)
{
	for (int i = 0; i < count; i++) {
		const int index = indexes[i];

		if (index >= map->ColorCount)
			return false;
		out[3 * i] = map->Colors[index].Red;
		out[3 * i + 1] = map->Colors[index].Green;
		out[3 * i + 2] = map->Colors[index].Blue;
	}
	return true;
}

static int read_rows(struct gif *gif, uint8_t *pixels, struct err *err)
{
	const GifImageDesc *frame = &gif->file->Image;
	const ColorMapObject *map = frame->ColorMap ? frame->ColorMap : gif->file->SColorMap;
	const size_t stride = 3 * (size_t)gif->width;
	const uint8_t blank = (uint8_t)gif->blank;
	bool known = map && frame->Width > 0;

	for (size_t i = 0; known && gif->blank < map->ColorCount &&
			   (frame->Width < gif->width || frame->Height < gif->height) &&
			   i < (size_t)gif->width * (size_t)gif->height;
		i++)
		look_up(map, &blank, pixels + 3 * i, 1);
	for (int i = 0; known && i < frame->Height; i++) {
		uint8_t *row = pixels + (size_t)(frame->Top + row_of(frame, i)) * stride +
			       3 * (size_t)frame->Left;
		uint8_t *indexes = row + 2 * (size_t)frame->Width;

		if (DGifGetLine(gif->file, indexes, frame->Width) != GIF_OK)
			return failed(gif, gif->file->Error, err);
		known = look_up(map, indexes, row, frame->Width);
	}
	close(gif);
	return known ? 0 : err_set(err, ERR_FORMAT, "broken GIF image: its palette lacks colours");
}

static int gif_read(void *state, const struct image_window *window, double least, int components,
	struct image_buffer *buffer, struct image *image, struct err *err)
{
	struct gif *gif = state;
	uint8_t *pixels = image_canvas(buffer, gif->width, gif->height, err);
	int code = pixels ? read_rows(gif, pixels, err) : ERR_MEMORY;

	close(gif);
	if (!code)
		image_from_canvas(image, pixels, gif->width, gif->height, components);
	return code;
}

const struct image_format image_gif = {
	.name = "GIF",
	.magic = "GIF8?a",
	.endings = {".gif"},
	.state_new = gif_new,
	.state_free = gif_free,
	.open = gif_open,
	.read = gif_read,
};
