/*
 * JPEG files that libjpeg writes here: windows of them are bit for bit what libjpeg
 * makes of the whole, and no file leaves anything behind for the next one.
 */
#include "check_image.h"

#include <jpeglib.h>

struct kind {
	int h, v; /* how much finer luma is than chroma */
	int quality;
	int components;
	bool optimised, progressive, restarts;
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
	encoder.restart_interval = kind.restarts ? 3 : 0;
	if (kind.progressive)
		jpeg_simple_progression(&encoder);
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

/* --- work --- */

/* A grey image of nothing, in scans of a few coefficients each: few bytes, much to do. */
static struct blob encode_scans(int width, int height)
{
	struct jpeg_compress_struct encoder;
	struct jpeg_error_mgr errors;
	jpeg_scan_info scans[128] = {{1, {0}, 0, 0, 0, 0}};
	int count = 1;
	unsigned long size = 0;
	struct blob blob = {0};
	uint8_t *row = calloc((size_t)width, 1);

	for (int bit = 3; bit >= 0; bit--)
		for (int first = 1; first < 64; first += 3)
			scans[count++] = (jpeg_scan_info){
				1, {0}, first, first + 2, bit == 3 ? 0 : bit + 1, bit};
	encoder.err = jpeg_std_error(&errors);
	jpeg_create_compress(&encoder);
	jpeg_mem_dest(&encoder, &blob.bytes, &size);
	encoder.image_width = (JDIMENSION)width;
	encoder.image_height = (JDIMENSION)height;
	encoder.input_components = 1;
	encoder.in_color_space = JCS_GRAYSCALE;
	jpeg_set_defaults(&encoder);
	encoder.scan_info = scans;
	encoder.num_scans = count;
	jpeg_start_compress(&encoder, TRUE);
	for (int y = 0; y < height; y++)
		jpeg_write_scanlines(&encoder, &row, 1);
	jpeg_finish_compress(&encoder);
	jpeg_destroy_compress(&encoder);
	free(row);
	blob.size = size;
	return blob;
}

/* What a file makes a reader do is bounded, not only what it weighs. */
static void scans_times_pixels_are_bounded(void **state)
{
	struct blob small = encode_scans(64, 64), large = encode_scans(4096, 4096);
	struct image_reader *reader;
	struct image image;
	struct err err = {0};

	(void)state;
	assert_int_equal(image_reader_new(&reader, &err), 0);
	assert_int_equal(image_decode(reader, small.bytes, small.size, 1, &image, &err), 0);
	assert_true(large.size < 1 << 18);
	assert_int_equal(
		image_decode(reader, large.bytes, large.size, 1, &image, &err), ERR_FORMAT);
	assert_says(err, "65 scans of 4096 x 4096 pixels are too many");
	image_reader_free(reader);
	free(small.bytes);
	free(large.bytes);
}

/* --- windows --- */

/* The whole, at 1 / `smaller` of its size, as libjpeg alone decodes it. */
static uint8_t *libjpeg_pixels(const struct blob *file, unsigned smaller, int *width)
{
	struct jpeg_decompress_struct decoder;
	struct jpeg_error_mgr errors;
	uint8_t *pixels;

	decoder.err = jpeg_std_error(&errors);
	jpeg_create_decompress(&decoder);
	jpeg_mem_src(&decoder, file->bytes, file->size);
	jpeg_read_header(&decoder, TRUE);
	decoder.out_color_space = JCS_RGB;
	decoder.scale_num = 1;
	decoder.scale_denom = smaller;
	jpeg_start_decompress(&decoder);
	*width = (int)decoder.output_width;
	pixels = malloc((size_t)*width * decoder.output_height * 3);
	while (decoder.output_scanline < decoder.output_height) {
		uint8_t *row = pixels + (size_t)*width * 3 * decoder.output_scanline;

		jpeg_read_scanlines(&decoder, &row, 1);
	}
	jpeg_destroy_decompress(&decoder);
	return pixels;
}

static void compare(struct image_reader *reader, const struct blob *file, int smaller,
	const uint8_t *expected, int stride, const struct image_window *w)
{
	const int x0 = w->x / smaller, y0 = w->y / smaller;
	const int columns = (w->x + w->width + smaller - 1) / smaller - x0;
	const int rows = (w->y + w->height + smaller - 1) / smaller - y0;
	struct image image;
	struct err err = {0};
	int width, height;

	assert_ok(image_open(reader, file->bytes, file->size, &width, &height, &err), err);
	assert_ok(image_read(reader, w, 1.0 / smaller, 3, &image, &err), err);
	assert_true(image.ratio == 1.0 / smaller);
	for (int i = 0; i < columns * rows * 3; i++) {
		const int c = i % 3, x = x0 + i / 3 % columns, y = y0 + i / 3 / columns;
		const int found = pixel(
			&image, x - (int)image.left / smaller, y - (int)image.top / smaller, c);

		if (found != expected[(y * stride + x) * 3 + c])
			fail_msg("%d x %d, window %d x %d at (%d, %d), 1/%d: (%d, %d) channel %d "
				 "is %d, not %d",
				width, height, w->width, w->height, w->x, w->y, smaller, x, y, c,
				found, expected[(y * stride + x) * 3 + c]);
	}
}

static void windows_are_libjpegs(void **state)
{
	static const struct kind kinds[] = {{1, 1, 95, 3}, {1, 1, 30, 3, true}, {2, 1, 90, 3},
		{2, 2, 90, 3}, {2, 2, 50, 3, true}, {2, 2, 100, 3, true}, {1, 2, 90, 3},
		{4, 1, 90, 3}, {4, 2, 70, 3}, {1, 1, 75, 1}, {2, 2, 85, 1, true},
		{2, 2, 85, 3, .progressive = true}, {2, 2, 85, 3, .restarts = true},
		{2, 1, 85, 3, .progressive = true, .restarts = true}};
	const struct rng rng = {4, RNG_TEST};
	struct image_reader *reader = reader_new();
	uint64_t n = 0;

	for (size_t k = 0; k < COUNT(kinds); k++)
		for (int i = 0; i < 12; i++) {
			const int width = 1 + (int)rng_below(rng, n++, i % 2 ? 40 : 170);
			const int height = 1 + (int)rng_below(rng, n++, i % 3 ? 40 : 170);
			const struct blob file = encode(width, height, kinds[k], n);
			const int smaller = i % 4 == 3 ? 2 << i % 3 : 1;
			struct image_window w = {0, 0, width, height};
			int stride;
			uint8_t *expected = libjpeg_pixels(&file, (unsigned)smaller, &stride);

			for (int j = 0; j < 20; j++) {
				compare(reader, &file, smaller, expected, stride, &w);
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

/* --- one after the other --- */

struct outcome {
	int code;
	struct err err;
	int width, height;
	uint8_t pixels[64 * 64 * 3];
};

static void decode(struct image_reader *reader, const struct blob *file, struct outcome *outcome)
{
	struct image image;

	memset(outcome, 0, sizeof(*outcome));
	outcome->code = image_decode(reader, file->bytes, file->size, 3, &image, &outcome->err);
	if (outcome->code)
		return;
	outcome->width = image.width;
	outcome->height = image.height;
	assert_true(image.width * image.height * 3 <= (int)sizeof(outcome->pixels));
	for (int i = 0; i < image.width * image.height * 3; i++)
		outcome->pixels[i] =
			(uint8_t)pixel(&image, i / 3 % image.width, i / 3 / image.width, i % 3);
}

static void every_file_decodes_as_if_it_were_the_first(void **state)
{
	static const struct kind kinds[] = {{2, 2, 90, 3}, {1, 1, 40, 3, true},
		{2, 1, 60, 3, .progressive = true}, {1, 1, 80, 1, true}};
	enum { KINDS = COUNT(kinds), FILES = 4 * KINDS };
	static struct outcome fresh[FILES], found;
	struct blob files[FILES];
	int refused = 0;

	for (int i = 0; i < KINDS; i++) {
		const struct blob whole = encode(40 + i, 30 + i, kinds[i], 1);

		files[4 * i] = whole;
		files[4 * i + 1] = jpeg_without(&whole, JPEG_DQT, false);
		files[4 * i + 2] = jpeg_without(&whole, JPEG_DHT, false);
		files[4 * i + 3] = jpeg_without(&whole, JPEG_DQT, true);
	}
	for (int i = 0; i < FILES; i++) {
		struct image_reader *reader = reader_new();

		decode(reader, &files[i], &fresh[i]);
		refused += fresh[i].code != 0;
		image_reader_free(reader);
	}
	/* All without some or any quantization; of those without codes, some have the usual ones. */
	assert_true(refused >= 2 * KINDS && refused < 3 * KINDS);
	for (int a = 0; a < FILES; a++)
		for (int b = 0; b < FILES; b++) {
			struct image_reader *reader = reader_new();
			const int order[] = {a, b, a};

			for (int i = 0; i < 3; i++) {
				decode(reader, &files[order[i]], &found);
				if (memcmp(&found, &fresh[order[i]], sizeof(found)) != 0)
					fail_msg("file %d after file %d: code %d (%s), not %d (%s)",
						order[i], order[(i + 2) % 3], found.code,
						found.err.message, fresh[order[i]].code,
						fresh[order[i]].err.message);
			}
			image_reader_free(reader);
		}
	for (int i = 0; i < FILES; i++)
		i % 4 ? mem_free(files[i].bytes) : free(files[i].bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scans_times_pixels_are_bounded),
		cmocka_unit_test(windows_are_libjpegs),
		cmocka_unit_test(every_file_decodes_as_if_it_were_the_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
