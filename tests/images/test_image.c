/* Decoding: colours against Pillow, windows against the whole, and files that are broken. */
#include "check_image.h"

#include "images/image_format.h"

/* The colours that Pillow finds in a file. */
static struct blob golden_rgb(const char *name)
{
	char rgb[64];

	snprintf(rgb, sizeof(rgb), "%s.rgb", name);
	return golden(rgb);
}

/* Pillow has another version of libjpeg, whose chroma may be rounded otherwise. */
static void colours_are_pillows(void **state)
{
	struct image_reader *reader = reader_new();

	for (const char *const *name = image_names(); *name; name++) {
		const struct blob file = golden(*name), expected = golden_rgb(*name);
		const int most = strstr(*name, ".jpg") || strstr(*name, "lossy.webp") ? 2 : 0;
		struct image image;
		struct err err = {0};
		double sum = 0;

		assert_ok(image_decode(reader, file.bytes, file.size, 3, &image, &err), err);
		assert_int_equal((size_t)(image.width * image.height * 3), expected.size);
		for (int i = 0; i < (int)expected.size; i++) {
			const int x = i / 3 % image.width, y = i / 3 / image.width;
			const int off = abs(pixel(&image, x, y, i % 3) - expected.bytes[i]);

			if (off > most)
				fail_msg("%s: (%d, %d) channel %d is %d, Pillow has %d", *name, x,
					y, i % 3, pixel(&image, x, y, i % 3), expected.bytes[i]);
			sum += off;
		}
		assert_true(sum / (double)expected.size < 0.1);
		mem_free(file.bytes);
		mem_free(expected.bytes);
	}
	image_reader_free(reader);
}

static void grey_is_luma(void **state)
{
	struct image_reader *reader = reader_new();

	for (const char *const *name = image_names(); *name; name++) {
		const struct blob file = golden(*name), expected = golden_rgb(*name);
		struct image image;
		struct err err = {0};
		double sum = 0;

		assert_ok(image_decode(reader, file.bytes, file.size, 1, &image, &err), err);
		assert_int_equal(image.components, 1);
		for (int i = 0; i < image.width * image.height; i++) {
			const uint8_t *p = expected.bytes + (size_t)(3 * i);
			const double luma = 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2];

			sum += fabs(luma - pixel(&image, i % image.width, i / image.width, 0));
		}
		/* Not less, because JPEG's luma comes from before colours are clipped. */
		if (sum / (image.width * image.height) > 0.7)
			fail_msg("%s: %g levels off on average", *name,
				sum / (image.width * image.height));
		mem_free(file.bytes);
		mem_free(expected.bytes);
	}
	image_reader_free(reader);
}

static void check_window(struct image_reader *reader, const char *name, const struct blob *file,
	const struct image *whole, const struct image_window *w)
{
	struct image part;
	struct err err = {0};
	int width, height;

	assert_ok(image_open(reader, file->bytes, file->size, &width, &height, &err), err);
	assert_int_equal(width, whole->width);
	assert_int_equal(height, whole->height);
	assert_ok(image_read(reader, w, 1, 3, &part, &err), err);
	assert_true(part.ratio == 1);
	for (int y = w->y; y < w->y + w->height; y++)
		for (int x = w->x; x < w->x + w->width; x++)
			for (int c = 0; c < 3; c++)
				if (pixel(&part, x - (int)part.left, y - (int)part.top, c) !=
					pixel(whole, x, y, c))
					fail_msg("%s: %d x %d at (%d, %d) differs from the whole "
						 "at (%d, %d)",
						name, w->width, w->height, w->x, w->y, x, y);
}

