/*
 * Photos: the same bits on every machine, whatever they are asked for with; labels and albums that
 * are drift's; albums whose photos are alike; any size; and seasons, cameras, things that show.
 */
#include "check.h"

#include "base/checksum.h"
#include "streams/made/photos_scene.h"
#include "cells.h"

enum { SIZE = 32, PHOTO = 3 * SIZE * SIZE, N = 64 };

#define PHOTOS "stream.source=photos"

static void inputs_of(
	struct source *source, enum source_part part, const int64_t *ids, int n, float *inputs)
{
	struct err err;

	assert_ok(source_inputs(source, part, ids, n, inputs, &err), err);
}

static struct photos_world *photos_with(const char *const *settings)
{
	struct options *options = options_with(settings);
	struct photos_config config;
	struct photos_world *world;
	struct err err;

	photos_config_read(&config, options);
	assert_ok(photos_world_new(&world, &config, &err), err);
	options_free(options);
	return world;
}

/* What byte a number stands for; it must be one. */
static int byte_of(float value)
{
	const double byte = (double)value * 44 + 124, whole = floor(byte + 0.5);

	if (fabs(byte - whole) > 1e-4 || whole < 0 || whole > 255)
		fail_msg("%g is no byte of a photo", (double)value);
	return (int)whole;
}

static uint64_t digest(struct source *source, enum source_part part, int64_t first, int64_t stride)
{
	const struct source_info *info = source_info(source);
	const size_t numbers = (size_t)(3 * info->height * info->width);
	float *input = mem_new(numbers, sizeof(float));
	unsigned char *bytes = mem_new(numbers, 1);
	uint64_t sum = 0;

	assert_non_null(input);
	assert_non_null(bytes);
	for (int i = 0; i < 24; i++) {
		const int64_t id = (first + i * stride) % (part ? info->evals : info->samples);

		inputs_of(source, part, &id, 1, input);
		for (size_t k = 0; k < numbers; k++)
			bytes[k] = (unsigned char)byte_of(input[k]);
		sum = sum * 31 + checksum_add(0, bytes, numbers);
	}
	mem_free(input);
	mem_free(bytes);
	return sum;
}

/* Runs made today must be repeatable tomorrow, and on any other machine. */
static void photos_are_frozen(void **state)
{
	static const struct {
		const char *setting;
		enum source_part part;
		uint64_t sum;
	} rows[] = {
		{"photos.size=32", SOURCE_STREAM, 0x140549ab33671474},
		{"photos.size=32", SOURCE_EVAL, 0xaff86ac8e814ed23},
		{"photos.size=57", SOURCE_STREAM, 0xbf14b9230a89d64b},
		{"photos.stationary=true", SOURCE_STREAM, 0x527a18b1f9122be4},
		{"photos.classes=100", SOURCE_EVAL, 0xcec85bd16297d34b},
		{"run.seed=7", SOURCE_STREAM, 0x68609ab9877e1540},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct source *source = source_with(SETTINGS(PHOTOS, rows[i].setting));
		const uint64_t sum = digest(source, rows[i].part, 11, 797);

		if (sum != rows[i].sum)
			fail_msg("%s, part %d: other photos, 0x%llx", rows[i].setting,
				(int)rows[i].part, (unsigned long long)sum);
		source_close(source);
	}
}

/* Nor does it matter what was in the place of a photo before. */
static void any_split_and_order_give_the_same_bits(void **state)
{
	static float whole[N * PHOTO], part[N * PHOTO];
	struct source *source = source_with(SETTINGS(PHOTOS)),
		      *again = source_with(SETTINGS(PHOTOS));
	int64_t ids[N];

	for (int i = 0; i < N; i++)
		ids[i] = i * 293 % source_info(source)->samples;
	inputs_of(source, SOURCE_STREAM, ids, N, whole);
	for (int i = 0; i < N * PHOTO; i++)
		part[i] = i % 7 ? (float)(i % 1000) : NAN;
	for (int i = N; i-- > 0;)
		inputs_of(again, SOURCE_STREAM, ids + i, 1, part + i * PHOTO);
	assert_memory_equal(whole, part, sizeof(whole));
	source_close(source);
	source_close(again);
}

