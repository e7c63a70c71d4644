/*
 * Detects an image's format by its first bytes and dispatches to it. Common to all formats: the
 * limit on sizes, and the pixel buffer.
 */
#include "images/image.h"

#include <string.h>
#include "base/mem.h"
#include "base/paths.h"
#include "images/image_format.h"

static const struct image_format *const formats[] = {
	&image_jpeg, &image_png, &image_webp, &image_gif, &image_bmp};

enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

struct image_reader {
	void *states[FORMATS]; /* made when first needed */
	struct image_buffer buffer;
	int format; /* of the image that is open; -1: none is */
	int width, height;
};

uint8_t *image_buffer_reserve(struct image_buffer *buffer, size_t size, struct err *err)
{
	size_t room = 1 << 16;

	if (size <= buffer->size)
		return buffer->bytes;
	while (room < size)
		room *= 2;
	mem_free(buffer->bytes);
	buffer->size = 0;
	buffer->bytes = mem_new(room, 1);
	if (buffer->bytes)
		buffer->size = room;
	else
		err_memory(err, "an image", room);
	return buffer->bytes;
}

uint8_t *image_canvas(struct image_buffer *buffer, int width, int height, struct err *err)
{
	const size_t size = 3 * (size_t)width * (size_t)height;
	uint8_t *pixels = image_buffer_reserve(buffer, size, err);

	if (pixels)
		memset(pixels, 0, size);
	return pixels;
}

void image_from_canvas(struct image *image, uint8_t *pixels, int width, int height, int components)
{
	if (components == 1)
		image_make_grey(pixels, (size_t)width * (size_t)height);
	*image = (struct image){.pixels = pixels,
		.width = width,
		.height = height,
		.components = components,
		.stride = (size_t)width * (size_t)components,
		.ratio = 1};
}

void image_make_grey(uint8_t *pixels, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const uint8_t *p = pixels + 3 * i;

		pixels[i] =
			(uint8_t)((p[0] * 19595u + p[1] * 38470u + p[2] * 7471u + 0x8000) >> 16);
	}
}

int image_reader_new(struct image_reader **reader, struct err *err)
{
	*reader = mem_new(1, sizeof(**reader));
	if (!*reader)
		return err_memory(err, "a reader of images", sizeof(**reader));
	(*reader)->format = -1;
	return 0;
}

void image_reader_free(struct image_reader *reader)
{
	if (!reader)
		return;
	for (int i = 0; i < FORMATS; i++)
		formats[i]->state_free(reader->states[i]);
	mem_free(reader->buffer.bytes);
	mem_free(reader);
}

bool image_named(const char *path)
{
	for (int i = 0; i < FORMATS; i++)
		for (const char *const *ending = formats[i]->endings; *ending; ending++)
			if (path_ends(path, *ending))
				return true;
	return false;
}

static bool begins_with(const uint8_t *bytes, size_t size, const char *magic)
{
	size_t at = 0;

	while (at < size && magic[at] && (magic[at] == '?' || bytes[at] == (uint8_t)magic[at]))
		at++;
	return !magic[at];
}

static int find_format(const void *bytes, size_t size)
{
	for (int i = 0; i < FORMATS; i++)
		if (begins_with(bytes, size, formats[i]->magic))
			return i;
	return -1;
}

int image_open(struct image_reader *reader, const void *bytes, size_t size, int *width, int *height,
	struct err *err)
{
	const int format = find_format(bytes, size);
	void **state = &reader->states[format < 0 ? 0 : format];
	int code;

	reader->format = -1;
	if (format < 0)
		return err_set(err, ERR_FORMAT,
			size ? "not a " IMAGE_FORMATS " image" : "empty, not an image");
	code = *state ? 0 : formats[format]->state_new(state, err);
	if (!code)
		code = formats[format]->open(*state, bytes, size, width, height, err);
	if (code)
		return code;
	if (*width < 1 || *height < 1 || (int64_t)*width * *height > IMAGE_PIXELS_MAX)
		return err_set(err, ERR_FORMAT,
			"%s image of %d x %d pixels: at most %d are allowed", formats[format]->name,
			*width, *height, IMAGE_PIXELS_MAX);
	reader->format = format;
	reader->width = *width;
	reader->height = *height;
	return 0;
}

int image_read(struct image_reader *reader, const struct image_window *window, double least,
	int components, struct image *image, struct err *err)
{
	const int format = reader->format;

	if (format < 0)
		return err_set(err, ERR_STATE, "no image is open");
	if (window->width < 1 || window->height < 1 || window->x < 0 || window->y < 0 ||
		window->x > reader->width - window->width ||
		window->y > reader->height - window->height)
		return err_set(err, ERR_INPUT,
			"%d x %d pixels at (%d, %d) are not in an image of %d x %d", window->width,
			window->height, window->x, window->y, reader->width, reader->height);
	reader->format = -1;
	return formats[format]->read(
		reader->states[format], window, least, components, &reader->buffer, image, err);
}

int image_decode(struct image_reader *reader, const void *bytes, size_t size, int components,
	struct image *image, struct err *err)
{
	struct image_window all = {0};
	const int code = image_open(reader, bytes, size, &all.width, &all.height, err);

	return code ? code : image_read(reader, &all, 1, components, image, err);
}