static void windows_are_parts_of_the_whole(void **state)
{
	struct image_reader *reader = reader_new(), *other = reader_new();
	const struct rng rng = {1, RNG_TEST};
	uint64_t n = 0;

	for (const char *const *name = image_names(); *name; name++) {
		const struct blob file = golden(*name);
		struct image whole;
		struct err err = {0};

		assert_ok(image_decode(other, file.bytes, file.size, 3, &whole, &err), err);
		for (int i = 0; i < 100; i++) {
			struct image_window w;

			w.width = 1 + (int)rng_below(rng, n++, (uint64_t)whole.width);
			w.height = 1 + (int)rng_below(rng, n++, (uint64_t)whole.height);
			w.x = (int)rng_below(rng, n++, (uint64_t)(whole.width - w.width + 1));
			w.y = (int)rng_below(rng, n++, (uint64_t)(whole.height - w.height + 1));
			check_window(reader, *name, &file, &whole, &w);
		}
		mem_free(file.bytes);
	}
	image_reader_free(reader);
	image_reader_free(other);
}

/* Means of squares of the whole, compared with a decoder's own shrinking. */
static void shrinking_keeps_the_picture(void **state)
{
	static const double ratios[] = {0.5, 0.25, 0.125};
	struct image_reader *reader = reader_new(), *other = reader_new();
	const struct blob file = golden("444.jpg");
	const struct image_window all = {0, 0, 67, 45};
	struct image whole, small;
	struct err err = {0};
	int width, height;

	assert_ok(image_decode(other, file.bytes, file.size, 3, &whole, &err), err);
	for (size_t r = 0; r < COUNT(ratios); r++) {
		const int step = (int)(1 / ratios[r]);
		double sum = 0;
		int count = 0;

		assert_ok(image_open(reader, file.bytes, file.size, &width, &height, &err), err);
		assert_ok(image_read(reader, &all, ratios[r], 3, &small, &err), err);
		assert_true(small.ratio == ratios[r]);
		for (int i = 0; i < (67 / step) * (45 / step) * 3; i++, count++) {
			const int x = i / 3 % (67 / step), y = i / 3 / (67 / step);
			double mean = 0;

			for (int k = 0; k < step * step; k++)
				mean += pixel(
					&whole, x * step + k % step, y * step + k / step, i % 3);
			sum += fabs(mean / (step * step) - pixel(&small, x, y, i % 3));
		}
		if (sum / count > 3)
			fail_msg("shrunk to %g: %g levels off on average", ratios[r], sum / count);
	}
	mem_free(file.bytes);
	image_reader_free(reader);
	image_reader_free(other);
}

/* Whole or only the upper left corner: a file that is cut off is refused. */
static void cut_off_files_are_refused(void **state)
{
	static const struct image_window corner = {0, 0, 8, 8};
	struct image_reader *reader = reader_new();

	for (const char *const *name = image_names(); *name; name++) {
		const struct blob file = golden(*name);

		for (size_t size = 0; size < file.size; size++) {
			/* A copy of its own size, so that sanitizers see every byte too many. */
			uint8_t *copy = malloc(size ? size : 1);
			struct image image;
			struct err err = {0};
			int width, height;

			memcpy(copy, file.bytes, size);
			if (image_decode(reader, copy, size, 3, &image, &err) != ERR_FORMAT)
				fail_msg("%s of %zu bytes, cut off after %zu: accepted", *name,
					file.size, size);
			assert_true(strlen(err.message) > 10);
			if (image_open(reader, copy, size, &width, &height, &err) == 0)
				assert_int_equal(image_read(reader, &corner, 1, 3, &image, &err),
					ERR_FORMAT);
			free(copy);
		}
		mem_free(file.bytes);
	}
	image_reader_free(reader);
}