static void info_says_what_there_is(void **state)
{
	struct source *source = source_with(SETTINGS(PHOTOS, "photos.steps=70", "photos.per_step=9",
		"photos.eval_per_step=2", "photos.size=48", "photos.classes=7"));
	const struct source_info *info = source_info(source);

	assert_int_equal(info->classes, 7);
	assert_int_equal(info->channels, 3);
	assert_int_equal(info->height, 48);
	assert_int_equal(info->width, 48);
	assert_int_equal(info->samples, 630);
	assert_int_equal(info->evals, 140);
	assert_int_equal(info->per_step, 9);
	assert_true(source_eval_time(source, 0) == 0);
	assert_true(source_eval_time(source, 139) == 69 / 70.0);
	source_close(source);
}

/* With the same keys, photos have the labels of drift, sample by sample. */
static void labels_are_those_of_drift(void **state)
{
	struct source *photos = source_with(SETTINGS(PHOTOS, "photos.steps=500",
		"photos.classes=50", "photos.label_noise=0.2", "photos.eval_per_step=3"));
	struct source *drift = source_with(SETTINGS("drift.steps=500", "drift.classes=50",
		"drift.label_noise=0.2", "drift.eval_per_step=3"));

	for (int part = SOURCE_STREAM; part <= SOURCE_EVAL; part++)
		for (int64_t id = 0; id < 1500; id++) {
			int32_t a, b;
			struct err err;

			assert_ok(source_labels(photos, part, &id, 1, CELLS(&a), &err), err);
			assert_ok(source_labels(drift, part, &id, 1, CELLS(&b), &err), err);
			assert_int_equal(a, b);
		}
	source_close(photos);
	source_close(drift);
}

static void no_class_before_its_birth(void **state)
{
	struct source *source = source_with(SETTINGS(PHOTOS));
	struct photos_world *world = photos_with(SETTINGS(PHOTOS));
	bool seen[20] = {false};
	int count = 0;

	for (int64_t id = 0; id < source_info(source)->samples; id++) {
		int32_t label;
		struct err err;

		assert_ok(source_labels(source, SOURCE_STREAM, &id, 1, CELLS(&label), &err), err);
		assert_true(world->drift->births[label] <= (double)(id / 32) / 600);
		count += !seen[label];
		seen[label] = true;
	}
	assert_true(count >= 18);
	photos_world_free(world);
	source_close(source);
}

/* The mean squared difference of two photos' numbers. */
static double difference(const float *a, const float *b)
{
	double sum = 0;

	for (int i = 0; i < PHOTO; i++)
		sum += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
	return sum / PHOTO;
}

/* Neighbours of an album are alike; of one class, less so, but more than of any two classes. */
static void albums_are_alike(void **state)
{
	enum { PHOTOS_SEEN = 600 };
	static float photos[PHOTOS_SEEN][PHOTO];
	struct source *source = source_with(SETTINGS(PHOTOS));
	struct photos_world *world = photos_with(SETTINGS(PHOTOS));
	double sums[3] = {0};
	int counts[3] = {0};

	for (int64_t id = 0; id < PHOTOS_SEEN; id++)
		inputs_of(source, SOURCE_STREAM, &id, 1, photos[id]);
	for (int64_t a = 0; a < PHOTOS_SEEN; a++)
		for (int64_t b = a + 1; b < PHOTOS_SEEN && b < a + 100; b++) {
			const struct drift_album one =
				drift_album_of(world->drift, SOURCE_STREAM, a);
			const struct drift_album two =
				drift_album_of(world->drift, SOURCE_STREAM, b);
			const int kind = one.number == two.number ? 0
					 : one.class == two.class ? 1
								  : 2;

			sums[kind] += difference(photos[a], photos[b]);
			counts[kind]++;
		}
	for (int i = 0; i < 3; i++)
		sums[i] /= counts[i];
	print_message("# differences: in an album %.2f, a class %.2f, else %.2f\n", sums[0],
		sums[1], sums[2]);
	assert_true(sums[0] < 0.6 * sums[1]);
	assert_true(sums[1] < sums[2]);
	photos_world_free(world);
	source_close(source);
}

/* Nothing of the stream is in the evaluation. */
static void evaluation_is_never_trained_on(void **state)
{
	static float stream[500][PHOTO], eval[PHOTO];
	struct source *source =
		source_with(SETTINGS(PHOTOS, "photos.steps=50", "photos.per_step=10"));

	for (int64_t id = 0; id < 500; id++)
		inputs_of(source, SOURCE_STREAM, &id, 1, stream[id]);
	for (int64_t id = 0; id < source_info(source)->evals; id++) {
		inputs_of(source, SOURCE_EVAL, &id, 1, eval);
		for (int i = 0; i < 500; i++)
			assert_true(memcmp(eval, stream[i], sizeof(eval)) != 0);
	}
	source_close(source);
}

