/*
 * What a target that is a number is now: a value and an interval, by many small models beside the
 * slow net, all of which answer and learn row by row (docs/reference/learner.md):
 *
 * - the last value, the mean, the median of the last 25, and the slow net;
 * - least squares that forgets, on inputs, on inputs and lags of the target, on lags, on what the
 *   slow net's last layer sees and lags, with several memories;
 * - nearest neighbours and forests, of values and of what least squares leaves.
 *
 * Models see targets in units of a robust scale, relative to a running mean or to the newest
 * target. A blend of their records makes one answer (learn/numbers/blend.h), an interval follows
 * its errors (learn/numbers/band.h). No single target, however far away, takes it with it.
 *
 * Answers are finite whatever was learned. Nothing depends on threads.
 */
#ifndef RETAIN_LEARN_NUMBERS_NUMBERS_H
#define RETAIN_LEARN_NUMBERS_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/state.h"
#include "nn/ops.h"
#include "target/target.h"

struct numbers;

struct numbers_config {
	size_t floats;   /* of an input */
	size_t features; /* inputs of the slow net's last layer; 0: none */
	uint64_t seed;
	double coverage;       /* share of targets that intervals are to hold, 0..1 */
	const struct ops *ops; /* borrowed */
	bool lean;             /* no neighbours and trees, which cost most */
};

/* Samples of one time step, in the order of time. */
struct numbers_samples {
	const float *inputs;   /* (n, floats) as the net sees them: missing values are 0 */
	const float *raw;      /* (n, floats) as they came, NaN where missing; NULL: unknown */
	const float *features; /* (n, features); NULL if there are none */
	const float *slow;     /* (n): what the slow net says, in the target's units */
	int n;
	/* To be learned: how many targets became known between the question and this step; and, if
	   any, what was answered then, NUMBER_OUTPUTS every `stride`; NULL: unknown. */
	int late;
	const float *said;
	size_t stride;
};

int numbers_new(struct numbers **numbers, const struct numbers_config *config, struct err *err);
void numbers_free(struct numbers *numbers);
const struct numbers_config *numbers_config(const struct numbers *numbers);

/* Makes room for steps of n samples. Of larger ones, parts are scored piece by piece. */
int numbers_reserve(struct numbers *numbers, int n, struct err *err);

/* The slow net was replaced: what follows its features starts anew. */
void numbers_restart(struct numbers *numbers);

/* (n, NUMBER_OUTPUTS), as of now. Reentrant. */
void numbers_answer(
	const struct numbers *numbers, const struct numbers_samples *samples, float *answers);

/*
 * The same, by the thread that learns: keeps the costly parts of what it found, so that
 * numbers_learn need not look again if it is given the same samples.
 */
void numbers_ask(struct numbers *numbers, const struct numbers_samples *samples, float *answers);

/*
 * A time step: all samples are scored by what was known when they were asked about, then learned in
 * order. A label that is not finite counts as the last value.
 *
 * Where labels are late by some rows, models learn as many rows behind: a row is scored, and learned,
 * from no target that was unknown when it was asked about.
 */
void numbers_learn(
	struct numbers *numbers, const struct numbers_samples *samples, const union target *labels);

/* A copy for answers on another thread, and its renewal. Of a copy only answers are asked. */
int numbers_copy_new(struct numbers **copy, const struct numbers *numbers, struct err *err);
void numbers_copy(struct numbers *copy, const struct numbers *numbers);

/*
 * Carries everything over to new models of more inputs, the first of which are those of `from`, and
 * as many features. Of inputs too many for rows, models start anew.
 */
void numbers_grow(struct numbers *to, const struct numbers *from);

/* The models, and how much each counts in answers now: `weights` sum to 1. Returns how many. */
enum { NUMBERS_PARTS = 16 };
int numbers_parts(const struct numbers *numbers, const char *names[NUMBERS_PARTS],
	double weights[NUMBERS_PARTS]);

/* Of a sample that is asked about once, by numbers_ask, and learned. */
double numbers_macs(const struct numbers *numbers);
double numbers_bytes(const struct numbers *numbers);
void numbers_state(struct numbers *numbers, struct state *state);

#endif
