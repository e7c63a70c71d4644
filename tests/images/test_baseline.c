/*
 * Our decoder of common JPEG files against libjpeg itself, bit for bit, on files
 * that libjpeg writes here; its kernels against one another.
 */
#include "check_image.h"

#include <jpeglib.h>

#include "images/entropy.h"
#include "images/pixel_kernels.h"

struct kind {
	int h, v, quality;
	bool optimised;
	int components;
};

/* A soft picture with a noisy part: blocks with few and with many coefficients. */
static void draw(uint8_t *row, int width, int y, int components, uint64_t seed)
{
	const struct rng rng = {seed, RNG_TEST};

	for (int i = 0; i < width * components; i++) {
		const int x = i / components, c = i % components;
		const bool noisy = (x / 24 + y / 24) % 3 == 0;

		row[i] = (uint8_t)(noisy ? rng_below(rng, (uint64_t)(y * width * 3 + i), 256)
					 : (uint64_t)((x * (c + 1) + y * 2) / 3 % 256));
	}
}

static struct blob encode(int width, int height, struct kind kind, uint64_t seed)
{
	struct jpeg_compress_struct encoder;
	struct jpeg_error_mgr errors;
	unsigned long size = 0;
	struct blob blob = {0};
	uint8_t *row = malloc((size_t)(width * 3));

	encoder.err = jpeg_std_error(&errors);
	jpeg_create_compress(&encoder);
	jpeg_mem_dest(&encoder, &blob.bytes, &size);
	encoder.image_width = (JDIMENSION)width;
	encoder.image_height = (JDIMENSION)height;
	encoder.input_components = kind.components;
	encoder.in_color_space = kind.components == 1 ? JCS_GRAYSCALE : JCS_RGB;
	jpeg_set_defaults(&encoder);
	jpeg_set_quality(&encoder, kind.quality, TRUE);
	encoder.comp_info[0].h_samp_factor = kind.h;
	encoder.comp_info[0].v_samp_factor = kind.v;
	encoder.optimize_coding = kind.optimised;
	jpeg_start_compress(&encoder, TRUE);
	for (int y = 0; y < height; y++) {
		draw(row, width, y, kind.components, seed);
		jpeg_write_scanlines(&encoder, &row, 1);
	}
	jpeg_finish_compress(&encoder);
	jpeg_destroy_compress(&encoder);
	free(row);
	blob.size = size;
	return blob;
}

static uint8_t *libjpeg_pixels(const struct blob *file, int width)
{
	struct jpeg_decompress_struct decoder;
	struct jpeg_error_mgr errors;
	uint8_t *pixels;

	decoder.err = jpeg_std_error(&errors);
	jpeg_create_decompress(&decoder);
	jpeg_mem_src(&decoder, file->bytes, file->size);
	jpeg_read_header(&decoder, TRUE);
	decoder.out_color_space = JCS_RGB;
	jpeg_start_decompress(&decoder);
	pixels = malloc((size_t)width * decoder.output_height * 3);
	while (decoder.output_scanline < decoder.output_height) {
		uint8_t *row = pixels + (size_t)width * 3 * decoder.output_scanline;

		jpeg_read_scanlines(&decoder, &row, 1);
	}
	jpeg_destroy_decompress(&decoder);
	return pixels;
}

static void compare(struct image_reader *reader, const struct blob *file, const uint8_t *expected,
	const struct image_window *w, bool planar)
{
	struct image image;
	struct err err = {0};
	int width, height;

	assert_ok(image_open(reader, file->bytes, file->size, &width, &height, &err), err);
	assert_ok(image_read(reader, w, 1, 3, &image, &err), err);
	/* libjpeg's pixels are not in planes: that our decoder did it shows in this. */
	assert_true(image.planar == planar);
	for (int i = 0; i < w->width * w->height * 3; i++) {
		const int c = i % 3, x = w->x + i / 3 % w->width, y = w->y + i / 3 / w->width;
		const size_t at = (size_t)((y - (int)image.top) * (int)image.stride);
		const int column = x - (int)image.left;
		const int plane = image.components == 1 ? 0 : c * image.height * (int)image.stride;
		const uint8_t found = image.planar ? image.pixels[at + (size_t)(plane + column)]
						   : image.pixels[at + (size_t)(3 * column + c)];

		if (found != expected[(y * width + x) * 3 + c])
			fail_msg("%d x %d, window %d x %d at (%d, %d): (%d, %d) channel %d is %d, "
				 "not %d",
				width, height, w->width, w->height, w->x, w->y, x, y, c, found,
				expected[(y * width + x) * 3 + c]);
	}
}

