/*
 * Image files of every format. The first byte says how the image is read: grey or in colour,
 * shrunk or not, all of it or a window. Very large ones are only opened.
 *
 * One reader stays from input to input, another is new for each: what was read
 * before must not matter.
 */
#include "images/image.h"

#include <stdbool.h>
#include <string.h>

#include "fuzz.h"

enum { PIXELS_MOST = 1 << 14 };

struct outcome {
	int code;
	struct err err;
	struct image_window window;
	struct image image; /* without pixels: the image was only opened */
};

static void read_image(
	struct image_reader *reader, const uint8_t *data, size_t size, struct outcome *o)
{
	struct image_window *w = &o->window;
	const uint8_t how = data[0];

	o->code = image_open(reader, data + 1, size - 1, &w->width, &w->height, &o->err);
	if (o->code)
		return;
	fuzz_check(w->width > 0 && w->height > 0);
	fuzz_check((int64_t)w->width * w->height <= IMAGE_PIXELS_MAX);
	if ((int64_t)w->width * w->height > PIXELS_MOST)
		return;
	if (how & 4) {
		w->x = w->width / 3;
		w->y = w->height / 3;
		w->width -= w->x;
		w->height = (w->height - w->y + 1) / 2;
	}
	o->code = image_read(reader, w, how & 2 ? 0.3 : 1, how & 1 ? 1 : 3, &o->image, &o->err);
}

static void compare_images(const struct image *a, const struct image *b)
{
	const size_t row = (size_t)a->width * (size_t)(a->planar ? 1 : a->components);
	const int rows = a->height * (a->planar ? a->components : 1);

	fuzz_check(a->width > 0 && a->height > 0 && a->stride >= row);
	fuzz_check(a->components == 1 || a->components == 3);
	fuzz_check(a->width == b->width && a->height == b->height && a->stride == b->stride);
	fuzz_check(a->components == b->components && a->planar == b->planar);
	fuzz_check(a->left == b->left && a->top == b->top && a->ratio == b->ratio);
	for (int y = 0; y < rows; y++)
		fuzz_check(!memcmp(
			a->pixels + (size_t)y * a->stride, b->pixels + (size_t)y * b->stride, row));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct image_reader *kept;
	struct image_reader *fresh;
	struct outcome after = {0}, first = {0};

	if (!kept)
		fuzz_check(!image_reader_new(&kept, &after.err));
	if (!size)
		return 0;
	fuzz_check(!image_reader_new(&fresh, &first.err));
	read_image(kept, data, size, &after);
	read_image(fresh, data, size, &first);
	fuzz_check(after.code == first.code && !strcmp(after.err.message, first.err.message));
	fuzz_check(!memcmp(&after.window, &first.window, sizeof(after.window)));
	if (first.code)
		fuzz_check(first.code < 0 && *first.err.message);
	else if (first.image.pixels)
		compare_images(&after.image, &first.image);
	image_reader_free(fresh);
	return 0;
}
