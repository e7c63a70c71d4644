/* The row of an image format for image.c. A format keeps its own state from image to image. */
#ifndef RETAIN_IMAGES_IMAGE_FORMAT_H
#define RETAIN_IMAGES_IMAGE_FORMAT_H

#include "images/image.h"

/* A growing buffer that is only freed at the end. */
struct image_buffer {
	uint8_t *bytes;
	size_t size;
};

/* Room for at least `size` bytes; the old content is lost. NULL, with err, if out of memory. */
uint8_t *image_buffer_reserve(struct image_buffer *buffer, size_t size, struct err *err);

/* Zeroed interleaved colour pixels. NULL, with err, if out of memory. */
uint8_t *image_canvas(struct image_buffer *buffer, int width, int height, struct err *err);

/* Wraps such pixels as an image at full size; converted to grey for one component. */
void image_from_canvas(struct image *image, uint8_t *pixels, int width, int height, int components);

/* Grey from red, green and blue, in place, as Pillow computes it. */
void image_make_grey(uint8_t *pixels, size_t count);

struct image_format {
	const char *name;
	const char *magic;      /* the first bytes of a file; ? is any byte */
	const char *endings[5]; /* file name extensions; the rest is NULL */
	int (*state_new)(void **state, struct err *err);
	void (*state_free)(void *state); /* NULL is allowed */

	/* Like image_open and image_read; the pixels go into the buffer. */
	int (*open)(void *state, const uint8_t *bytes, size_t size, int *width, int *height,
		struct err *err);
	int (*read)(void *state, const struct image_window *window, double least, int components,
		struct image_buffer *buffer, struct image *image, struct err *err);
};

extern const struct image_format image_jpeg, image_png, image_webp, image_gif, image_bmp;

#endif