static void libjpeg_agrees(void **state)
{
	static const struct kind kinds[] = {{1, 1, 95, false, 3}, {1, 1, 30, true, 3},
		{2, 1, 90, false, 3}, {2, 2, 90, false, 3}, {2, 2, 50, true, 3},
		{2, 2, 100, true, 3}, {1, 1, 75, false, 1}, {2, 2, 85, true, 1}};
	const struct rng rng = {4, RNG_TEST};
	struct image_reader *reader;
	struct err err = {0};
	uint64_t n = 0;

	assert_ok(image_reader_new(&reader, &err), err);
	for (size_t k = 0; k < COUNT(kinds); k++)
		for (int i = 0; i < 12; i++) {
			const int width = 16 + (int)rng_below(rng, n++, 90);
			const int height = 16 + (int)rng_below(rng, n++, 90);
			const struct blob file = encode(width, height, kinds[k], n);
			uint8_t *expected = libjpeg_pixels(&file, width);
			struct image_window w = {0, 0, width, height};

			for (int j = 0; j < 12; j++) {
				compare(reader, &file, expected, &w, true);
				w.width = 1 + (int)rng_below(rng, n++, (uint64_t)width);
				w.height = 1 + (int)rng_below(rng, n++, (uint64_t)height);
				w.x = (int)rng_below(rng, n++, (uint64_t)(width - w.width + 1));
				w.y = (int)rng_below(rng, n++, (uint64_t)(height - w.height + 1));
			}
			free(expected);
			free(file.bytes);
		}
	image_reader_free(reader);
}

/* Kinds that are libjpeg's business, and images that are very small. */
static void others_are_left_to_libjpeg(void **state)
{
	static const struct {
		int width, height;
		struct kind kind;
	} rows[] = {
		{15, 40, {2, 2, 90, false, 3}},
		{1, 1, {1, 1, 90, false, 3}},
		{40, 40, {1, 2, 90, false, 3}},
		{64, 40, {4, 1, 90, false, 3}},
	};
	struct image_reader *reader;
	struct err err = {0};

	assert_ok(image_reader_new(&reader, &err), err);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct blob file = encode(rows[i].width, rows[i].height, rows[i].kind, i);
		const struct image_window all = {0, 0, rows[i].width, rows[i].height};
		uint8_t *expected = libjpeg_pixels(&file, rows[i].width);

		compare(reader, &file, expected, &all, false);
		free(expected);
		free(file.bytes);
	}
	image_reader_free(reader);
}

/* Codes that are none must not be accepted: too many of a length, too many, none at all. */
static void tables_are_checked(void **state)
{
	static struct entropy_table table;
	uint8_t counts[17] = {0}, symbols[256] = {0};

	assert_false(entropy_table_init(&table, counts, symbols, false));
	counts[1] = 3;
	assert_false(entropy_table_init(&table, counts, symbols, false));
	counts[1] = 1;
	counts[16] = 255;
	assert_true(entropy_table_init(&table, counts, symbols, false));
	counts[15] = 1;
	assert_false(entropy_table_init(&table, counts, symbols, false));
	counts[15] = 0;
	symbols[7] = 16;
	assert_false(entropy_table_init(&table, counts, symbols, true));
}

static void instruction_sets_agree(void **state)
{
	enum { COLUMNS = 700 };
	const struct pixel_kernels *first = pixel_kernels_at(0);
	const struct rng rng = {5, RNG_TEST};
	uint64_t n = 0;

	for (int k = 1; pixel_kernels_at(k); k++)
		for (int i = 0; i < 300; i++) {
			const struct pixel_kernels *other = pixel_kernels_at(k);
			const int count = 1 + (int)rng_below(rng, n++, COLUMNS);
			int16_t block[64];
			uint16_t steps[64];
			uint8_t rows[3][COLUMNS], a[3][2 * COLUMNS] = {{0}},
							   b[3][2 * COLUMNS] = {{0}};

			for (int j = 0; j < 64; j++) {
				block[j] = (int16_t)((int)rng_below(rng, n++, 400) - 200);
				steps[j] = (uint16_t)(1 + rng_below(rng, n++, i % 20 + 1));
			}
			for (int j = 0; j < 3 * COLUMNS; j++)
				rows[j / COLUMNS][j % COLUMNS] = (uint8_t)rng_below(rng, n++, 256);
			first->transform(block, steps, a[0], 8);
			other->transform(block, steps, b[0], 8);
			assert_memory_equal(a, b, sizeof(a));
			first->widen(rows[0], i % 2 ? rows[1] : NULL, count, a[0]);
			other->widen(rows[0], i % 2 ? rows[1] : NULL, count, b[0]);
			assert_memory_equal(a, b, sizeof(a));
			first->colour(rows[0], rows[1], rows[2], count, a[0], a[1], a[2]);
			other->colour(rows[0], rows[1], rows[2], count, b[0], b[1], b[2]);
			assert_memory_equal(a, b, sizeof(a));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(libjpeg_agrees),
		cmocka_unit_test(others_are_left_to_libjpeg),
		cmocka_unit_test(tables_are_checked),
		cmocka_unit_test(instruction_sets_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
