/* What the tests of images share: files, goldens, the made-up picture, readers and pixels. */
#ifndef RETAIN_TESTS_IMAGES_CHECK_IMAGE_H
#define RETAIN_TESTS_IMAGES_CHECK_IMAGE_H

#include "../base/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "images/image.h"

struct blob {
	uint8_t *bytes;
	size_t size;
};

/* A file of tests/golden/images. Free the bytes with mem_free. */
static inline struct blob golden(const char *name)
{
	const char *tests = getenv("RETAIN_TESTS");
	struct blob blob = {0};
	char path[1024];
	FILE *file;
	long size;

	snprintf(path, sizeof(path), "%s/golden/images/%s", tests ? tests : "tests", name);
	file = fopen(path, "rb");
	if (!file)
		fail_msg("%s: cannot be opened", path);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	size = ftell(file);
	assert_true(size > 0);
	rewind(file);
	blob.size = (size_t)size;
	blob.bytes = mem_new(blob.size, 1);
	assert_non_null(blob.bytes);
	assert_int_equal(fread(blob.bytes, 1, blob.size, file), blob.size);
	fclose(file);
	return blob;
}

static inline const char *const *image_names(void)
{
	static const char *const names[] = {"444.jpg", "422.jpg", "420.jpg", "420-progressive.jpg",
		"420-restart.jpg", "444-optimised.jpg", "420-turned.jpg", "rgb.jpg", "grey.jpg",
		"cmyk.jpg", "grey1.png", "grey2.png", "grey4.png", "grey8.png", "grey16.png",
		"rgb8.png", "rgb16.png", "palette1.png", "palette2.png", "palette4.png",
		"palette8.png", "grey-alpha8.png", "grey-alpha16.png", "rgba8.png", "rgba16.png",
		"rgb8-interlaced.png", "palette4-interlaced.png", "palette8-transparent.png",
		"rgb8-transparent.png", "lossy.webp", "lossless.webp", "lossless-alpha.webp",
		"animated.webp", "plain.gif", "interlaced.gif", "transparent.gif", "animated.gif",
		"placed.gif", "bits1.bmp", "bits4.bmp", "bits8.bmp", "bits16.bmp", "bits24.bmp",
		"bits32.bmp", "bits16-565.bmp", "bits32-masks.bmp", "upright.bmp", "os2.bmp", NULL};

	return names;
}

/* The picture of make_image_goldens.py. */
static inline uint8_t picture_value(int x, int y, int c)
{
	return (uint8_t)((x * (3 + c) + y * (7 - c) + (x * y % 23) * 5 + (c + 1) * 40) % 256);
}

static inline uint8_t *picture(int width, int height, bool planar)
{
	uint8_t *pixels = mem_new((size_t)width * (size_t)height, 3);

	assert_non_null(pixels);
	for (int i = 0; i < width * height; i++)
		for (int c = 0; c < 3; c++)
			pixels[planar ? c * width * height + i : 3 * i + c] =
				picture_value(i % width, i / width, c);
	return pixels;
}

static inline struct image_reader *reader_new(void)
{
	struct image_reader *reader;
	struct err err = {0};

	assert_ok(image_reader_new(&reader, &err), err);
	return reader;
}

static inline int pixel(const struct image *image, int x, int y, int c)
{
	const int n = image->components;

	if (image->planar)
		return image
			->pixels[((size_t)(n == 1 ? 0 : c) * (size_t)image->height + (size_t)y) *
					 image->stride +
				 (size_t)x];
	return image->pixels[(size_t)y * image->stride + (size_t)(x * n + (n == 1 ? 0 : c))];
}

/* Markers of JPEG's tables of quantization and of codes. */
enum { JPEG_DQT = 0xdb, JPEG_DHT = 0xc4 };

/*
 * A copy of a JPEG file without the segments of a marker before the first scan: all
 * of them, or only the last. Free the bytes with mem_free.
 */
static inline struct blob jpeg_without(const struct blob *file, int marker, bool last_only)
{
	const uint8_t *bytes = file->bytes;
	struct blob copy = {mem_new(file->size, 1), 2};
	size_t at = 2, last = 0, size;

	assert_non_null(copy.bytes);
	memcpy(copy.bytes, bytes, 2);
	for (; bytes[at + 1] != 0xda; at += 2 + (size_t)(bytes[at + 2] << 8 | bytes[at + 3]))
		last = bytes[at + 1] == marker ? at : last;
	for (at = 2; bytes[at + 1] != 0xda; at += size) {
		size = 2 + (size_t)(bytes[at + 2] << 8 | bytes[at + 3]);
		if (bytes[at + 1] == marker && (!last_only || at == last))
			continue;
		memcpy(copy.bytes + copy.size, bytes + at, size);
		copy.size += size;
	}
	memcpy(copy.bytes + copy.size, bytes + at, file->size - at);
	copy.size += file->size - at;
	return copy;
}

#endif
