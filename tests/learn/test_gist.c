/*
 * Gists of pictures: their numbers against small pictures worked out by hand. And the part that
 * learns by them: as it would alone, whatever stops, grows, copies or divides its work; beside a
 * slow net that it leaves as it is.
 */
#include "check.h"
#include "../base/folder.h"

#include "base/state.h"
#include "learn/parts/gist_features.h"
#include "learn/parts/neighbours.h"
#include "learn/parts/parts.h"
#include "learn/parts/published.h"
#include "learn/parts/ridge.h"
#include "cells.h"

#define GIST "fast.heads=gist"
#define POOL "fast.mix_by=pool"

enum { SIDE = 8, PIXELS = 3 * SIDE * SIDE, EDGES = GIST_PLACES * GIST_WAYS };

static const struct picture_shape grey = {1, 4, 4}, colour = {3, 4, 4};

static void assert_close(float value, double wanted)
{
	if (!(fabs((double)value - wanted) <= 1e-6))
		fail_msg("%.9g, not %.9g", (double)value, wanted);
}

/* A picture of 4 x 4 has a pixel in each cell. Gradients at its border lie along it. */
static void edges_by_hand(void **state)
{
	float picture[16], gist[EDGES + 16];

	(void)state;
	assert_int_equal(gist_size(&grey), EDGES + 16);
	for (int i = 0; i < 16; i++)
		picture[i] = (float)(i % 4);
	gist_of(&grey, picture, gist);
	/* Eight gradients of 2 to the right: each is the root of an eighth. */
	for (int place = 0; place < GIST_PLACES; place++)
		for (int way = 0; way < GIST_WAYS; way++)
			assert_close(gist[place * GIST_WAYS + way],
				way == 0 && place % 4 % 3 > 0 ? sqrt(1.0 / 8) : 0);
	for (int i = 0; i < 16; i++)
		assert_close(gist[EDGES + i], 0.5 / 4 * (i % 4) / (1 + i % 4));
}

/* A bright corner: the way to it is of the inner pixel before it alone. */
static void ways_by_hand(void **state)
{
	static const struct {
		int right, down, way;
	} rows[] = {{1, 0, 0}, {1, 1, 1}, {0, 1, 2}, {-1, 1, 3}, {-1, 0, 4}, {-1, -1, 5},
		{0, -1, 6}, {1, -1, 7}};

	(void)state;
	for (size_t r = 0; r < COUNT(rows); r++) {
		float picture[16], gist[EDGES + 16];

		for (int y = 0; y < 4; y++)
			for (int x = 0; x < 4; x++)
				picture[4 * y + x] = (float)(rows[r].right * x + rows[r].down * y);
		gist_of(&grey, picture, gist);
		/* The four inner pixels have both gradients, the same for both. */
		for (int way = 0; way < GIST_WAYS; way++)
			assert_true((gist[(4 + 1) * GIST_WAYS + way] > 0) == (way == rows[r].way));
	}
}

/* Between an axis and a diagonal an edge is the sum of both. */
static void slanted_edges_are_two(void **state)
{
	float picture[16], gist[EDGES + 16], all = 0;

	(void)state;
	for (int i = 0; i < 16; i++)
		picture[i] = (float)(3 * (i % 4) + i / 4);
	gist_of(&grey, picture, gist);
	/* (6, 2) = 4 (1, 0) + 2 root 2 (1, 1) / root 2, and its border has (6, 0) and (0, 2) four times. */
	all = 4 * (4 + 2 * sqrtf(2)) + 4 * 6 + 4 * 2;
	assert_close(gist[5 * GIST_WAYS], sqrt(4 / (double)all));
	assert_close(gist[5 * GIST_WAYS + 1], sqrt(2 * sqrt(2) / (double)all));
	assert_close(gist[1 * GIST_WAYS], sqrt(6 / (double)all));
	assert_close(gist[4 * GIST_WAYS + 2], sqrt(2 / (double)all));
	assert_close(gist[0], 0);
}

