/*
 * Samples of the built-in stream: what they are made of, against the formula in
 * double precision; that they are functions of (seed, part, id) and nothing
 * else; and that labels are noisy, classes born and the stationary stream still.
 */
#include "check.h"
#include "cells.h"

enum { DIM = 32, N = 4096 };

static void ids_from(int64_t *ids, int n, int64_t first, int64_t stride, int64_t count)
{
	for (int i = 0; i < n; i++)
		ids[i] = (first + i * stride) % count;
}

static void inputs_of(
	struct source *source, enum source_part part, const int64_t *ids, int n, float *inputs)
{
	struct err err;

	assert_ok(source_inputs(source, part, ids, n, inputs, &err), err);
}

static void labels_of(
	struct source *source, enum source_part part, const int64_t *ids, int n, int32_t *labels)
{
	struct err err;

	assert_ok(source_labels(source, part, ids, n, CELLS(labels), &err), err);
}

static double between(const float *walk, const struct drift_world *world, double u, int i)
{
	const double place = u * (world->config.knots - 1);
	const int knot = (int)place;
	const float *at = walk + knot * world->stride + i;

	return at[0] + (place - knot) * (at[world->stride] - at[0]);
}

/* A sample by the book. */
static void expected_input(
	const struct drift_world *world, enum source_part part, int64_t id, double *inputs)
{
	const struct drift_config *c = &world->config;
	const struct drift_album album = drift_album_of(world, part, id);
	const bool eval = part == SOURCE_EVAL;
	const int64_t step = id / (eval ? c->eval_per_step : c->per_step);
	const double u = c->stationary ? 0.5 : (double)step / c->steps;
	const int row = album.class * c->modes + album.mode;
	const int walker = c->walkers == DRIFT_WALK_MODE ? row : album.class;
	const struct rng offset = drift_rng(world, eval ? DRIFT_EVAL_OFFSET : DRIFT_OFFSET);
	const struct rng noise = drift_rng(world, eval ? DRIFT_EVAL_NOISE : DRIFT_NOISE);
	const uint64_t stride = (uint64_t)world->stride;

	memset(inputs, 0, (size_t)c->dim * sizeof(*inputs));
	for (int i = 0; i < c->dim; i++) {
		const double latent =
			world->means[row * world->stride + i] +
			between(world->walks + walker * c->knots * world->stride, world, u, i) +
			between(world->global, world, u, i) +
			sin(2 * acos(-1) * c->seasons * u) * world->signs[album.class] *
				world->season[i] +
			c->offset *
				rng_normal(offset, (uint64_t)album.number * stride + (uint64_t)i) +
			c->noise * rng_normal(noise, (uint64_t)id * stride + (uint64_t)i);

		for (int k = 0; k < c->dim; k++)
			inputs[k] += latent * world->mixing[i * world->stride + k];
	}
}

static const char *const kinds[][3] = {
	{NULL},
	{"drift.stationary=true"},
	{"drift.walkers=class"},
	{"drift.dim=5", "drift.slots=3"},
	{"drift.dim=17", "drift.seasons=2.5"},
};

static void samples_follow_the_formula(void **state)
{
	for (size_t k = 0; k < COUNT(kinds); k++)
		for (int part = SOURCE_STREAM; part <= SOURCE_EVAL; part++) {
			struct source *source = source_with(kinds[k]);
			struct drift_world *world = world_with(kinds[k]);
			const int dim = world->config.dim;
			float inputs[DIM + 1] = {0};
			double expected[DIM];

			for (int64_t id = 0; id < 20000; id += 97) {
				inputs[dim] = 7;
				inputs_of(source, part, &id, 1, inputs);
				expected_input(world, part, id, expected);
				for (int i = 0; i < dim; i++)
					if (!(fabs(inputs[i] - expected[i]) < 1e-5))
						fail_msg("kind %d, part %d, sample %d: %g, not %g",
							(int)k, part, (int)id, inputs[i],
							expected[i]);
				assert_true(inputs[dim] == 7);
			}
			drift_world_free(world);
			source_close(source);
		}
}

/* Runs made today must be repeatable tomorrow. Last bits may differ where products and sums fuse. */
static void samples_are_frozen(void **state)
{
	static const struct {
		enum source_part part;
		int64_t id;
		int32_t label;
		float first, second, last;
	} rows[] = {
		{SOURCE_STREAM, 0, 15, -0.04704579f, 0.9300119f, 0.7619424f},
		{SOURCE_STREAM, 12345, 16, -0.9302533f, -0.6272671f, 1.467617f},
		{SOURCE_STREAM, 159999, 10, 0.1620462f, 1.207508f, -0.8508629f},
		{SOURCE_EVAL, 77, 24, 1.600798f, -1.069211f, 0.7509761f},
		{SOURCE_EVAL, 19999, 3, 0.9809009f, -0.419094f, -2.119745f},
	};
	struct source *source = source_with(NULL);
	float input[DIM];
	int32_t label;

	for (size_t i = 0; i < COUNT(rows); i++) {
		inputs_of(source, rows[i].part, &rows[i].id, 1, input);
		labels_of(source, rows[i].part, &rows[i].id, 1, &label);
		assert_int_equal(label, rows[i].label);
		assert_true(fabsf(input[0] - rows[i].first) < 1e-5f);
		assert_true(fabsf(input[1] - rows[i].second) < 1e-5f);
		assert_true(fabsf(input[DIM - 1] - rows[i].last) < 1e-5f);
	}
	source_close(source);
}

