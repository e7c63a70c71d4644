/* Transforms: what is cut out, how often, and that nothing but its arguments matters. */
#include "check_image.h"

#include "images/crop.h"
#include "images/transform.h"

#define AT(iteration, position) (&(const struct transform_place){iteration, position})

static const struct transform_config photos = {.kind = "crop",
	.size = 32,
	.resize = 36,
	.channels = 3,
	.flip = true,
	.mean = {.485f, .456f, .406f},
	.std = {.229f, .224f, .225f},
	.seed = 7};

static struct transform transform_of(const char *kind, int size, int channels)
{
	struct transform_config config = photos;
	struct transform transform;
	struct err err = {0};

	config.kind = kind;
	config.size = size;
	config.resize = size + 4;
	config.pad = 4;
	config.channels = channels;
	assert_ok(transform_init(&transform, &config, &err), err);
	return transform;
}

static struct transform_scratch *scratch_new(void)
{
	struct transform_scratch *scratch;
	struct err err = {0};

	assert_ok(transform_scratch_new(&scratch, &err), err);
	return scratch;
}

static struct transform_input pixels_of(const uint8_t *pixels, int width, int height, bool planar)
{
	return (struct transform_input){
		pixels, 3 * (size_t)width * (size_t)height, width, height, 3, planar};
}

static double normal(double level, int c)
{
	return (level / 255 - (double)photos.mean[c]) / (double)photos.std[c];
}

static void evaluation_is_pillows(void **state)
{
	static const struct {
		int width, height, shorter, size;
		const char *golden;
	} rows[] = {
		{61, 47, 36, 32, "resample-61x47-resize-36-32.bin"},
		{47, 61, 36, 32, "resample-47x61-resize-36-32.bin"},
		{200, 150, 36, 32, "resample-200x150-resize-36-32.bin"},
		{30, 90, 40, 33, "resample-30x90-resize-40-33.bin"},
	};
	struct transform_scratch *scratch = scratch_new();

	for (size_t i = 0; i < COUNT(rows); i++) {
		const int size = rows[i].size, area = size * size;
		uint8_t *pixels = picture(rows[i].width, rows[i].height, false);
		const struct transform_input input =
			pixels_of(pixels, rows[i].width, rows[i].height, false);
		const struct blob expected = golden(rows[i].golden);
		struct transform_config config = photos;
		struct transform transform;
		struct err err = {0};
		float out[3 * 33 * 33];

		config.size = size;
		config.resize = rows[i].shorter;
		assert_ok(transform_init(&transform, &config, &err), err);
		assert_ok(transform_apply(&transform, scratch, &input, NULL, out, &err), err);
		for (int k = 0; k < 3 * area; k++) {
			const double off =
				out[k % 3 * area + k / 3] - normal(expected.bytes[k], k % 3);

			if (fabs(off) * (double)photos.std[k % 3] * 255 > 1.1)
				fail_msg("%s: number %d is %g off", rows[i].golden, k, off);
		}
		mem_free(expected.bytes);
		mem_free(pixels);
	}
	transform_scratch_free(scratch);
}