/* The steepest channel counts; twice the contrast is the same edges. */
static void edges_are_of_the_steepest_channel(void **state)
{
	float picture[48] = {0}, alone[16], gist[EDGES + 48 + GIST_COLOURS], other[EDGES + 16];

	(void)state;
	assert_int_equal(gist_size(&colour), EDGES + 48 + GIST_COLOURS);
	for (int i = 0; i < 16; i++) {
		picture[i] = 0.001F * (float)(i / 4);
		picture[16 + i] = alone[i] = (float)(i % 4 * (i % 4) + 5 * (i / 4));
		picture[32 + i] = 0.125F;
	}
	gist_of(&colour, picture, gist);
	for (int i = 0; i < 16; i++)
		alone[i] *= 4;
	gist_of(&grey, alone, other);
	assert_memory_equal(gist, other, EDGES * sizeof(float));
}

static void colours_by_hand(void **state)
{
	float picture[48], gist[EDGES + 48 + GIST_COLOURS];
	const float *colours = gist + EDGES + 48;

	(void)state;
	/* Twelve pixels are of one colour, and four lie between two. */
	for (int i = 0; i < 16; i++) {
		picture[i] = -9;
		picture[16 + i] = -0.5F;
		picture[32 + i] = i < 12 ? 0.5F : 1;
	}
	gist_of(&colour, picture, gist);
	for (int i = 0; i < GIST_COLOURS; i++)
		assert_close(colours[i], i == 6   ? 0.7 * sqrt(14.0 / 16)
					 : i == 7 ? 0.7 * sqrt(2.0 / 16)
						  : 0);
	assert_close(gist[EDGES], -0.5 / sqrt(48) * 0.9);
	assert_close(gist[EDGES + 1], -0.5 / sqrt(48) / 3);
}

/* Pixels between the centres of two cells count in both, by their distance. */
static void pixels_between_cells_count_in_both(void **state)
{
	const struct picture_shape wide = {1, 4, 8};
	float picture[32] = {0}, gist[EDGES + 16];
	const float *means = gist + EDGES;

	(void)state;
	picture[1] = 1; /* a quarter of the way from the first to the second */
	gist_of(&wide, picture, gist);
	/* Shares of the first row's pixels: 3/4, 3/4, 1/4 in the first cell; 1/4, 3/4, 3/4, 1/4 in the next. */
	assert_close(means[0], 0.5 / 4 * (0.75 / 1.75) / (1 + 0.75 / 1.75));
	assert_close(means[1], 0.5 / 4 * (0.25 / 2) / (1 + 0.25 / 2));
	assert_close(means[2], 0);
}

static void what_is_not_finite_is_zeros(void **state)
{
	static const float bad[] = {NAN, INFINITY, -INFINITY, 3e38F};
	float picture[48], gist[EDGES + 48 + GIST_COLOURS];

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		for (int k = 0; k < 48; k++)
			picture[k] = k % 5 == 1 ? bad[i] : -(float)k;
		gist_of(&colour, picture, gist);
		for (int k = 0; k < gist_size(&colour); k++)
			assert_true(isfinite(gist[k]));
	}
}

static struct school pictures(const char *const *settings)
{
	return school_images(settings, (struct learner_watch){0});
}

static void ask(const struct school *school, float logits[STEP * CLASSES])
{
	float inputs[STEP * PIXELS];
	struct err err;

	for (int i = 0; i < STEP; i++)
		sample_input(7000 + i, inputs + (size_t)i * PIXELS, PIXELS);
	assert_ok(learner_predict(school->learner, LEARNER_NOW, inputs, STEP, logits, &err), err);
}

static void assert_same_answers(const struct school *one, const struct school *other)
{
	float a[STEP * CLASSES], b[STEP * CLASSES];

	ask(one, a);
	ask(other, b);
	assert_memory_equal(a, b, sizeof(a));
}

