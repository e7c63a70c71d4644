/*
 * JPEG and PNG files. The first byte says how the image is read: grey or in colour,
 * shrunk or not, all of it or a window. Very large ones are only opened.
 */
#include "images/image.h"

#include <stdbool.h>

#include "fuzz.h"

enum { PIXELS_MOST = 1 << 14 };

static void check(const struct image *image)
{
	const size_t row = (size_t)image->width * (size_t)(image->planar ? 1 : image->components);
	const int rows = image->height * (image->planar ? image->components : 1);
	unsigned sum = 0;

	fuzz_check(image->width > 0 && image->height > 0 && image->stride >= row);
	fuzz_check(image->components == 1 || image->components == 3);
	for (int y = 0; y < rows; y++)
		for (size_t x = 0; x < row; x++)
			sum += image->pixels[(size_t)y * image->stride + x];
	fuzz_check(sum <= (size_t)255 * row * (size_t)rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct image_reader *reader;
	struct image_window window = {0};
	struct image image;
	struct err err = {0};
	uint8_t how;

	if (!reader)
		fuzz_check(!image_reader_new(&reader, &err));
	if (!size)
		return 0;
	how = data[0];
	if (image_open(reader, data + 1, size - 1, &window.width, &window.height, &err)) {
		fuzz_check(err.code < 0 && *err.message);
		return 0;
	}
	fuzz_check(window.width > 0 && window.height > 0);
	fuzz_check((int64_t)window.width * window.height <= IMAGE_PIXELS_MAX);
	if ((int64_t)window.width * window.height > PIXELS_MOST)
		return 0;
	if (how & 4) {
		window.x = window.width / 3;
		window.y = window.height / 3;
		window.width -= window.x;
		window.height = (window.height - window.y + 1) / 2;
	}
	if (image_read(reader, &window, how & 2 ? 0.3 : 1, how & 1 ? 1 : 3, &image, &err))
		fuzz_check(err.code < 0 && *err.message);
	else
		check(&image);
	return 0;
}
