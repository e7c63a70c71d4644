/*
 * Images from bytes: JPEG, PNG, WebP, GIF or BMP in, 8-bit pixels out. One reader per thread; it
 * owns the pixels it gives out and takes more memory only when it needs more than
 * ever before. (Inside the libraries, images cost allocations.)
 *
 *	image_open     what is it, and how large?
 *	image_read     the pixels of a window of it, and as little else as possible
 *	image_decode   both, for the whole image
 *
 * Colours are as with Pillow's convert("RGB"): alpha is dropped, palettes are
 * looked up, 16 bits keep their upper 8, CMYK is multiplied out, orientation
 * tags are ignored, and of an animation the first frame is read. One exception: of 16-bit grey, which Pillow clips at 255,
 * the upper 8 bits are kept, too.
 *
 * A file that is cut off is refused, even if the window is there, and so is one
 * whose data turn out to be corrupt on the way to the window's last row. Nothing
 * is ever printed.
 */
#ifndef RETAIN_IMAGES_IMAGE_H
#define RETAIN_IMAGES_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

/* The formats that can be read, for messages. */
#define IMAGE_FORMATS "JPEG, PNG, WebP, GIF or BMP"

/* Larger images are refused before anything is decoded. */
#define IMAGE_PIXELS_MAX (1 << 27)

/* A rectangle of an image, in its full-size pixels. */
struct image_window {
	int x, y, width, height;
};

/*
 * Pixels: components side by side, or in planes one after the other. A decoder
 * may read more than the window, and may shrink: the point (x, y) of the full
 * image is at ((x - left) * ratio, (y - top) * ratio) here, where pixel 0
 * reaches from 0 to 1.
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

/* Whether a file's name ends as those of images that can be read do, in any case. */
bool image_named(const char *path);

int image_reader_new(struct image_reader **reader, struct err *err);
void image_reader_free(struct image_reader *reader);

/* Reads the header. The bytes must stay where they are until the image was read. */
int image_open(struct image_reader *reader, const void *bytes, size_t size, int *width, int *height,
	struct err *err);

/*
 * Reads a window of the image opened last; once per opening. components is 3
 * for colour, where a grey image may come back with 1, or 1 for grey. The image
 * may be shrunk, with all frequencies kept that remain below half the sampling
 * rate, to a ratio not less than `least` (at most 1). What is given back lives
 * until the reader's next use.
 */
int image_read(struct image_reader *reader, const struct image_window *window, double least,
	int components, struct image *image, struct err *err);

/* All of it, at full size. */
int image_decode(struct image_reader *reader, const void *bytes, size_t size, int components,
	struct image *image, struct err *err);

/* Writes colour pixels, component beside component, as a PNG file. */
int image_write_png(
	const char *path, const uint8_t *pixels, int width, int height, struct err *err);

#endif