/* What the part says alone is what ridge regression on gists says, as logits. */
static void it_is_ridge_on_gists(void **state)
{
	const struct picture_shape shape = {3, SIDE, SIDE};
	const int size = gist_size(&shape);
	struct school school = pictures(SETTINGS(GIST, POOL, "fast.alone=1"));
	float inputs[STEP * PIXELS], logits[STEP * CLASSES], scores[CLASSES];
	float *rows = calloc(STEP * ((size_t)size + 1), sizeof(*rows));
	struct part *ridge;
	struct err err;

	(void)state;
	assert_ok(ridge_new(&ridge, &(struct ridge_config){size + 1, CLASSES, 0.05, 8}, &err), err);
	for (int k = 0; k < 6; k++) {
		for (int i = 0; i < STEP; i++)
			sample_input(k * STEP + i, inputs + (size_t)i * PIXELS, PIXELS);
		gist_rows(&shape, NULL, inputs, STEP, rows);
		for (int i = 0; i < STEP; i++)
			ridge_add(ridge, rows + (size_t)i * ((size_t)size + 1),
				sample_label(k * STEP + i));
		ridge_solve(ridge);
		school_reveal(&school);
	}
	for (int i = 0; i < STEP; i++)
		sample_input(7000 + i, inputs + (size_t)i * PIXELS, PIXELS);
	gist_rows(&shape, NULL, inputs, STEP, rows);
	ask(&school, logits);
	for (int i = 0; i < STEP; i++) {
		ridge_score(ridge, rows + (size_t)i * ((size_t)size + 1), scores);
		for (int c = 1; c < CLASSES; c++)
			if (!(fabs((double)(logits[i * CLASSES + c] - logits[i * CLASSES]) -
				      log(20 * 4) * (double)(scores[c] - scores[0])) < 1e-3))
				fail_msg("sample %d, class %d: %g", i, c,
					(double)(logits[i * CLASSES + c] - logits[i * CLASSES]));
	}
	ridge_free(ridge);
	free(rows);
	school_close(&school);
}

static void the_slow_net_stays(void **state)
{
	struct school with = pictures(SETTINGS(GIST, POOL)),
		      without = pictures(SETTINGS("fast.heads=none"));
	float inputs[STEP * PIXELS], one[STEP * CLASSES], other[STEP * CLASSES];
	struct err err;

	(void)state;
	school_go(&with, 10, 3);
	school_go(&without, 10, 3);
	assert_memory_equal(learner_params(with.learner, LEARNER_INFERENCE),
		learner_params(without.learner, LEARNER_INFERENCE),
		params_of(&with) * sizeof(float));
	for (int i = 0; i < STEP; i++)
		sample_input(7000 + i, inputs + (size_t)i * PIXELS, PIXELS);
	assert_ok(learner_predict(with.learner, LEARNER_EVER, inputs, STEP, one, &err), err);
	assert_ok(learner_predict(without.learner, LEARNER_EVER, inputs, STEP, other, &err), err);
	for (int i = 0; i < STEP * CLASSES; i++)
		assert_true(isfinite(one[i]));
	school_close(&with);
	school_close(&without);
}

static void visit(void *object, struct state *state)
{
	struct school *school = object;

	store_state(school->store, state);
	learner_state(school->learner, state);
	state_int64(state, "shown", &school->shown);
}

static void it_goes_on(void **state)
{
	const char *const *settings = SETTINGS(GIST, POOL, "fast.parts=0.3:0.97");
	struct school straight = pictures(settings), first = pictures(settings);
	struct school second = pictures(settings);
	struct err err;

	(void)state;
	school_go(&straight, 12, 2);
	school_go(&first, 7, 2);
	assert_ok(state_save(in_folder("state"), visit, &first, &err), err);
	assert_ok(state_load(in_folder("state"), visit, &second, &err), err);
	assert_same_answers(&first, &second);
	school_go(&second, 5, 2);
	assert_twins(&straight, &second);
	assert_same_answers(&straight, &second);
	school_close(&straight);
	school_close(&first);
	school_close(&second);
}

static void visit_gist(void *object, struct state *state)
{
	struct parts *parts = object;

	for (int i = 0; i < PART_TYPES; i++)
		if (part_types[i] == &part_gist)
			part_gist.state(parts->list[i], state);
}

/* As a file has it. */
static void save_gist(struct school *school, char bytes[1 << 20], size_t *size)
{
	struct err err;
	FILE *file;

	assert_ok(
		state_save(in_folder("state"), visit_gist, parts_of(school->learner->beside), &err),
		err);
	file = fopen(in_folder("state"), "rb");
	assert_non_null(file);
	*size = fread(bytes, 1, 1 << 20, file);
	fclose(file);
	assert_in_range(*size, 1000, (1 << 20) - 1);
}

