/* Pictures seen otherwise: small ones whose pixels can be told by hand. */
#include "../base/check.h"

#include "images/warp.h"

static const struct warp as_is = {.zoom = 1, .contrast = 1, .saturation = 1};
static const struct transform_config grey = {.channels = 1, .std = {1}};

static void assert_picture(const struct warp *warp, struct transform_config config, int size,
	const float *in, const float *expected)
{
	float out[3 * 16];

	config.size = size;
	warp_apply(warp, &config, in, out);
	for (int i = 0; i < config.channels * size * size; i++)
		assert_float_equal(out[i], expected[i], 1e-5);
}

static void nothing_changes_nothing(void **state)
{
	static const float in[] = {0, 0.25f, 0.5f, 1};
	static const float colours[] = {0.1f, 0.9f, 0.4f};
	const struct transform_config rgb = {
		.channels = 3, .mean = {0.5f, 0.4f, 0.3f}, .std = {0.2f, 0.3f, 0.4f}};

	assert_picture(&as_is, grey, 2, in, in);
	assert_picture(&as_is, rgb, 1, colours, colours);
}

static void turns_clockwise(void **state)
{
	static const float in[] = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f, 0.7f, 0.8f, 0.9f};
	static const float quarter[] = {0.7f, 0.4f, 0.1f, 0.8f, 0.5f, 0.2f, 0.9f, 0.6f, 0.3f};
	static const float half[] = {0.9f, 0.8f, 0.7f, 0.6f, 0.5f, 0.4f, 0.3f, 0.2f, 0.1f};
	struct warp warp = as_is;

	warp.turn = 0.25;
	assert_picture(&warp, grey, 3, in, quarter);
	warp.turn = -0.5;
	assert_picture(&warp, grey, 3, in, half);
}

/* Values are those of the place; outside is the edge. */
static void zooms_about_the_centre(void **state)
{
	float in[16], large[16], small[16];
	static const float near[] = {0.075f, 0.125f, 0.175f, 0.225f},
			   far[] = {0, 0.05f, 0.25f, 0.3f};
	struct warp warp = as_is;

	for (int i = 0; i < 16; i++) {
		in[i] = (float)(i % 4) / 10;
		large[i] = near[i % 4];
		small[i] = far[i % 4];
	}
	warp.zoom = 2;
	assert_picture(&warp, grey, 4, in, large);
	warp.zoom = 0.5;
	assert_picture(&warp, grey, 4, in, small);
}

/* Of pixels, whatever they are normalised to. */
static void contrast_and_brightness(void **state)
{
	static const float in[] = {0.6f, 0.9f, 0.45f, 0}, out[] = {0.8f, 1, 0.5f, 0};
	const struct transform_config config = {.channels = 1, .mean = {0.5f}, .std = {0.25f}};
	struct warp warp = as_is;
	float from[4], to[4];

	warp.contrast = 2;
	warp.brightness = 0.1;
	for (int i = 0; i < 4; i++) {
		from[i] = (in[i] - 0.5f) / 0.25f;
		to[i] = (out[i] - 0.5f) / 0.25f;
	}
	assert_picture(&warp, config, 2, from, to);
}

/* A third of a turn takes red to green, green to blue, blue to red. */
static void colours_turn(void **state)
{
	static const float in[] = {0.9f, 0.2f, 0.4f}, turned[] = {0.4f, 0.9f, 0.2f};
	static const float none[] = {0.5f, 0.5f, 0.5f};
	const struct transform_config rgb = {.channels = 3, .std = {1, 1, 1}};
	struct warp warp = as_is;

	warp.hue = 1.0 / 3;
	assert_picture(&warp, rgb, 1, in, turned);
	warp.saturation = 0;
	assert_picture(&warp, rgb, 1, in, none);
}

/* A slope stays one, also where rows are longer than what is made at a time. */
static void wide_pictures(void **state)
{
	enum { SIZE = 150 };
	static float in[SIZE * SIZE], out[SIZE * SIZE];
	struct transform_config config = grey;
	struct warp warp = as_is;

	config.size = SIZE;
	warp.turn = 1.0 / 12;
	for (int i = 0; i < SIZE * SIZE; i++)
		in[i] = (float)(i % SIZE) / SIZE;
	warp_apply(&warp, &config, in, out);
	for (int y = 40; y < 110; y++)
		for (int x = 40; x < 110; x++) {
			const double right = x - 74.5, down = y - 74.5;

			assert_float_equal(out[y * SIZE + x],
				(74.5 + right * 0.8660254 + down * 0.5) / SIZE, 1e-5);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_changes_nothing),
		cmocka_unit_test(turns_clockwise),
		cmocka_unit_test(zooms_about_the_centre),
		cmocka_unit_test(contrast_and_brightness),
		cmocka_unit_test(colours_turn),
		cmocka_unit_test(wide_pictures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