/* A photo is the same picture at any size: it has about the same mean colour. */
static void any_size_works(void **state)
{
	static const int sizes[] = {8, 16, 31, 32, 57, 64, 224, 512};
	static float input[3 * 512 * 512 + 1];
	double first = 0;

	for (size_t i = 0; i < COUNT(sizes); i++) {
		const int size = sizes[i];
		const size_t numbers = (size_t)(3 * size * size);
		char setting[32];
		struct source *source;
		double mean = 0;

		snprintf(setting, sizeof(setting), "photos.size=%d", size);
		source = source_with(SETTINGS(PHOTOS, setting));
		for (int64_t id = 0; id < 12; id++) {
			input[numbers] = 77;
			inputs_of(source, SOURCE_EVAL, &(int64_t){id * 97}, 1, input);
			assert_true(input[numbers] == 77);
			for (size_t k = 0; k < numbers; k++)
				mean += byte_of(input[k]) / (double)numbers / 12;
		}
		if (i == 0)
			first = mean;
		if (!(fabs(mean - first) < 3))
			fail_msg("size %d: mean %g, not %g", size, mean, first);
		source_close(source);
	}
}

static void inputs_are_centred_and_of_unit_variance(void **state)
{
	static float input[PHOTO];
	double sums[3] = {0}, squares[3] = {0}, n = 0;

	for (int seed = 1; seed <= 4; seed++) {
		char setting[32];
		struct source *source;

		snprintf(setting, sizeof(setting), "run.seed=%d", seed);
		source = source_with(SETTINGS(PHOTOS, setting));
		for (int64_t id = 0; id < 19200; id += 97, n += SIZE * SIZE) {
			inputs_of(source, SOURCE_STREAM, &id, 1, input);
			for (int i = 0; i < PHOTO; i++) {
				sums[i / (SIZE * SIZE)] += input[i];
				squares[i / (SIZE * SIZE)] += input[i] * input[i];
			}
		}
		source_close(source);
	}
	for (int c = 0; c < 3; c++) {
		print_message("# colour %d: mean %.2f, variance %.2f\n", c, sums[c] / n,
			squares[c] / n - sums[c] / n * (sums[c] / n));
		assert_true(fabs(sums[c] / n) < 0.25);
		assert_true(squares[c] / n > 0.7 && squares[c] / n < 1.4);
	}
}

/* Leaves are green in summer, brown in autumn; snow falls in winter, and not in the south. */
static void seasons_show(void **state)
{
	struct photos_world *world = photos_with(SETTINGS(PHOTOS));
	int snowy = 0, seen = 0;

	for (int64_t id = 0; id < 2400; id++) {
		struct photos_scene scene;
		const struct drift_album album = drift_album_of(world->drift, SOURCE_EVAL, id);
		const double turn =
			8 * (id / 4 / 600.0) + (world->drift->signs[album.class] > 0 ? 0 : 0.5);
		const double summer = sin(2 * acos(-1) * turn);
		const float *leaves;
		bool landmark = false;

		photos_scene_of(world, SOURCE_EVAL, id, &scene);
		leaves = scene.things[1].paints[PAINT_LEAVES].c;
		for (int i = 0; i < scene.count; i++)
			landmark |= (scene.things[i].kind->uses & THING_LANDMARK) != 0;
		assert_true(landmark && scene.count >= 2 && scene.count <= PHOTOS_THINGS);
		assert_true(scene.view.zoom > 0.3f);
		if (scene.light.dark > 0 || scene.light.disc < 1)
			continue;
		if (summer > 0.95)
			assert_true(leaves[1] > leaves[0]);
		if (summer < -0.95) {
			snowy += scene.things[1].paints[PAINT_ROOF].c[2] > 0.6f;
			seen++;
		}
	}
	assert_true(seen > 50);
	assert_true(snowy > seen / 4 && snowy < seen);
	photos_world_free(world);
}

/* Old cameras are softer and grainier than new ones; with one generation there is no such drift. */
static void cameras_get_better(void **state)
{
	const struct rng rng = {1, RNG_TEST};

	for (int i = 1; i < 5; i++) {
		const struct camera before = camera_of(rng, i - 1, 5), after = camera_of(rng, i, 5);

		assert_true(after.grain < before.grain);
		assert_true(after.saturation > before.saturation);
	}
	assert_true(camera_of(rng, 0, 5).soft > camera_of(rng, 4, 5).soft);
	assert_true(camera_of(rng, 0, 1).grain == camera_of(rng, 4, 5).grain);
}

