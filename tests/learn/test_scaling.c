/*
 * Running standardisation: statistics against numbers worked out by hand, values that
 * are missing, constant, wild or of a new scale, and learners that see the same
 * whatever scale their inputs come in.
 */
#include "check.h"

#include <float.h>

#include "../base/folder.h"
#include "base/state.h"
#include "nn/own/kernels.h"
#include "nn/weights/weights_file.h"
#include "cells.h"

static struct scaling *scaling_of(size_t floats)
{
	struct scaling *scaling;
	struct err err;

	assert_ok(scaling_new(&scaling, floats, &err), err);
	return scaling;
}

static void see(struct scaling *scaling, float x)
{
	scaling_see(scaling, &x, 1);
}

static float scaled(const struct scaling *scaling, float x)
{
	scale_apply(scaling_scale(scaling), &kernels_find("auto")->ops, &x, 1, &x);
	return x;
}

static float factor(const struct scaling *scaling)
{
	return scaling_scale(scaling)->factor[0];
}

/* 1, 3, 5: means 1, 2, 3; sums of squares 0, 2, 8. */
static void a_trace_by_hand(void **state)
{
	struct scaling *s = scaling_of(1);

	(void)state;
	assert_true(scaled(s, 7) == 0);
	see(s, 1);
	assert_true(scaled(s, 1) == 0 && scaled(s, 7) == 0);
	see(s, 3);
	assert_true(scaled(s, 1) == -1 && scaled(s, 2) == 0 && scaled(s, 3) == 1);
	assert_true(scaled(s, 6) == 4 && scaled(s, 6.5f) == 4 && scaled(s, -1e30f) == -4);
	see(s, 5);
	assert_true(scaling_scale(s)->mean[0] == 3);
	assert_true(factor(s) == (float)(1 / sqrt(8.0 / 3)));
	assert_int_equal(scaling_seen(s)[0], 3);
	scaling_free(s);
}

/* What is far from the 7 values after it is dropped: 1, 2, 3 and so on; 1e6 becomes part of nothing. */
static void a_first_value_may_be_an_outlier(void **state)
{
	struct scaling *s = scaling_of(1), *plain = scaling_of(1), *back = scaling_of(1);

	(void)state;
	see(s, 1e6f);
	for (int i = 1; i <= 7; i++) {
		see(s, (float)i);
		see(plain, (float)i);
	}
	assert_int_equal(scaling_seen(s)[0], 7);
	assert_true(fabsf(scaling_scale(s)->mean[0] - 4) < 1e-4f);
	assert_true(fabsf(factor(s) - factor(plain)) < 1e-3f * factor(plain));
	/* Constant values after it are no reason: they have no spread. Nor is a usual one. */
	see(back, 5);
	for (int i = 0; i < 40; i++)
		see(back, 0.1f);
	assert_int_equal(scaling_seen(back)[0], 41);
	scaling_free(back);
	back = scaling_of(1);
	for (int i = 0; i < 40; i++)
		see(back, i ? (float)(i % 5) : 60);
	assert_int_equal(scaling_seen(back)[0], 40);
	scaling_free(s);
	scaling_free(plain);
	scaling_free(back);
}

/* A time step counts as its samples do, one by one. */
static void missing_values_do_not_count(void **state)
{
	static const float rows[][2] = {
		{1, NAN}, {NAN, 10}, {3, INFINITY}, {-INFINITY, 30}, {5, NAN}};
	struct scaling *s = scaling_of(2), *one = scaling_of(2);
	float in[2] = {NAN, -INFINITY}, out[2];

	(void)state;
	scaling_see(s, rows[0], COUNT(rows));
	for (size_t i = 0; i < COUNT(rows); i++)
		scaling_see(one, rows[i], 1);
	assert_same(scaling_scale(s)->factor, scaling_scale(one)->factor, 2);
	assert_int_equal(scaling_seen(s)[0], 3);
	assert_int_equal(scaling_seen(s)[1], 2);
	assert_true(scaling_scale(s)->mean[0] == 3 && scaling_scale(s)->mean[1] == 20);
	assert_true(scaling_scale(s)->factor[1] == 0.1f);
	scale_apply(scaling_scale(s), &kernels_find("auto")->ops, in, 1, out);
	assert_true(out[0] == 0 && out[1] == 0);
	scaling_free(s);
	scaling_free(one);
}

