/*
 * Pictures as a program names them: the same bits on any number of threads, a batch's rows augmented
 * each by its place, and the unreadable replaced by the nearest readable one.
 */
#include "streams/pictures.h"

#include "../images/check_image.h"

enum { SIDE = 8, PIXELS = 3 * SIDE * SIDE, N = 40, OUT = 12, FLOATS = 3 * OUT * OUT };

static struct pictures *opened(const char *loaders, const int shape[3])
{
	const char *const settings[] = {
		"image.size=12", "image.transform=crop", "run.seed=5", loaders, NULL};
	struct pictures *pictures;
	struct err err = {0};

	assert_ok(pictures_open(&pictures, settings, shape, &err), err);
	return pictures;
}

static void read_all(struct pictures *pictures, const struct picture *list, int64_t iteration,
	float *out, int64_t *rows)
{
	static struct err errs[N];
	struct err err = {0};

	assert_ok(pictures_read(pictures, list, N, iteration, out, rows, errs, &err), err);
	for (int i = 0; i < N; i++)
		assert_true((errs[i].code != 0) == (rows[i] != i));
}

static void threads_do_not_matter(void **state)
{
	static const char *const loaders[] = {
		"stream.loaders=0", "stream.loaders=1", "stream.loaders=3"};
	static uint8_t pixels[N][PIXELS];
	static float out[3][N * FLOATS], again[N * FLOATS];
	struct picture list[N];
	int64_t rows[N];

	(void)state;
	for (int i = 0; i < N; i++) {
		for (int p = 0; p < PIXELS; p++)
			pixels[i][p] = (uint8_t)(i * 31 + p * 7);
		list[i] = (struct picture){"pixels", pixels[i], PIXELS};
	}
	for (int t = 0; t < 3; t++) {
		struct pictures *pictures = opened(loaders[t], (const int[3]){3, SIDE, SIDE});
		int shape[3];

		pictures_shape(pictures, shape);
		assert_true(shape[0] == 3 && shape[1] == OUT && shape[2] == OUT);
		read_all(pictures, list, 7, out[t], rows);
		read_all(pictures, list, t ? 8 : -1, again, rows);
		assert_memory_not_equal(out[t], again, sizeof(again));
		assert_memory_equal(out[t], out[0], sizeof(out[0]));
		pictures_close(pictures);
	}
}

static void unreadable_ones_are_replaced(void **state)
{
	const struct blob blob = golden("444.jpg");
	struct pictures *pictures = opened("stream.loaders=2", (const int[3]){0});
	static float out[N * FLOATS], whole[N * FLOATS];
	struct picture list[N];
	struct err errs[N], err = {0};
	int64_t rows[N];

	(void)state;
	for (int i = 0; i < N; i++)
		list[i] = (struct picture){"good", blob.bytes, blob.size};
	read_all(pictures, list, 1, whole, rows);
	list[0] = list[1] = (struct picture){"cut short", blob.bytes, 100};
	list[9] = list[10] = (struct picture){.name = "/nowhere/to/be/found.jpg"};
	read_all(pictures, list, 1, out, rows);
	for (int i = 0; i < N; i++)
		assert_int_equal(rows[i], i < 2 ? 2 : i == 9 || i == 10 ? 8 : i);
	/* All are the same picture, so a row does not show which one it was made of. */
	assert_memory_equal(out, whole, sizeof(out));
	assert_int_equal(pictures_read(pictures, list, 2, 1, out, rows, errs, &err), ERR_FORMAT);
	assert_non_null(strstr(err.message, "cut short: "));
	assert_int_equal(pictures_read(pictures, list + 9, 2, 1, out, rows, errs, &err), ERR_FILE);
	assert_non_null(strstr(err.message, "/nowhere/to/be/found.jpg"));
	pictures_close(pictures);
	mem_free(blob.bytes);
}

static void what_does_not_fit_is_refused(void **state)
{
	struct pictures *pictures = opened("stream.loaders=0", (const int[3]){3, SIDE, SIDE});
	const struct picture list = {"short", "", 1};
	const char *const wrong[] = {"image.size=no", NULL};
	struct err errs[1], err = {0};
	static float out[FLOATS];
	int64_t rows[1];

	(void)state;
	assert_int_equal(pictures_read(pictures, &list, 1, 1, out, rows, errs, &err), ERR_INPUT);
	assert_non_null(strstr(err.message, "short: has 1 bytes of pixels, not 192"));
	assert_int_equal(pictures_read(pictures, &list, 0, 1, out, rows, errs, &err), ERR_INPUT);
	assert_int_equal(pictures_read(pictures, &list, 1, INT64_C(1) << 40, out, rows, errs, &err),
		ERR_INPUT);
	pictures_close(pictures);
	assert_int_equal(pictures_open(&pictures, wrong, (const int[3]){0}, &err), ERR_INPUT);
	assert_non_null(strstr(err.message, "image.size"));
	assert_null(pictures);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_do_not_matter),
		cmocka_unit_test(unreadable_ones_are_replaced),
		cmocka_unit_test(what_does_not_fit_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
