/* Resampling against Pillow's results, against the definition, and between instruction sets. */
#include "check_image.h"

#include "images/resample.h"

enum { SIZE_MAX_ = 64 };

static const float ones[3] = {1, 1, 1}, zeros[3];

static struct image image_of(const uint8_t *pixels, int width, int height, bool planar)
{
	return (struct image){.pixels = pixels,
		.width = width,
		.height = height,
		.components = 3,
		.planar = planar,
		.stride = (size_t)width * (planar ? 1 : 3),
		.ratio = 1};
}

static struct resample_job job_of(const struct image_window *w, int size)
{
	return (struct resample_job){
		.x = {w->x, (double)w->width / size, w->x, w->x + w->width, size, false},
		.y = {w->y, (double)w->height / size, w->y, w->y + w->height, size, false},
		.channels = 3,
		.scale = ones,
		.shift = zeros,
		.kernels = pixel_kernels_at(0)};
}

static void run(const struct image *image, const struct resample_job *job, float *out)
{
	struct resample_scratch scratch = {0};
	struct err err = {0};

	assert_ok(resample(image, job, &scratch, out, &err), err);
	resample_release(&scratch);
}

static void pillow_agrees(void **state)
{
	static const struct {
		int width, height;
		struct image_window part;
		int size;
		const char *golden;
	} rows[] = {
		{61, 47, {0, 0, 61, 47}, 32, "resample-61x47-0-0-61-47-32.bin"},
		{61, 47, {5, 3, 17, 40}, 32, "resample-61x47-5-3-17-40-32.bin"},
		{61, 47, {20, 10, 9, 8}, 32, "resample-61x47-20-10-9-8-32.bin"},
		{61, 47, {60, 46, 1, 1}, 16, "resample-61x47-60-46-1-1-16.bin"},
		{200, 150, {13, 7, 151, 131}, 24, "resample-200x150-13-7-151-131-24.bin"},
		{200, 150, {0, 0, 200, 150}, 48, "resample-200x150-0-0-200-150-48.bin"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const int size = rows[i].size;
		uint8_t *pixels = picture(rows[i].width, rows[i].height, false);
		const struct image image = image_of(pixels, rows[i].width, rows[i].height, false);
		const struct resample_job job = job_of(&rows[i].part, size);
		const struct blob expected = golden(rows[i].golden);
		float out[3 * SIZE_MAX_ * SIZE_MAX_];
		double sum = 0;

		run(&image, &job, out);
		assert_int_equal(expected.size, 3 * size * size);
		for (int k = 0; k < 3 * size * size; k++) {
			const double off =
				fabs(out[k % 3 * size * size + k / 3] - (double)expected.bytes[k]);

			/* Pillow rounds to whole levels twice. */
			if (off > 1.1)
				fail_msg("%s: number %d is %g, Pillow has %d", rows[i].golden, k,
					(double)out[k % 3 * size * size + k / 3],
					expected.bytes[k]);
			sum += off;
		}
		assert_true(sum / (3 * size * size) < 0.35);
		mem_free(expected.bytes);
		mem_free(pixels);
	}
}

static void same_size_is_exact(void **state)
{
	static const struct image_window all = {0, 0, 19, 19};
	uint8_t *pixels = picture(19, 19, false);
	const struct image image = image_of(pixels, 19, 19, false);
	struct resample_job job = job_of(&all, 19);
	float out[3 * 19 * 19];

	for (int mirror = 0; mirror < 2; mirror++) {
		job.x.mirror = mirror;
		run(&image, &job, out);
		for (int i = 0; i < 19 * 19; i++)
			for (int c = 0; c < 3; c++)
				assert_true(
					out[c * 361 + i] ==
					picture_value(mirror ? 18 - i % 19 : i % 19, i / 19, c));
	}
	mem_free(pixels);
}

static void one_colour_stays_what_it_is(void **state)
{
	static uint8_t pixels[3 * 300 * 200];
	const struct image image = image_of(pixels, 300, 200, false);

	for (int level = 0; level < 256; level += 51) {
		memset(pixels, level, sizeof(pixels));
		for (int size = 1; size < 40; size += 6) {
			const struct image_window w = {3, 2, 290, 7 * size > 190 ? 190 : 7 * size};
			const struct resample_job job = job_of(&w, size);
			float out[3 * 40 * 40];

			run(&image, &job, out);
			for (int k = 0; k < 3 * size * size; k++)
				assert_true(fabs(out[k] - (double)level) < 0.26);
		}
	}
}

/* Weights in double precision over the whole picture, with nothing reduced or rounded. */
static double exact(const struct resample_job *job, int x, int y, int c)
{
	const double sx = job->x.scale > 1 ? job->x.scale : 1,
		     sy = job->y.scale > 1 ? job->y.scale : 1;
	double sum = 0, total = 0;

	for (int v = job->y.low; v < job->y.high; v++)
		for (int u = job->x.low; u < job->x.high; u++) {
			const double dx =
				1 - fabs(u + .5 - job->x.start - (x + .5) * job->x.scale) / sx;
			const double dy =
				1 - fabs(v + .5 - job->y.start - (y + .5) * job->y.scale) / sy;

			if (dx > 0 && dy > 0) {
				sum += dx * dy * picture_value(u, v, c);
				total += dx * dy;
			}
		}
	return sum / total;
}

static void the_definition_holds(void **state)
{
	/* From enlargement to a reduction by 150, which is done in two steps. */
	static const struct {
		struct image_window part;
		int size;
		double most;
	} rows[] = {
		{{100, 50, 7, 11}, 20, 0.2},
		{{0, 0, 300, 200}, 20, 0.2},
		{{1, 3, 299, 20}, 2, 1.5},
		{{0, 0, 300, 200}, 2, 1.5},
		{{250, 3, 37, 190}, 3, 1.5},
	};
	uint8_t *pixels = picture(300, 200, true);
	const struct image image = image_of(pixels, 300, 200, true);

	for (size_t i = 0; i < COUNT(rows); i++) {
		const int size = rows[i].size;
		const struct resample_job job = job_of(&rows[i].part, size);
		float out[3 * 20 * 20];

		run(&image, &job, out);
		for (int k = 0; k < 3 * size * size; k++) {
			const double e = exact(&job, k % size, k / size % size, k / (size * size));

			if (fabs(out[k] - e) > rows[i].most)
				fail_msg("row %zu, number %d: %g, expected %g", i, k,
					(double)out[k], e);
		}
	}
	mem_free(pixels);
}

/* Every table of kernels, planes or not, any width: the same bits. */
static void instruction_sets_agree(void **state)
{
	static const float scale[3] = {0.0171247f, 0.0175070f, 0.0174291f},
			   shift[3] = {-2.1f, -2.03f, -1.8f};
	const struct rng rng = {3, RNG_TEST};
	uint64_t n = 0;

	for (int i = 0; i < 60; i++) {
		const int width = 1 + (int)rng_below(rng, n++, 90),
			  height = 1 + (int)rng_below(rng, n++, 90);
		const int size = 1 + (int)rng_below(rng, n++, 50);
		const struct image_window all = {0, 0, width, height};
		struct resample_job job = job_of(&all, size);
		static float first[3 * 50 * 50], out[3 * 50 * 50];

		job.scale = scale;
		job.shift = shift;
		job.x.mirror = i % 2;
		for (int planar = 0; planar < 2; planar++) {
			uint8_t *pixels = picture(width, height, planar);
			const struct image image = image_of(pixels, width, height, planar);

			for (int k = 0; pixel_kernels_at(k); k++) {
				const size_t bytes =
					sizeof(float) * 3 * (size_t)size * (size_t)size;

				job.kernels = pixel_kernels_at(k);
				run(&image, &job, planar || k ? out : first);
				if (memcmp(planar || k ? out : first, first, bytes))
					fail_msg("%d x %d to %d: %s, %s differs", width, height,
						size, job.kernels->isa,
						planar ? "planes" : "pixels");
			}
			mem_free(pixels);
		}
	}
}

static void grey_fills_all_channels(void **state)
{
	static const struct image_window all = {0, 0, 30, 20};
	uint8_t *pixels = picture(10, 20, false);
	struct image image = image_of(pixels, 30, 20, false);
	const struct resample_job job = job_of(&all, 17);
	float out[3 * 17 * 17];

	image.components = 1;
	image.stride = 30;
	for (int planar = 0; planar < 2; planar++) {
		image.planar = planar;
		run(&image, &job, out);
		assert_memory_equal(out, out + 289, 289 * sizeof(float));
		assert_memory_equal(out, out + 2 * 289, 289 * sizeof(float));
	}
	mem_free(pixels);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pillow_agrees),
		cmocka_unit_test(same_size_is_exact),
		cmocka_unit_test(one_colour_stays_what_it_is),
		cmocka_unit_test(the_definition_holds),
		cmocka_unit_test(instruction_sets_agree),
		cmocka_unit_test(grey_fills_all_channels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
