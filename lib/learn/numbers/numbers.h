/*
 * Answers NOW for targets that are numbers: a value and an interval from many small models beside
 * the slow net, which answer and learn row by row (docs/reference/learner.md):
 *
 * - the last value, the mean, the median of the last 25, and the slow net;
 * - recursive least squares with several memories: on inputs, on lags of the target, on both, and
 *   on the slow net's last features and lags;
 * - nearest neighbours and forests, of values and of residuals of least squares.
 *
 * Models see targets in units of a robust scale, relative to a running mean or to the newest
 * target. They are blended by their records (learn/numbers/blend.h). Rows that come again
 * (learn/numbers/again.h) and outliers that an input foretells (learn/numbers/foretold.h) may have
 * an answer of their own. An interval follows the answer's errors (learn/numbers/band.h). No single
 * outlier can carry the answer away.
 *
 * Answers are always finite. Results do not depend on threads.
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
	double coverage;       /* share of targets that intervals should cover, 0..1 */
	const struct ops *ops; /* borrowed */
	bool lean;             /* without neighbours and trees, the most expensive parts */
};

/* Samples of one time step, in the order of time. */
struct numbers_samples {
	const float *inputs;   /* (n, floats) as the net sees them: missing values are 0 */
	const float *raw;      /* (n, floats) as they came, NaN where missing; NULL: unknown */
	const float *features; /* (n, features); NULL if there are none */
	const float *slow;     /* (n): the slow net's answers, in the target's units */
	int n;
	/* For learning: targets that became known between the question and this step; and, if any,
	   what was answered then, NUMBER_OUTPUTS every `stride`; NULL: unknown. */
	int late;
	const float *said;
	size_t stride;
};

int numbers_new(struct numbers **numbers, const struct numbers_config *config, struct err *err);
void numbers_free(struct numbers *numbers);
const struct numbers_config *numbers_config(const struct numbers *numbers);

/* Makes room for steps of n samples; larger steps are scored piece by piece. */
int numbers_reserve(struct numbers *numbers, int n, struct err *err);

/* The slow net was replaced: models of its features start anew. */
void numbers_restart(struct numbers *numbers);

/* Fills in (n, NUMBER_OUTPUTS) current answers. Reentrant. */
void numbers_answer(
	const struct numbers *numbers, const struct numbers_samples *samples, float *answers);

/*
 * The same on the learning thread: caches the expensive parts, which numbers_learn reuses if it is
 * given the same samples.
 */
void numbers_ask(struct numbers *numbers, const struct numbers_samples *samples, float *answers);

/*
 * Learns a time step: all samples are scored by what was known when they were asked about, then
 * learned in order. A label that is not finite is replaced by the last value.
 *
 * With labels that are late by k rows, models learn k rows behind: a row is scored and learned only
 * from targets that were known when it was asked about.
 */
void numbers_learn(
	struct numbers *numbers, const struct numbers_samples *samples, const union target *labels);

/* A copy that only answers, on another thread, and its renewal. */
int numbers_copy_new(struct numbers **copy, const struct numbers *numbers, struct err *err);
void numbers_copy(struct numbers *copy, const struct numbers *numbers);

/*
 * Carries everything over to models of more inputs, which begin with those of `from`, and of as
 * many features. Models start anew where the inputs become too many for rows.
 */
void numbers_grow(struct numbers *to, const struct numbers *from);

/* Names of the models and their current weights, which sum to 1. Returns their number. */
enum { NUMBERS_PARTS = 16 };
int numbers_parts(const struct numbers *numbers, const char *names[NUMBERS_PARTS],
	double weights[NUMBERS_PARTS]);

/* The cost of a sample that is asked about once, by numbers_ask, and learned. */
double numbers_macs(const struct numbers *numbers);
double numbers_bytes(const struct numbers *numbers);
void numbers_state(struct numbers *numbers, struct state *state);

#endif
