/*
 * What a format is to image.c: a row of functions. A format keeps what it needs
 * from image to image in a state of its own.
 */
#ifndef RETAIN_IMAGES_IMAGE_FORMAT_H
#define RETAIN_IMAGES_IMAGE_FORMAT_H

#include "images/image.h"

/* A growing block of memory that is never given back before the end. */
struct image_buffer {
	uint8_t *bytes;
	size_t size;
};

/* Room for `size` bytes or more; the old content is lost. NULL, with err, if memory ran out. */
uint8_t *image_buffer_reserve(struct image_buffer *buffer, size_t size, struct err *err);

/* Zeroed pixels in colour, component beside component. NULL, with err, if memory ran out. */
uint8_t *image_canvas(struct image_buffer *buffer, int width, int height, struct err *err);

/* The image that such pixels are: all of it, at full size; made grey for one component. */
void image_from_canvas(struct image *image, uint8_t *pixels, int width, int height, int components);

/* Grey from red, green and blue, in place, as Pillow computes it. */
void image_make_grey(uint8_t *pixels, size_t count);

struct image_format {
	const char *name;
	const char *magic;      /* what a file begins with; ? is any byte */
	const char *endings[5]; /* of file names; the rest is NULL */
	int (*state_new)(void **state, struct err *err);
	void (*state_free)(void *state); /* NULL is allowed */

	/* As image_open and image_read; the pixels go into the buffer. */
	int (*open)(void *state, const uint8_t *bytes, size_t size, int *width, int *height,
		struct err *err);
	int (*read)(void *state, const struct image_window *window, double least, int components,
		struct image_buffer *buffer, struct image *image, struct err *err);
};

extern const struct image_format image_jpeg, image_png, image_webp, image_gif, image_bmp;

#endif