/* The same photo without grain, clutter or jitter differs; with all of them off, an album's photos
 * differ by the light only. */
static void levels_can_be_turned_off(void **state)
{
	static const char *const keys[] = {"photos.grain=0", "photos.clutter=0",
		"photos.viewpoint=0", "photos.night=0", "photos.weather=0", "photos.cameras=1"};
	struct source *source = source_with(SETTINGS(PHOTOS));
	const uint64_t usual = digest(source, SOURCE_STREAM, 0, 401);

	source_close(source);
	for (size_t i = 0; i < COUNT(keys); i++) {
		source = source_with(SETTINGS(PHOTOS, keys[i]));
		if (digest(source, SOURCE_STREAM, 0, 401) == usual)
			fail_msg("%s changes nothing", keys[i]);
		source_close(source);
	}
}

static void stationary_has_one_season_and_camera(void **state)
{
	struct photos_world *world = photos_with(SETTINGS(PHOTOS, "photos.stationary=true"));

	for (int64_t id = 0; id < 2400; id += 7) {
		struct photos_scene scene;

		photos_scene_of(world, SOURCE_EVAL, id, &scene);
		/* Of five generations time stands in the third, which nearly all albums have. */
		assert_true(scene.camera.saturation > 0.7f && scene.camera.saturation < 1.1f);
		if (scene.light.dark == 0 && scene.light.disc == 1)
			assert_true(scene.things[1].paints[PAINT_LEAVES].c[1] >
				    scene.things[1].paints[PAINT_LEAVES].c[2]);
	}
	photos_world_free(world);
}

static void bad_keys_are_refused(void **state)
{
	static const struct {
		const char *setting, *says;
	} rows[] = {
		{"photos.size=4", "photos.size"},
		{"photos.size=1000", "photos.size"},
		{"photos.sise=32", "photos.size"},
		{"photos.night=1.5", "photos.night"},
		{"photos.cameras=0", "photos.cameras"},
		{"photos.grain=-1", "photos.grain"},
		{"photos.viewpoint=3", "photos.viewpoint"},
		{"photos.dim=3", "photos.dim"},
	};
	struct options *options = options_with(NULL);

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err err = {0};

		assert_int_equal(options_assign(options, rows[i].setting, "test", &err), ERR_INPUT);
		assert_says(err, rows[i].says);
	}
	options_free(options);
}

/* Extreme keys must not lead outside of anything. */
static void extremes_are_borne(void **state)
{
	static const char *const rows[][4] = {
		{PHOTOS, "photos.night=1", "photos.weather=1", "photos.clutter=2"},
		{PHOTOS, "photos.night=0", "photos.viewpoint=1.5", "photos.grain=10"},
		{PHOTOS, "photos.walk=1000", "photos.class_sd=1000", "photos.global_walk=1000"},
		{PHOTOS, "photos.classes=1", "photos.modes=1", "photos.steps=1"},
		{PHOTOS, "photos.classes=1000", "photos.seasons=0", "photos.cameras=100"},
		{PHOTOS, "photos.seed=9223372036854775807", "photos.size=8", "photos.knots=2"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct source *source =
			source_with(SETTINGS(rows[i][0], rows[i][1], rows[i][2], rows[i][3]));

		digest(source, SOURCE_STREAM, 0, 97);
		digest(source, SOURCE_EVAL, 1, 13);
		source_close(source);
	}
}

static void memory_may_run_out(void **state)
{
	struct options *options = options_with(SETTINGS(PHOTOS));

	assert_true(each_allocation_fails(try_opening, options) >= 5);
	options_free(options);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(photos_are_frozen),
		cmocka_unit_test(any_split_and_order_give_the_same_bits),
		cmocka_unit_test(info_says_what_there_is),
		cmocka_unit_test(labels_are_those_of_drift),
		cmocka_unit_test(no_class_before_its_birth),
		cmocka_unit_test(albums_are_alike),
		cmocka_unit_test(evaluation_is_never_trained_on),
		cmocka_unit_test(any_size_works),
		cmocka_unit_test(inputs_are_centred_and_of_unit_variance),
		cmocka_unit_test(seasons_show),
		cmocka_unit_test(cameras_get_better),
		cmocka_unit_test(levels_can_be_turned_off),
		cmocka_unit_test(stationary_has_one_season_and_camera),
		cmocka_unit_test(bad_keys_are_refused),
		cmocka_unit_test(extremes_are_borne),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
