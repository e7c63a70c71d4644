/*
 * What every test of lib/learn starts with: options from all the rows that a
 * learner reads, made-up samples, and learners that play the protocol on them.
 */
#ifndef RETAIN_TESTS_LEARN_CHECK_H
#define RETAIN_TESTS_LEARN_CHECK_H

#include "../base/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "learn/learner_impl.h"
#include "cells.h"

#define assert_same(a, b, floats) assert_memory_equal(a, b, (floats) * sizeof(float))

enum { CLASSES = 5, DIM = 8, STEP = 16 /* samples of a time step */ };

/* A small learner that does everything often; `settings` are laid over it and end with NULL. */
static inline struct options *options_of(const char *const *settings)
{
	static const char *const usual[] = {"model.arch=mlp:12", "run.batch=16", "run.seed=3",
		"engine.threads=1", "average.every=2", "schedule.kind=malr", "schedule.rate=0.1",
		"schedule.validate_every=3", "schedule.validation_batch=24", "schedule.window=6",
		"schedule.patience=12", "schedule.epsilon=0.01", "replay.holdout=0.2",
		"model.scale=off", NULL};
	static const struct option_row *const tables[] = {learner_options, pool_options,
		objective_options, optimizer_options, average_options, schedule_options,
		parts_options, loss_options, NULL};
	const char *const *const layers[] = {usual, settings};
	struct options *options;
	struct err err;

	assert_ok(options_new(&options, tables, &err), err);
	for (size_t layer = 0; layer < COUNT(layers); layer++)
		for (const char *const *s = layers[layer]; s && *s; s++)
			assert_ok(options_assign(options, *s, "test", &err), err);
	return options;
}

/* Sample `id`: a class's own place, and noise around it. */
static inline int32_t sample_label(int64_t id)
{
	return (int32_t)rng_below((struct rng){1, RNG_TEST}, (uint64_t)id, CLASSES);
}

static inline void sample_input(int64_t id, float *input, size_t floats)
{
	const uint64_t n = (floats + 3) / 4 * 4;

	rng_normals((struct rng){2, RNG_TEST}, (uint64_t)id * n, input, floats);
	for (size_t i = 0; i < floats; i++)
		input[i] = 0.6f * input[i] + rng_normal((struct rng){3, RNG_TEST},
						     (uint64_t)sample_label(id) * n + i);
}

/* A learner with its store; a store that is NULL is made in memory. */
struct school {
	struct store *store;
	struct learner *learner;
	int64_t shown;
};

static inline int school_try(struct school *school, struct options *options,
	struct learner_watch watch, int height, struct err *err)
{
	struct learner_config config = {.options = options,
		.classes = CLASSES,
		.channels = height > 1 ? 3 : DIM,
		.height = height,
		.width = height,
		.steps = 75,
		.iterations = 300,
		.watch = watch};
	int code = 0;

	if (!school->store)
		code = store_in_memory(&school->store, (size_t)(config.channels * height * height),
			target_width(options), err);
	if (!code)
		code = learner_new(&school->learner, &config, school->store, err);
	options_free(options);
	return code;
}

static inline void school_close(struct school *school)
{
	learner_free(school->learner);
	store_free(school->store);
}

static inline struct school school_watched(
	const char *const *settings, struct learner_watch watch, struct store *store)
{
	struct school school = {.store = store};
	struct err err;

	assert_ok(school_try(&school, options_of(settings), watch, 1, &err), err);
	return school;
}

static inline struct school school_of(const char *const *settings)
{
	return school_watched(settings, (struct learner_watch){0}, NULL);
}

/* Images of 3 x 8 x 8 for convolutions. */
static inline struct school school_images(const char *const *settings, struct learner_watch watch)
{
	struct school school = {0};
	struct err err;

	assert_ok(school_try(&school, options_of(settings), watch, 8, &err), err);
	return school;
}

static inline size_t params_of(const struct school *school)
{
	return net_params(school->learner->net)->floats;
}

/* A class, or numbers that follow from it and the input. */
static inline void school_label(
	const struct learner_target *target, int64_t id, const float *input, union target *label)
{
	const int32_t class = sample_label(id);

	label->class = class;
	for (int k = 0; k < target->width && target->kind == TARGET_NUMBER; k++)
		label[k].number = 1000 + (float)(30 - 20 * k) * (float)class + 5 * input[k];
}

static inline int school_reveal_try(struct school *school, struct err *err)
{
	const size_t floats = school->learner->inputs.floats;
	float *inputs = calloc(STEP * floats, sizeof(float));
	const struct learner_target *target = &school->learner->target;
	union target *labels = calloc(STEP * (size_t)target->width, sizeof(*labels));
	int code;

	for (int i = 0; i < STEP; i++) {
		sample_input(school->shown + i, inputs + (size_t)i * floats, floats);
		school_label(target, school->shown + i, inputs + (size_t)i * floats,
			labels + (ptrdiff_t)i * target->width);
	}
	code = learner_reveal(school->learner, inputs, labels, STEP, err);
	if (!code)
		school->shown += STEP;
	free(inputs);
	free(labels);
	return code;
}

static inline void school_reveal(struct school *school)
{
	struct err err;

	assert_ok(school_reveal_try(school, &err), err);
}

static inline void school_train(struct school *school, int iterations)
{
	struct err err;

	assert_ok(learner_train(school->learner, iterations, &err), err);
}

/* So many time steps of so many iterations. */
static inline void school_go(struct school *school, int steps, int iterations)
{
	for (int i = 0; i < steps; i++) {
		school_reveal(school);
		school_train(school, iterations);
	}
}

/* Two learners are the same in all that they have come to. */
static inline void assert_twins(const struct school *one, const struct school *other)
{
	const size_t params = params_of(one), stats = net_stats(one->learner->net)->floats;
	struct learner_report a, b;

	learner_report(one->learner, &a);
	learner_report(other->learner, &b);
	assert_true(a.iteration == b.iteration && a.samples == b.samples && a.rate == b.rate);
	assert_true(a.averages == b.averages && a.best == b.best && a.scored == b.scored);
	assert_int_equal(a.judged, b.judged);
	assert_true(a.sigma == b.sigma && a.loss == b.loss);
	assert_true(a.pool == b.pool && a.validation == b.validation);
	assert_memory_equal(a.gamma, b.gamma, sizeof(a.gamma));
	assert_memory_equal(a.scores, b.scores, sizeof(a.scores));
	assert_int_equal(one->learner->window.scores.rounds, other->learner->window.scores.rounds);
	assert_memory_equal(one->learner->window.scores.sum, other->learner->window.scores.sum,
		sizeof(one->learner->window.scores.sum));
	assert_int_equal(one->learner->leaving.count, other->learner->leaving.count);
	if (one->learner->leaving.count)
		assert_memory_equal(one->learner->leaving.ids, other->learner->leaving.ids,
			(size_t)one->learner->leaving.count * sizeof(int64_t));
	for (int model = LEARNER_INFERENCE; model <= a.averages; model++) {
		assert_same(learner_params(one->learner, model),
			learner_params(other->learner, model), params);
		if (stats)
			assert_same(learner_stats(one->learner, model),
				learner_stats(other->learner, model), stats);
	}
}

#endif
