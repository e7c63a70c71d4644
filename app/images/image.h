/*
 * Decodes images: JPEG, PNG, WebP, GIF or BMP in, 8-bit pixels out. One reader per thread; it
 * owns the pixels it returns and grows its memory only when it needs more than ever before.
 * (Inside the libraries, images cost allocations.)
 *
 *	image_open     the format and the size
 *	image_read     the pixels of a window of it, and as little else as possible
 *	image_decode   both, for the whole image
 *
 * Colours are as with Pillow's convert("RGB"): alpha is dropped, palettes are looked up, 16 bits
 * keep their upper 8, CMYK is multiplied out, orientation tags are ignored, and of an animation
 * the first frame is read. One exception: 16-bit grey, which Pillow clips at 255, also keeps its
 * upper 8 bits.
 *
 * A truncated file is rejected, even if the window is complete, and so is one whose data turn out
 * to be corrupt up to the window's last row. Nothing is ever printed.
 */
#ifndef RETAIN_IMAGES_IMAGE_H
#define RETAIN_IMAGES_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

/* The formats that can be read, for messages. */
#define IMAGE_FORMATS "JPEG, PNG, WebP, GIF or BMP"

/* Larger images are rejected before anything is decoded. */
#define IMAGE_PIXELS_MAX (1 << 27)

/* A rectangle of an image, in its full-size pixels. */
struct image_window {
	int x, y, width, height;
};

/*
 * Pixels: components interleaved, or in planes one after the other. A decoder may read more than
 * the window, and may shrink: the point (x, y) of the full image is at ((x - left) * ratio, (y -
 * top) * ratio) here, where pixel 0 covers 0 to 1.
 */
struct image {
	const uint8_t *pixels;
	int width, height;
	int components; /* 1: grey; 3: red, green, blue */
	bool planar;
	size_t stride; /* bytes from row to row; planes are height rows apart */
	double left, top, ratio;
};

struct image_reader;

/* Whether a file name has the extension of a supported image format, ignoring case. */
bool image_named(const char *path);

int image_reader_new(struct image_reader **reader, struct err *err);
void image_reader_free(struct image_reader *reader);

/* Reads the header. The bytes must remain valid until the image was read. */
int image_open(struct image_reader *reader, const void *bytes, size_t size, int *width, int *height,
	struct err *err);

/*
 * Reads a window of the image opened last; once per opening. components is 3 for colour, where a
 * grey image may come back with 1, or 1 for grey. The image may be shrunk, with all frequencies
 * kept that remain below half the sampling rate, to a ratio not less than `least` (at most 1).
 * The result is valid until the reader's next use.
 */
int image_read(struct image_reader *reader, const struct image_window *window, double least,
	int components, struct image *image, struct err *err);

/* The whole image, at full size. */
int image_decode(struct image_reader *reader, const void *bytes, size_t size, int components,
	struct image *image, struct err *err);

/* Writes interleaved colour pixels as a PNG file. */
int image_write_png(
	const char *path, const uint8_t *pixels, int width, int height, struct err *err);

#endif