static void info_says_what_there_is(void **state)
{
	struct source *source = source_with(
		SETTINGS("drift.steps=70", "drift.per_step=9", "drift.eval_per_step=2"));
	const struct source_info *info = source_info(source);

	assert_int_equal(info->classes, 100);
	assert_int_equal(info->channels * info->height * info->width, 32);
	assert_int_equal(info->samples, 630);
	assert_int_equal(info->evals, 140);
	assert_int_equal(info->per_step, 9);
	assert_string_equal(source->type->name, "drift");
	source_close(source);
	source_close(NULL);
}

static float whole[N * DIM], part[N * DIM];
static int32_t whole_labels[N], part_labels[N];

static void assert_same_samples(const char *what)
{
	if (memcmp(whole, part, sizeof(whole)))
		fail_msg("%s: other inputs", what);
	if (memcmp(whole_labels, part_labels, sizeof(whole_labels)))
		fail_msg("%s: other labels", what);
}

static void any_split_gives_the_same_bits(void **state)
{
	static const int pieces[] = {1, 3, 64, 1000, N};
	struct source *source = source_with(NULL), *again = source_with(NULL);
	static int64_t ids[N];

	ids_from(ids, N, 0, 37, source_info(source)->samples);
	inputs_of(source, SOURCE_STREAM, ids, N, whole);
	labels_of(source, SOURCE_STREAM, ids, N, whole_labels);
	for (size_t p = 0; p < COUNT(pieces); p++) {
		for (int i = 0; i < N; i += pieces[p]) {
			const int n = N - i < pieces[p] ? N - i : pieces[p];

			inputs_of(again, SOURCE_STREAM, ids + i, n, part + i * DIM);
			labels_of(again, SOURCE_STREAM, ids + i, n, part_labels + i);
		}
		assert_same_samples("in pieces");
	}
	source_close(source);
	source_close(again);
}

/* A call may share work among neighbours, over the ends of steps and tasks, too. */
static void neighbours_are_as_alone(void **state)
{
	static const char *const alike[][4] = {
		{NULL},
		{"drift.per_step=5", "drift.slots=64", "drift.renew=0.0625"},
		{"drift.steps=40", "drift.tasks=10", "drift.slots=3"},
		{"drift.dim=1000", "drift.classes=4", "drift.knots=4"},
	};
	enum { COUNT_EACH = 64 };
	static float together[COUNT_EACH * 1000], alone[1000];

	for (size_t k = 0; k < COUNT(alike); k++)
		for (int side = SOURCE_STREAM; side <= SOURCE_EVAL; side++) {
			struct source *source = source_with(alike[k]);
			const int dim = source_info(source)->channels;
			int64_t ids[COUNT_EACH];

			/* Each twice, and some back in time. */
			for (int i = 0; i < COUNT_EACH; i++)
				ids[i] = 110 + i / 2 - i % 7;
			inputs_of(source, side, ids, COUNT_EACH, together);
			for (int i = 0; i < COUNT_EACH; i++) {
				inputs_of(source, side, ids + i, 1, alone);
				if (memcmp(alone, together + i * dim, (size_t)dim * sizeof(float)))
					fail_msg("kind %d, part %d: sample %d is another one among "
						 "others",
						(int)k, side, (int)ids[i]);
			}
			source_close(source);
		}
}

static void order_does_not_matter(void **state)
{
	struct source *source = source_with(NULL);
	static int64_t ids[N];

	ids_from(ids, N, 1000, 1, N + 1000);
	inputs_of(source, SOURCE_STREAM, ids, N, whole);
	labels_of(source, SOURCE_STREAM, ids, N, whole_labels);
	for (int i = N; i-- > 0;) {
		labels_of(source, SOURCE_STREAM, ids + i, 1, part_labels + i);
		inputs_of(source, SOURCE_STREAM, ids + i, 1, part + i * DIM);
	}
	assert_same_samples("from the end");
	source_close(source);
}

static void first_input(const char *const *settings, enum source_part which, float *input)
{
	struct source *source = source_with(settings);

	inputs_of(source, which, &(int64_t){0}, 1, input);
	source_close(source);
}