/* Classes that come late are as if they had been there. */
static void classes_may_come(void **state)
{
	static char one[1 << 20], other[1 << 20];
	struct options *options = options_of(SETTINGS(GIST, POOL));
	struct school grown = {0}, straight = {0};
	struct learner *former;
	size_t size, other_size;
	struct err err;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct school *school = i ? &straight : &grown;
		const struct learner_config config = {.options = options,
			.classes = i ? 24 : CLASSES,
			.classes_most = 40,
			.channels = 3,
			.height = SIDE,
			.width = SIDE,
			.steps = 75,
			.iterations = 300};

		assert_ok(store_in_memory(&school->store, PIXELS, 1, &err), err);
		assert_ok(learner_new(&school->learner, &config, school->store, &err), err);
		school_go(school, 5, 2);
	}
	assert_ok(
		learner_grow(grown.learner, 24, grown.learner->inputs.floats, &former, &err), err);
	learner_grown(grown.learner, former, 0);
	school_go(&grown, 2, 2);
	school_go(&straight, 2, 2);
	save_gist(&grown, one, &size);
	save_gist(&straight, other, &other_size);
	assert_int_equal(size, other_size);
	assert_memory_equal(one, other, size);
	school_close(&grown);
	school_close(&straight);
	options_free(options);
}

static void threads_change_nothing(void **state)
{
	struct school one = pictures(SETTINGS(GIST, POOL));
	struct school three = pictures(SETTINGS(GIST, POOL, "engine.threads=3"));

	(void)state;
	school_go(&one, 10, 2);
	school_go(&three, 10, 2);
	assert_same_answers(&one, &three);
	school_close(&one);
	school_close(&three);
}

static void copies_answer_as_it_does(void **state)
{
	const struct predictor_config config = {.micro = 32};
	struct school school = pictures(SETTINGS(GIST, POOL, "fast.parts=0.3:0.97"));
	float inputs[STEP * PIXELS], own[STEP * CLASSES], copy[STEP * CLASSES];
	struct published *published;
	struct err err;

	(void)state;
	for (int i = 0; i < STEP; i++)
		sample_input(7000 + i, inputs + (size_t)i * PIXELS, PIXELS);
	assert_ok(published_new(&published, school.learner, &config, &err), err);
	for (int k = 0; k < 5; k++) {
		assert_true(published_answers(published, LEARNER_NOW));
		ask(&school, own);
		assert_ok(published_predict(published, LEARNER_NOW, inputs, STEP, copy, &err), err);
		assert_memory_equal(own, copy, sizeof(own));
		school_go(&school, 1, 2);
		assert_ok(published_renew(published, school.learner, &err), err);
	}
	published_free(published);
	school_close(&school);
}

static void vectors_are_refused(void **state)
{
	struct school school = {0};
	struct err err;

	(void)state;
	assert_int_equal(
		school_try(&school, options_of(SETTINGS(GIST)), (struct learner_watch){0}, 1, &err),
		ERR_INPUT);
	assert_says(err, "fast.heads = gist: gist is for pictures");
	school_close(&school);
}

static void note_macs(void *context, int64_t macs)
{
	*(int64_t *)context += macs;
}

static void it_has_its_price(void **state)
{
	const struct picture_shape shape = {3, SIDE, SIDE};
	const double dim = gist_size(&shape) + 1;
	const double solving = (dim * dim * dim / 6 + CLASSES * dim * dim) / 8;
	int64_t macs = 0;
	struct school school = school_images(SETTINGS(GIST, POOL, "fast.parts=none"),
		(struct learner_watch){.context = &macs, .macs = note_macs});

	(void)state;
	school_reveal(&school);
	/* No row is kept yet when the first are asked about. */
	assert_true(fabs((double)macs - STEP * (gist_macs(&shape) + dim * (dim + 1) / 2 +
						       dim * CLASSES + solving)) <= STEP);
	school_close(&school);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edges_by_hand),
		cmocka_unit_test(ways_by_hand),
		cmocka_unit_test(slanted_edges_are_two),
		cmocka_unit_test(edges_are_of_the_steepest_channel),
		cmocka_unit_test(colours_by_hand),
		cmocka_unit_test(pixels_between_cells_count_in_both),
		cmocka_unit_test(what_is_not_finite_is_zeros),
		cmocka_unit_test(it_is_ridge_on_gists),
		cmocka_unit_test(the_slow_net_stays),
		folder_test(it_goes_on),
		folder_test(classes_may_come),
		cmocka_unit_test(threads_change_nothing),
		cmocka_unit_test(copies_answer_as_it_does),
		cmocka_unit_test(vectors_are_refused),
		cmocka_unit_test(it_has_its_price),
	};

	return cmocka_run_group_tests_name("gist", tests, NULL, NULL);
}