static void a_constant_number_waits(void **state)
{
	struct scaling *s = scaling_of(1);

	(void)state;
	for (int i = 0; i < 1000; i++)
		see(s, 0.1f);
	assert_true(factor(s) == 0);
	assert_true(scaled(s, 0.1f) == 0 && scaled(s, 5) == 0 && scaled(s, FLT_MAX) == 0);
	see(s, 5);
	assert_true(factor(s) > 0);
	assert_true(scaled(s, 5) == SCALE_CLIP && fabsf(scaled(s, 0.1f)) < 0.1f);
	scaling_free(s);
}

static struct scaling *alternating(int n)
{
	struct scaling *s = scaling_of(1);

	for (int i = 0; i < n; i++)
		see(s, i % 2 ? 1 : -1);
	return s;
}

/* At any place, the first ones included. */
static void one_wild_value_spoils_nothing(void **state)
{
	static const int places[] = {2, 3, 10, 40, 2000};

	(void)state;
	for (size_t i = 0; i < COUNT(places); i++) {
		struct scaling *s = alternating(places[i]);

		see(s, 1e38f);
		assert_true(factor(s) > 0.01f);
		if (places[i] >= 2000)
			assert_true(factor(s) > 0.95f);
		for (int k = 0; k < 30000; k++)
			see(s, k % 2 ? 1 : -1);
		assert_true(factor(s) > 0.6f && factor(s) < 1.01f);
		scaling_free(s);
	}
}

static void a_scale_that_grows_is_followed(void **state)
{
	struct scaling *s = alternating(10000);

	(void)state;
	for (int i = 0; i < 1600; i++)
		see(s, i % 2 ? 1000 : -1000);
	assert_true(scaled(s, 1000) < SCALE_CLIP);
	for (int i = 0; i < 10000; i++)
		see(s, i % 2 ? 1000 : -1000);
	assert_true(scaled(s, 1000) > 0.9f && scaled(s, 1000) < 2);
	scaling_free(s);
}

static void extremes_stay_numbers(void **state)
{
	static const float values[] = {FLT_MAX, -FLT_MAX, 1e-45f, -1e-45f, 0, FLT_MIN};

	(void)state;
	for (size_t i = 0; i < COUNT(values); i++)
		for (size_t j = 0; j < COUNT(values); j++) {
			struct scaling *s = scaling_of(1);

			for (int k = 0; k < 100; k++)
				see(s, k % 2 ? values[i] : values[j]);
			assert_true(scale_sound(scaling_scale(s)));
			for (size_t k = 0; k < COUNT(values); k++)
				assert_true(fabsf(scaled(s, values[k])) <= SCALE_CLIP);
			scaling_free(s);
		}
}

/* 1e9 and the next 32-bit number are not two values. */
static void rounding_is_no_spread(void **state)
{
	struct scaling *s = scaling_of(1);

	(void)state;
	for (int i = 0; i < 100; i++)
		see(s, i % 2 ? 1e9f : 1e9f + 64);
	assert_true(fabsf(factor(s) - 1e-3f) < 1e-6f);
	scaling_free(s);
}

static void words_are_understood(void **state)
{
	(void)state;
	assert_true(scaling_wanted("auto", true, false));
	assert_false(scaling_wanted("auto", false, false));
	assert_false(scaling_wanted("auto", true, true));
	assert_true(scaling_wanted("running", false, true));
	assert_false(scaling_wanted("off", true, false));
}