/* Area uniform, ratio uniform in its logarithm and place uniform, by chi-square of ten bins each. */
static void crops_are_spread_evenly(void **state)
{
	enum { SAMPLES = 20000, BINS = 10, WIDTH = 4000, HEIGHT = 4000 };
	static const char *const names[] = {"area", "ratio", "column", "row", "flip"};
	int bins[5][BINS] = {{0}}, counted = 0;

	for (int i = 0; i < SAMPLES; i++) {
		const struct crop_chance chance = crop_chance_at(1, (uint64_t)(i / 256), i % 256);
		const struct image_window w = crop_random(chance, WIDTH, HEIGHT);
		const double area = (double)w.width * w.height / WIDTH / HEIGHT;
		const double ratio = log((double)w.width / w.height) / log(16.0 / 9) + 0.5;

		assert_true(area > 0.0799 && area <= 1 && ratio > -0.01 && ratio < 1.01);
		assert_true(
			w.x >= 0 && w.y >= 0 && w.x + w.width <= WIDTH && w.y + w.height <= HEIGHT);
		bins[4][crop_flip(chance) ? i % 5 : 5 + i % 5]++;
		/* Larger ones sometimes do not fit, and are drawn again. */
		if (area > 0.54)
			continue;
		counted++;
		bins[0][(int)((area - 0.0799) / (0.54 - 0.0799) * BINS)]++;
		bins[1][(int)((ratio + 0.001) / 1.002 * BINS)]++;
		bins[2][(int)((double)w.x / (WIDTH - w.width + 1) * BINS)]++;
		bins[3][(int)((double)w.y / (HEIGHT - w.height + 1) * BINS)]++;
	}
	for (int k = 0; k < 5; k++) {
		const double expected = (k == 4 ? SAMPLES : counted) / (double)BINS;
		double chi = 0;

		for (int b = 0; b < BINS; b++)
			chi += (bins[k][b] - expected) * (bins[k][b] - expected) / expected;
		/* 9 degrees of freedom: one in 10^5 is above 40. */
		if (chi > 40)
			fail_msg("%s: chi-square %g", names[k], chi);
	}
}

static void crops_of_odd_shapes_fit(void **state)
{
	static const struct image_window expected[] = {
		{0, 0, 1, 1}, {0, 498, 3, 4}, {498, 0, 4, 3}};
	static const int sizes[][2] = {{1, 1}, {3, 1000}, {1000, 3}};

	for (size_t i = 0; i < COUNT(sizes); i++)
		for (int k = 0; k < 100; k++) {
			const struct image_window w =
				crop_random(crop_chance_at(1, 0, k), sizes[i][0], sizes[i][1]);

			assert_true(w.width >= 1 && w.height >= 1 && w.x >= 0 && w.y >= 0);
			assert_true(w.x + w.width <= sizes[i][0] && w.y + w.height <= sizes[i][1]);
			/* An area of 8 % is never as narrow as this: always the middle. */
			assert_memory_equal(&w, &expected[i], sizeof(w));
		}
}

static void resized_as_torchvision_counts(void **state)
{
	int width, height;

	crop_resized(500, 375, 256, &width, &height);
	assert_int_equal(width, 341);
	assert_int_equal(height, 256);
	crop_resized(375, 500, 256, &width, &height);
	assert_int_equal(width, 256);
	assert_int_equal(height, 341);
	assert_int_equal(crop_centre(341, 224), 58); /* 58.5: to even */
	assert_int_equal(crop_centre(343, 224), 60); /* 59.5: to even */
	assert_int_equal(crop_centre(256, 224), 16);
}

static void only_arguments_matter(void **state)
{
	const struct transform transform = transform_of("crop", 32, 3);
	const struct blob file = golden("420.jpg"), other = golden("rgb8.png");
	const struct transform_input input = {file.bytes, file.size},
				     between = {other.bytes, other.size};
	struct transform_scratch *one = scratch_new(), *two = scratch_new();
	static float a[3 * 32 * 32], b[3 * 32 * 32];
	struct err err = {0};
	int different = 0;

	for (int i = 0; i < 20; i++) {
		assert_ok(transform_apply(&transform, one, &input, AT(5, i), a, &err), err);
		assert_ok(transform_apply(&transform, two, &between, AT(9, 3), b, &err), err);
		assert_ok(transform_apply(&transform, two, &input, NULL, b, &err), err);
		assert_ok(transform_apply(&transform, two, &input, AT(5, i), b, &err), err);
		assert_memory_equal(a, b, sizeof(a));
		assert_ok(transform_apply(&transform, two, &input, AT(6, i), b, &err), err);
		different += memcmp(a, b, sizeof(a)) != 0;
	}
	assert_int_equal(different, 20);
	transform_scratch_free(one);
	transform_scratch_free(two);
	mem_free(file.bytes);
	mem_free(other.bytes);
}