static void seeds_make_streams(void **state)
{
	float one[DIM], two[DIM], own[DIM], both[DIM];

	first_input(SETTINGS("run.seed=1"), SOURCE_STREAM, one);
	first_input(SETTINGS("run.seed=2"), SOURCE_STREAM, two);
	first_input(SETTINGS("drift.seed=2"), SOURCE_STREAM, own);
	first_input(SETTINGS("drift.seed=2", "run.seed=3"), SOURCE_STREAM, both);
	assert_memory_not_equal(one, two, sizeof(one));
	assert_memory_equal(own, two, sizeof(own));
	assert_memory_equal(both, two, sizeof(both));
}

static void evaluation_is_never_trained_on(void **state)
{
	struct source *source = source_with(NULL);
	static int64_t ids[N];

	ids_from(ids, N, 0, 1, N);
	inputs_of(source, SOURCE_STREAM, ids, N, whole);
	inputs_of(source, SOURCE_EVAL, ids, N, part);
	for (int i = 0; i < N * DIM; i++)
		assert_true(whole[i] != part[i]);
	source_close(source);
}

static void evaluation_time_grows(void **state)
{
	struct source *source = source_with(NULL);
	const int64_t evals = source_info(source)->evals;
	double last = 0;

	assert_true(source_eval_time(source, 0) == 0);
	for (int64_t id = 0; id < evals; id++) {
		const double time = source_eval_time(source, id);

		assert_true(time >= last && time < 1);
		last = time;
	}
	assert_true(last == 4999 / 5000.0);
	source_close(source);
}

static void ids_outside_are_errors(void **state)
{
	struct source *source = source_with(NULL);
	struct err err;
	int64_t ids[2] = {0, 160000};

	assert_int_equal(source_inputs(source, SOURCE_STREAM, ids, 2, whole, &err), ERR_INPUT);
	assert_says(err, "sample 160000 does not exist, there are 160000");
	assert_int_equal(
		source_labels(source, SOURCE_STREAM, ids, 2, CELLS(whole_labels), &err), ERR_INPUT);
	ids[1] = 20000;
	assert_int_equal(source_inputs(source, SOURCE_EVAL, ids, 2, whole, &err), ERR_INPUT);
	assert_says(err, "evaluation sample 20000");
	ids[1] = -1;
	assert_int_equal(
		source_labels(source, SOURCE_EVAL, ids, 2, CELLS(whole_labels), &err), ERR_INPUT);
	assert_says(err, "-1");
	ids[1] = 159999;
	inputs_of(source, SOURCE_STREAM, ids, 2, whole);
	source_close(source);
	source = source_with(SETTINGS("drift.eval_per_step=0"));
	assert_int_equal(source_inputs(source, SOURCE_EVAL, ids, 1, whole, &err), ERR_INPUT);
	source_close(source);
}

/* A label is redrawn with probability 0.1, and then is the class's own as often as its share. */
static void a_tenth_of_labels_is_redrawn(void **state)
{
	for (int which = SOURCE_STREAM; which <= SOURCE_EVAL; which++) {
		struct source *source = source_with(NULL);
		struct drift_world *world = world_with(NULL);
		const int64_t count = which ? 20000 : 160000;
		double shares[100], expected = 0, wrong = 0, n = 0;

		for (int64_t id = 0; id < count; id += 7, n++) {
			const int64_t step = drift_step(world, which, id);
			const int32_t class = drift_album_of(world, which, id).class;
			int32_t label;

			labels_of(source, which, &id, 1, &label);
			assert_true(label >= 0 && label < 100);
			drift_prior(world, drift_refresh(world, step), shares);
			assert_true(label == class || shares[label] > 0);
			wrong += label != class;
			expected += 0.1 * (1 - shares[class]);
		}
		assert_near("other labels", wrong / n, expected / n, sqrt(0.1 / n));
		drift_world_free(world);
		source_close(source);
	}
}

/* No label comes before its class is born, and all have come in the end. */
static void classes_appear_when_born(void **state)
{
	struct source *source = source_with(NULL);
	struct drift_world *world = world_with(NULL);
	int seen = 0, early = 0;
	bool known[100] = {false};

	for (int64_t id = 0; id < 160000; id++) {
		int32_t label;

		labels_of(source, SOURCE_STREAM, &id, 1, &label);
		assert_true(world->births[label] <= (double)(id / 32) / 5000);
		seen += !known[label];
		known[label] = true;
		if (id == 32 * 100)
			early = seen;
	}
	assert_true(early <= 35);
	assert_true(seen >= 98);
	drift_world_free(world);
	source_close(source);
}

/* Without noise a sample is its mode's mean at its time. */
#define PLAIN "drift.noise=0", "drift.offset=0", "drift.label_noise=0"