static int try_new(void *context, struct err *err)
{
	struct scaling *scaling;
	const int code = scaling_new(&scaling, 3, err);

	(void)context;
	scaling_free(scaling);
	return code;
}

static void memory_may_run_out(void **state)
{
	(void)state;
	assert_true(each_allocation_fails(try_new, NULL) == 7);
}

/* Every number by a power of two of its own, which standardising undoes to the last bit. */
static int reveal_stretched(struct school *school, bool stretch, bool holes, struct err *err)
{
	float inputs[STEP][DIM];
	int32_t labels[STEP];
	int code;

	for (int i = 0; i < STEP; i++) {
		sample_input(school->shown + i, inputs[i], DIM);
		labels[i] = sample_label(school->shown + i);
		for (int j = 0; j < DIM; j++) {
			inputs[i][j] *= stretch ? ldexpf(1, 3 * j - 12) : 1;
			if (holes && (i + j) % 7 == 0)
				inputs[i][j] = NAN;
		}
	}
	code = learner_reveal(school->learner, inputs[0], CELLS(labels), STEP, err);
	if (!code)
		school->shown += STEP;
	return code;
}

static void go_stretched(struct school *school, bool stretch, int steps)
{
	struct err err;

	for (int i = 0; i < steps; i++) {
		assert_ok(reveal_stretched(school, stretch, true, &err), err);
		school_train(school, 5);
	}
}

#define PLAIN "average.kind=none", "schedule.kind=constant"
static const char *const kinds[][6] = {
	{"average.kind=ama"},
	{PLAIN, "optimizer.kind=schedule-free"},
	{PLAIN, "learn.population=polrs", "learn.part_steps=1"},
	{PLAIN, "replay.objective=mir"},
	{PLAIN, "replay.objective=mixed", "learn.adapt_history=on", "replay.history=40",
		"learn.part_steps=2"},
};

static struct school school_scaled(const char *const *s, const char *last)
{
	const char *settings[9] = {"model.scale=running"};
	int count = 1;

	for (int i = 0; i < 6 && s[i]; i++)
		settings[count++] = s[i];
	settings[count] = last;
	return school_of(settings);
}

/* Whatever reaches the net passes the scale: a place that forgot it would tell them apart. */
static void the_scale_of_inputs_does_not_show(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct school plain = school_scaled(kinds[i], NULL);
		struct school stretched = school_scaled(kinds[i], NULL);
		struct school threads = school_scaled(kinds[i], "engine.threads=3");

		go_stretched(&plain, false, 12);
		go_stretched(&stretched, true, 12);
		go_stretched(&threads, false, 12);
		assert_twins(&plain, &stretched);
		assert_twins(&plain, &threads);
		school_close(&plain);
		school_close(&stretched);
		school_close(&threads);
	}
}

static void visit(void *object, struct state *state)
{
	struct school *school = object;

	store_state(school->store, state);
	learner_state(school->learner, state);
	state_int64(state, "shown", &school->shown);
}

static void it_goes_on_where_it_stopped(void **state)
{
	struct err err;

	(void)state;
	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct school straight = school_scaled(kinds[i], NULL);
		struct school first = school_scaled(kinds[i], NULL);
		struct school second = school_scaled(kinds[i], NULL);

		go_stretched(&straight, true, 14);
		go_stretched(&first, true, 7);
		assert_ok(state_save(in_folder("state"), visit, &first, &err), err);
		assert_ok(state_load(in_folder("state"), visit, &second, &err), err);
		go_stretched(&second, true, 7);
		assert_twins(&straight, &second);
		assert_memory_equal(learner_scale_seen(straight.learner),
			learner_scale_seen(second.learner), DIM * sizeof(int64_t));
		assert_same(learner_scale(straight.learner)->factor,
			learner_scale(second.learner)->factor, DIM);
		school_close(&straight);
		school_close(&first);
		school_close(&second);
	}
}