/* Whatever is in a file: an image or an error, and the reader goes on working. */
static void damaged_files_do_no_harm(void **state)
{
	struct image_reader *reader = reader_new();
	const struct rng rng = {2, RNG_TEST};
	uint64_t n = 0;
	int refused = 0;

	for (const char *const *name = image_names(); *name; name++) {
		const struct blob file = golden(*name);
		uint8_t *copy = malloc(file.size);

		for (int i = 0; i < 200; i++) {
			struct image image;
			struct err err = {0};

			memcpy(copy, file.bytes, file.size);
			for (int k = 0; k <= i % 4; k++, n += 2)
				copy[rng_below(rng, n, file.size)] =
					(uint8_t)rng_below(rng, n + 1, 256);
			refused += image_decode(reader, copy, file.size, 3, &image, &err) != 0;
		}
		struct image image;
		struct err err = {0};

		assert_ok(image_decode(reader, file.bytes, file.size, 3, &image, &err), err);
		free(copy);
		mem_free(file.bytes);
	}
	assert_true(refused > 100);
	image_reader_free(reader);
}

static void refusals_say_why(void **state)
{
	static const uint8_t bomb_png[] =
		"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\xff\xff\0\0\xff\xff\x08\x02\0\0\0"
		"\x97\xe8\xad\x1a\0\0\0\0IEND\xae\x42\x60\x82";
	struct image_reader *reader = reader_new();
	const struct image_window outside = {60, 40, 8, 6}, any = {0, 0, 1, 1};
	struct blob file = golden("444.jpg");
	struct image image;
	struct err err = {0};
	int width, height;

	assert_int_equal(image_decode(reader, "", 0, 3, &image, &err), ERR_FORMAT);
	assert_says(err, "empty");
	assert_int_equal(image_decode(reader, "II*\0....", 8, 3, &image, &err), ERR_FORMAT);
	assert_says(err, "not a JPEG, PNG, WebP, GIF or BMP image");
	assert_int_equal(image_read(reader, &any, 1, 3, &image, &err), ERR_STATE);
	assert_int_equal(
		image_open(reader, file.bytes, file.size / 2, &width, &height, &err), ERR_FORMAT);
	assert_says(err, "cut off");
	assert_ok(image_open(reader, file.bytes, file.size, &width, &height, &err), err);
	assert_int_equal(image_read(reader, &outside, 1, 3, &image, &err), ERR_INPUT);
	assert_says(err, "8 x 6 pixels at (60, 40) are not in an image of 67 x 45");
	assert_int_equal(
		image_decode(reader, bomb_png, sizeof(bomb_png) - 1, 3, &image, &err), ERR_FORMAT);
	assert_says(err, "65535 x 65535 pixels: at most");
	/* The same for JPEG: height and width follow five bytes behind the frame's marker. */
	for (size_t i = 2; i + 9 < file.size; i++)
		if (file.bytes[i] == 0xff && file.bytes[i + 1] == 0xc0) {
			memset(file.bytes + i + 5, 0xf0, 4);
			break;
		}
	assert_int_equal(image_decode(reader, file.bytes, file.size, 3, &image, &err), ERR_FORMAT);
	assert_says(err, "61680 x 61680 pixels: at most");
	mem_free(file.bytes);
	image_reader_free(reader);
}

static int decode_anew(void *context, struct err *err)
{
	const struct blob *file = context;
	struct image_reader *reader = NULL;
	struct image image;
	int code = image_reader_new(&reader, err);

	if (!code)
		code = image_decode(reader, file->bytes, file->size, 3, &image, err);
	image_reader_free(reader);
	return code;
}

static void allocations_may_fail(void **state)
{
	static const char *const names[] = {"420.jpg", "palette8.png", "rgb8-interlaced.png",
		"lossy.webp", "plain.gif", "bits8.bmp"};

	for (size_t i = 0; i < COUNT(names); i++) {
		struct blob file = golden(names[i]);

		assert_true(each_allocation_fails(decode_anew, &file) >= 3);
		mem_free(file.bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(colours_are_pillows),
		cmocka_unit_test(grey_is_luma),
		cmocka_unit_test(windows_are_parts_of_the_whole),
		cmocka_unit_test(shrinking_keeps_the_picture),
		cmocka_unit_test(cut_off_files_are_refused),
		cmocka_unit_test(damaged_files_do_no_harm),
		cmocka_unit_test(refusals_say_why),
		cmocka_unit_test(allocations_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