static bool mean_stays(const char *const *settings)
{
	struct source *source = source_with(settings);
	struct drift_world *world = world_with(settings);
	const struct drift_album first = drift_album_of(world, SOURCE_EVAL, 0);
	float at_start[DIM], later[DIM];
	int compared = 0, same = 0;

	inputs_of(source, SOURCE_EVAL, &(int64_t){0}, 1, at_start);
	for (int64_t id = 1; id < 20000; id++) {
		const struct drift_album album = drift_album_of(world, SOURCE_EVAL, id);

		if (album.class != first.class || album.mode != first.mode)
			continue;
		inputs_of(source, SOURCE_EVAL, &id, 1, later);
		same += !memcmp(at_start, later, sizeof(later));
		compared++;
	}
	assert_true(compared > 10);
	assert_true(same == 0 || same == compared || !world->config.stationary);
	drift_world_free(world);
	source_close(source);
	return same == compared;
}

static void stationary_means_stay(void **state)
{
	assert_true(mean_stays(SETTINGS(PLAIN, "drift.stationary=true")));
	assert_false(mean_stays(SETTINGS(PLAIN)));
}

/* Labels of a stationary stream have one distribution throughout, with all classes. */
static void stationary_classes_stay(void **state)
{
	struct source *source = source_with(SETTINGS("drift.stationary=true"));
	struct drift_world *world = world_with(SETTINGS("drift.stationary=true"));
	double shares[100], chi[2] = {0};
	int counts[2][100] = {{0}};

	drift_prior(world, 0, shares);
	for (int64_t id = 0; id < 20000; id++) {
		int32_t label;

		labels_of(source, SOURCE_EVAL, &id, 1, &label);
		counts[id / 10000][label]++;
	}
	for (int half = 0; half < 2; half++) {
		for (int i = 0; i < 100; i++) {
			const double expected = 10000 * shares[i];

			assert_true(shares[i] > 0);
			chi[half] += pow(counts[half][i] - expected, 2) / expected;
		}
		if (chi[half] > 99 + 5 * sqrt(2 * 99))
			fail_msg("half %d: chi-square %g", half, chi[half]);
	}
	drift_world_free(world);
	source_close(source);
}

/* Season and global walk, which the scale leaves out, add a few parts in a hundred. */
static void inputs_have_about_unit_variance(void **state)
{
	static int64_t ids[N];
	double squares = 0, n = 0;

	for (int seed = 1; seed <= 5; seed++) {
		char setting[32];
		struct source *source;

		snprintf(setting, sizeof(setting), "run.seed=%d", seed);
		source = source_with(SETTINGS(setting));
		ids_from(ids, N, 0, 39, 160000);
		inputs_of(source, SOURCE_STREAM, ids, N, whole);
		for (int i = 0; i < N * DIM; i++, n++)
			squares += whole[i] * whole[i];
		source_close(source);
	}
	assert_true(squares / n > 0.95 && squares / n < 1.15);
}

static void memory_may_run_out(void **state)
{
	struct options *options = options_with(NULL);

	assert_true(each_allocation_fails(try_opening, options) >= 4);
	options_free(options);
}

static void how_long_a_sample_takes(void **state)
{
	struct source *source = source_with(NULL);
	static int64_t ids[N];
	double start = seconds(), inputs, labels;

	ids_from(ids, N, 0, 37, 160000);
	for (int i = 0; i < 4; i++)
		inputs_of(source, SOURCE_STREAM, ids, N, whole);
	inputs = seconds() - start;
	start = seconds();
	for (int i = 0; i < 4; i++)
		labels_of(source, SOURCE_STREAM, ids, N, whole_labels);
	labels = seconds() - start;
	print_message("# an input takes %.0f ns, a label %.0f ns\n", inputs / N / 4 * 1e9,
		labels / N / 4 * 1e9);
	source_close(source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_follow_the_formula),
		cmocka_unit_test(samples_are_frozen),
		cmocka_unit_test(info_says_what_there_is),
		cmocka_unit_test(any_split_gives_the_same_bits),
		cmocka_unit_test(neighbours_are_as_alone),
		cmocka_unit_test(order_does_not_matter),
		cmocka_unit_test(seeds_make_streams),
		cmocka_unit_test(evaluation_is_never_trained_on),
		cmocka_unit_test(evaluation_time_grows),
		cmocka_unit_test(ids_outside_are_errors),
		cmocka_unit_test(a_tenth_of_labels_is_redrawn),
		cmocka_unit_test(classes_appear_when_born),
		cmocka_unit_test(stationary_means_stay),
		cmocka_unit_test(stationary_classes_stay),
		cmocka_unit_test(inputs_have_about_unit_variance),
		cmocka_unit_test(memory_may_run_out),
		cmocka_unit_test(how_long_a_sample_takes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