static void predict(struct school *school, float logits[STEP][CLASSES])
{
	float inputs[STEP][DIM];
	struct err err;

	for (int i = 0; i < STEP; i++)
		for (int j = 0; j < DIM; j++)
			inputs[i][j] = (i * j) % 5 ? ldexpf((float)(i - j), 3 * j - 12) : NAN;
	assert_ok(learner_predict(
			  school->learner, LEARNER_INFERENCE, inputs[0], STEP, logits[0], &err),
		err);
}

static void weights_carry_the_scale(void **state)
{
	struct school giver = school_scaled(kinds[0], NULL), taker, off;
	float said[STEP][CLASSES], again[STEP][CLASSES];
	struct weights *weights;
	char setting[500];
	struct err err;

	(void)state;
	go_stretched(&giver, true, 9);
	const struct weights saved = {.net = giver.learner->net,
		.params = learner_params(giver.learner, LEARNER_INFERENCE),
		.scale = learner_scale(giver.learner),
		.scale_seen = learner_scale_seen(giver.learner)};
	assert_ok(weights_save(in_folder("w"), &saved, &err), err);
	assert_ok(weights_read(&weights, in_folder("w"), &err), err);
	assert_same(weights->scale->mean, saved.scale->mean, DIM);
	assert_same(weights->scale->factor, saved.scale->factor, DIM);
	assert_memory_equal(weights->scale_seen, saved.scale_seen, DIM * sizeof(int64_t));
	weights_free(weights);

	snprintf(setting, sizeof(setting), "model.weights=%s", in_folder("w"));
	taker = school_scaled(kinds[0], setting);
	predict(&giver, said);
	predict(&taker, again);
	assert_memory_equal(said, again, sizeof(said));
	/* Its statistics go on from there: one more sample moves them little. */
	const float before = learner_scale(taker.learner)->factor[3];
	assert_ok(reveal_stretched(&taker, true, false, &err), err);
	assert_true(fabsf(learner_scale(taker.learner)->factor[3] / before - 1) < 0.2f);
	assert_true(learner_scale_seen(taker.learner)[3] == saved.scale_seen[3] + STEP);

	/* Weights for scaled inputs are none for others. */
	off = school_of(NULL);
	assert_null(learner_scale(off.learner));
	assert_int_equal(learner_load(off.learner, in_folder("w"), &err), ERR_INPUT);
	assert_says(err, "model.scale = running");
	school_close(&giver);
	school_close(&taker);
	school_close(&off);
}

static void steps_allocate_nothing(void **state)
{
	struct school school = school_scaled(kinds[0], NULL);
	float logits[STEP][CLASSES];
	uint64_t before;
	struct err err;

	(void)state;
	go_stretched(&school, true, 6);
	predict(&school, logits);
	/* Revealing keeps samples; the rest has all it needs. */
	before = mem_count();
	predict(&school, logits);
	school_train(&school, 20);
	assert_int_equal(mem_count(), before);
	assert_ok(reveal_stretched(&school, true, true, &err), err);
	school_close(&school);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trace_by_hand),
		cmocka_unit_test(a_first_value_may_be_an_outlier),
		cmocka_unit_test(missing_values_do_not_count),
		cmocka_unit_test(a_constant_number_waits),
		cmocka_unit_test(one_wild_value_spoils_nothing),
		cmocka_unit_test(a_scale_that_grows_is_followed),
		cmocka_unit_test(extremes_stay_numbers),
		cmocka_unit_test(rounding_is_no_spread),
		cmocka_unit_test(words_are_understood),
		cmocka_unit_test(memory_may_run_out),
		cmocka_unit_test(the_scale_of_inputs_does_not_show),
		folder_test(it_goes_on_where_it_stopped),
		folder_test(weights_carry_the_scale),
		cmocka_unit_test(steps_allocate_nothing),
	};

	return cmocka_run_group_tests_name("scaling", tests, NULL, NULL);
}
