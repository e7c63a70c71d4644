/* A learner's copy: the same bits as the learner's own answers, from any thread, when classes come too. */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>

#include "learn/parts/published.h"
#include "nn/rank.h"
#include "cells.h"

enum { ASKED = 150 }; /* more than a chunk */

static const struct predictor_config config = {.micro = 32};

static void ask_inputs(float *inputs)
{
	for (int i = 0; i < ASKED; i++)
		sample_input(1000 + i, inputs + (size_t)i * DIM, DIM);
}

static void assert_alike(struct school *school, struct published *published)
{
	static const int models[] = {LEARNER_NOW, LEARNER_EVER};
	float inputs[ASKED * DIM], own[ASKED * CLASSES] = {0}, copy[ASKED * CLASSES] = {0};
	struct err err;

	ask_inputs(inputs);
	for (size_t i = 0; i < COUNT(models); i++) {
		assert_true(published_answers(published, models[i]));
		assert_ok(
			learner_predict(school->learner, models[i], inputs, ASKED, own, &err), err);
		assert_ok(published_predict(published, models[i], inputs, ASKED, copy, &err), err);
		assert_memory_equal(own, copy, sizeof(own));
	}
}

static void answers_as_the_learner_does(void **state)
{
	static const char *const parts[][4] = {{"fast.parts=0.3:0.97, 0.1:0.999:2"},
		{"fast.parts=none"}, {"fast.parts=0.3:0.5+0.1:0.9"},
		{"model.target=number", "loss.kind=huber", "fast.heads=numbers"},
		{"fast.parts=0.3:0.97", "fast.heads=linear"}, {"fast.heads=linear"},
		{"fast.heads=linear", "fast.alone=1"},
		{"fast.parts=0.3:0.97", "fast.heads=linear, labels, windows", "fast.mix_by=pool"},
		{"fast.heads=newton, hidden, labels, windows, forest, young, values, sparse",
			"fast.mix_by=pool", "fast.guard=true"},
		{"fast.heads=newton, hidden, labels, young", "fast.last=true"},
		{"fast.parts=0.3:0.97:3", "fast.layers=head", "fast.heads=units, near, labels",
			"fast.mix_by=pool"},
		{"fast.heads=units, near"}};

	(void)state;
	for (size_t i = 0; i < COUNT(parts); i++) {
		struct school school = school_of(SETTINGS(
			"model.scale=running", parts[i][0], parts[i][1], parts[i][2], parts[i][3]));
		struct published *published;
		uint64_t version;
		struct err err;

		school_reveal(
			&school); /* with the first label a learner of numbers knows something */
		assert_ok(published_new(&published, school.learner, &config, &err), err);
		assert_alike(&school, published);
		for (int k = 0; k < 5; k++) {
			version = learner_version(school.learner);
			school_reveal(&school);
			assert_true(learner_version(school.learner) != version);
			assert_true(published_fits(published, school.learner));
			assert_ok(published_renew(published, school.learner, &err), err);
			assert_alike(&school, published);
			school_train(&school, 2);
		}
		published_free(published);
		school_close(&school);
	}
}

/* Nets that learn nothing, of a label that is always the same: the guess answers, here and there. */
static void guesses_answer_in_the_copy_too(void **state)
{
	struct school school = school_of(
		SETTINGS("fast.parts=0.000001:0.5", "fast.guard=true", "schedule.rate=0.000001"));
	float inputs[STEP * DIM], asked[ASKED * DIM], logits[ASKED * CLASSES];
	struct published *published;
	int32_t labels[STEP];
	struct err err;

	(void)state;
	for (int i = 0; i < STEP; i++)
		labels[i] = 1;
	for (int k = 0; k < 20; k++) {
		for (int i = 0; i < STEP; i++)
			sample_input(k * STEP + i, inputs + (size_t)i * DIM, DIM);
		assert_ok(learner_reveal(school.learner, inputs, CELLS(labels), STEP, &err), err);
	}
	assert_ok(published_new(&published, school.learner, &config, &err), err);
	assert_alike(&school, published);
	ask_inputs(asked);
	assert_ok(published_predict(published, LEARNER_NOW, asked, ASKED, logits, &err), err);
	for (int i = 0; i < ASKED; i++)
		assert_int_equal(rank_hits(logits + i * CLASSES, CLASSES, &(int32_t){1}, 1), 1);
	published_free(published);
	school_close(&school);
}

static void says_what_it_has_no_copy_of(void **state)
{
	static const struct {
		const char *settings[4];
		bool now, ever;
	} rows[] = {
		{{"fast.parts=0.3:0.97"}, true, true},
		{{"fast.parts=0.3:0.97", "fast.layers=head"}, true, true},
		{{"fast.heads=ridge"}, false, false},
		{{"fast.heads=linear"}, true, true},
		{{"fast.heads=newton, hidden, labels, windows, forest, young, values, sparse"},
			true, true},
		{{"fast.heads=units, near"}, true, true},
		{{"fast.heads=linear, ridge"}, false, false},
		{{"model.target=number", "loss.kind=huber", "fast.heads=numbers"}, true, true},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct school school = school_of(rows[i].settings);
		struct published *published;
		struct err err;

		assert_ok(published_new(&published, school.learner, &config, &err), err);
		assert_int_equal(published_answers(published, LEARNER_NOW), rows[i].now);
		assert_int_equal(published_answers(published, LEARNER_EVER), rows[i].ever);
		published_free(published);
		school_close(&school);
	}
}

struct reader {
	struct published *published;
	atomic_bool over, failed;
	atomic_int asked, renewed; /* renewed: odd while it is being renewed */
};

/* Each answer is that of some moment: asked twice before anything was renewed, it is the same. */
static void *read_on(void *context)
{
	struct reader *reader = context;
	float inputs[ASKED * DIM], logits[ASKED * CLASSES], again[ASKED * CLASSES];

	ask_inputs(inputs);
	while (!reader->over) {
		const int before = reader->renewed;
		int code = published_predict(
			reader->published, LEARNER_NOW, inputs, ASKED, logits, NULL);

		if (!code)
			code = published_predict(
				reader->published, LEARNER_NOW, inputs, ASKED, again, NULL);
		for (int i = 0; i < ASKED * CLASSES; i++)
			reader->failed |= !isfinite(logits[i]);
		if (code || (before % 2 == 0 && before == reader->renewed &&
				    memcmp(logits, again, sizeof(logits)) != 0))
			reader->failed = true;
		reader->asked++;
	}
	return NULL;
}

static void threads_ask_while_it_learns(void **state)
{
	struct school school =
		school_of(SETTINGS("fast.parts=0.3:0.97, 0.1:0.999:2", "fast.heads=linear"));
	struct reader reader = {0};
	pthread_t threads[2];
	struct err err;

	(void)state;
	assert_ok(published_new(&reader.published, school.learner, &config, &err), err);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_on, &reader), 0);
	for (int k = 0; k < 40 || reader.asked < 20; k++) {
		school_reveal(&school);
		school_train(&school, 1);
		reader.renewed++;
		assert_ok(published_renew(reader.published, school.learner, &err), err);
		reader.renewed++;
	}
	reader.over = true;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_false(reader.failed);
	published_free(reader.published);
	school_close(&school);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_as_the_learner_does),
		cmocka_unit_test(guesses_answer_in_the_copy_too),
		cmocka_unit_test(says_what_it_has_no_copy_of),
		cmocka_unit_test(threads_ask_while_it_learns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