/* With a border of 4, 9 x 9 places and two directions, all about equally often. */
static void pads_and_flips(void **state)
{
	enum { SIZE = 8, SAMPLES = 8100 };
	const struct transform transform = transform_of("pad", SIZE, 3);
	uint8_t *pixels = picture(SIZE, SIZE, true);
	const struct transform_input input = pixels_of(pixels, SIZE, SIZE, true);
	struct transform_scratch *scratch = scratch_new();
	int seen[9][9][2] = {{{0}}};
	double chi = 0;

	for (int i = 0; i < SAMPLES; i++) {
		const struct crop_chance chance = crop_chance_at(photos.seed, (uint64_t)i, 1);
		const bool mirror = crop_flip(chance);
		float out[3 * SIZE * SIZE];
		struct err err = {0};
		int x, y;

		crop_shift(chance, 8, &x, &y);
		seen[y][x][mirror]++;
		assert_ok(
			transform_apply(&transform, scratch, &input, AT((uint64_t)i, 1), out, &err),
			err);
		for (int k = 0; k < 3 * SIZE * SIZE; k++) {
			const int c = k / (SIZE * SIZE), v = k / SIZE % SIZE + y - 4;
			const int u = (mirror ? SIZE - 1 - k % SIZE : k % SIZE) + x - 4;
			const bool inside = u >= 0 && v >= 0 && u < SIZE && v < SIZE;

			assert_true(fabs(out[k] - normal(inside ? picture_value(u, v, c) : 0, c)) <
				    1e-5);
		}
	}
	for (int i = 0; i < 162; i++) {
		const double off = (&seen[0][0][0])[i] - SAMPLES / 162.0;

		chi += off * off / (SAMPLES / 162.0);
	}
	assert_true(chi < 250); /* 161 degrees of freedom: one in 10^5 is above */
	mem_free(pixels);
	transform_scratch_free(scratch);
}

/* What has a right side and a left one is shifted all the same. */
static void nothing_flips_unless_it_may(void **state)
{
	enum { SIZE = 8 };
	struct transform transform = transform_of("pad", SIZE, 3);
	uint8_t *pixels = picture(SIZE, SIZE, true);
	const struct transform_input input = pixels_of(pixels, SIZE, SIZE, true);
	struct transform_scratch *scratch = scratch_new();

	transform.config.flip = false;
	for (int i = 0; i < 100; i++) {
		const struct crop_chance chance = crop_chance_at(photos.seed, (uint64_t)i, 1);
		float out[3 * SIZE * SIZE];
		struct err err = {0};
		int x, y;

		crop_shift(chance, 8, &x, &y);
		assert_ok(
			transform_apply(&transform, scratch, &input, AT((uint64_t)i, 1), out, &err),
			err);
		for (int k = 0; k < 3 * SIZE * SIZE; k++) {
			const int c = k / (SIZE * SIZE), v = k / SIZE % SIZE + y - 4;
			const int u = k % SIZE + x - 4;
			const bool inside = u >= 0 && v >= 0 && u < SIZE && v < SIZE;

			assert_true(fabs(out[k] - normal(inside ? picture_value(u, v, c) : 0, c)) <
				    1e-5);
		}
	}
	mem_free(pixels);
	transform_scratch_free(scratch);
}

static void plain_is_as_it_is(void **state)
{
	const struct transform transform = transform_of("plain", 28, 1);
	static uint8_t pixels[28 * 28];
	const struct transform_input input = {pixels, sizeof(pixels), 28, 28, 1, false};
	struct transform_scratch *scratch = scratch_new();
	float train[28 * 28], eval[28 * 28];
	struct err err = {0};

	for (int i = 0; i < 28 * 28; i++)
		pixels[i] = picture_value(i % 28, i / 28, 0);
	assert_ok(transform_apply(&transform, scratch, &input, AT(1, 2), train, &err), err);
	assert_ok(transform_apply(&transform, scratch, &input, NULL, eval, &err), err);
	assert_memory_equal(train, eval, sizeof(eval));
	for (int i = 0; i < 28 * 28; i++)
		assert_true(fabs(eval[i] - normal(pixels[i], 0)) < 1e-5);
	transform_scratch_free(scratch);
}

static void steady_work_allocates_nothing(void **state)
{
	const struct transform transform = transform_of("crop", 32, 3);
	const struct blob file = golden("444.jpg");
	const struct transform_input input = {file.bytes, file.size};
	struct transform_scratch *scratch = scratch_new();
	static float out[3 * 32 * 32];
	struct err err = {0};
	uint64_t before = 0;

	for (uint64_t i = 0; i < 200; i++) {
		if (i == 100)
			before = mem_count();
		assert_ok(transform_apply(&transform, scratch, &input, AT(i, 0), out, &err), err);
		assert_ok(transform_apply(&transform, scratch, &input, NULL, out, &err), err);
	}
	assert_int_equal(mem_count(), before);
	transform_scratch_free(scratch);
	mem_free(file.bytes);
}

static int transform_anew(void *context, struct err *err)
{
	const struct blob *file = context;
	const struct transform transform = transform_of("crop", 32, 3);
	const struct transform_input input = {file->bytes, file->size};
	struct transform_scratch *scratch = NULL;
	float out[3 * 32 * 32];
	int code = transform_scratch_new(&scratch, err);

	if (!code)
		code = transform_apply(&transform, scratch, &input, NULL, out, err);
	transform_scratch_free(scratch);
	return code;
}

static void allocations_may_fail(void **state)
{
	struct blob file = golden("420.jpg");

	assert_true(each_allocation_fails(transform_anew, &file) >= 7);
	mem_free(file.bytes);
}

static void refusals_say_why(void **state)
{
	struct transform transform;
	struct transform_config config = photos;
	struct transform_scratch *scratch = scratch_new();
	uint8_t *pixels = picture(20, 10, false);
	struct transform_input input = pixels_of(pixels, 20, 10, false);
	float out[3 * 32 * 32];
	struct err err = {0};

	config.kind = "corp";
	assert_int_equal(transform_init(&transform, &config, &err), ERR_INPUT);
	assert_says(err, "corp: no such transform");
	config = photos;
	config.resize = 31;
	assert_int_equal(transform_init(&transform, &config, &err), ERR_INPUT);
	assert_says(err, "31 pixels for a centre of 32");
	config = photos;
	config.std[1] = 0;
	assert_int_equal(transform_init(&transform, &config, &err), ERR_INPUT);
	config = photos;
	config.channels = 2;
	assert_int_equal(transform_init(&transform, &config, &err), ERR_INPUT);
	transform = transform_of("plain", 32, 3);
	assert_int_equal(transform_apply(&transform, scratch, &input, NULL, out, &err), ERR_FORMAT);
	assert_says(err, "20 x 10 pixels where 32 x 32 are expected");
	transform = transform_of("crop", 32, 3);
	input.size--;
	assert_int_equal(transform_apply(&transform, scratch, &input, NULL, out, &err), ERR_INPUT);
	assert_says(err, "599 bytes are less than");
	mem_free(pixels);
	transform_scratch_free(scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(evaluation_is_pillows),
		cmocka_unit_test(crops_are_spread_evenly),
		cmocka_unit_test(crops_of_odd_shapes_fit),
		cmocka_unit_test(resized_as_torchvision_counts),
		cmocka_unit_test(only_arguments_matter),
		cmocka_unit_test(pads_and_flips),
		cmocka_unit_test(nothing_flips_unless_it_may),
		cmocka_unit_test(plain_is_as_it_is),
		cmocka_unit_test(steady_work_allocates_nothing),
		cmocka_unit_test(allocations_may_fail),
		cmocka_unit_test(refusals_say_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
