/*
 * A population of learning rates: models that are trained on the same batches,
 * each at its own multiple of the schedule's rate. All predict every time step
 * before its labels are used. After some parts of the stream the one that
 * predicted best replaces the others, its rate becomes the one that theirs are
 * multiples of, and momentum starts again. In between, the best so far serves
 * inference. Kinds are rows of population_types: none, and polrs (PoLRS) with
 * three models.
 *
 * The first model is the learner's own, the plain one.
 */
#ifndef RETAIN_LEARN_EXTRAS_POPULATION_H
#define RETAIN_LEARN_EXTRAS_POPULATION_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/state.h"
#include "learn/learner.h"
#include "nn/runner.h"
#include "optim/optimizer.h"

struct population_type {
	const char *name;
	int count;                         /* of models; 0: no population */
	double scales[LEARNER_POPULATION]; /* of their rates; the first is 1 */
};
extern const struct population_type population_types[]; /* ends with a row without a name */
const struct population_type *population_type_find(const char *name);

struct population_member {
	float *params, *stats;
	struct optimizer *optimizer;
	double scale; /* of the schedule's rate */
	int64_t hits; /* of the samples that were predicted since the last selection */
};

struct population {
	const struct population_type *type;
	struct population_member members[LEARNER_POPULATION];
	int64_t seen; /* samples that were predicted since the last selection */
};

/* The learner has its net, parameters and optimizer; the first member borrows them. */
int population_new(struct population **population, const struct population_type *type,
	struct learner *learner, const struct optimizer_config *optimizer, struct err *err);
void population_free(struct population *population);

/* The one with most hits; of equal ones the first. */
int population_best(const struct population *population);

/* All begin again from the first one's parameters and statistics, at the scales of the row. */
void population_restart(struct population *population, const struct net *net);

/*
 * Counts how many of the n samples of a time step each model predicts; population_score
 * adds these counts to those of the members. Without a population there is one model,
 * the one that serves inference. If inputs are NULL they are fetched from
 * the store, where the samples have ids from `first` on.
 */
int population_predict(struct learner *learner, int64_t first, const float *inputs,
	const int32_t *labels, int n, int64_t hits[LEARNER_POPULATION], struct err *err);
void population_score(struct population *population, const int64_t hits[LEARNER_POPULATION], int n);

/*
 * Takes a step with all but the first, on the batch that the first was trained on, at
 * `rate` times their scales. Adds to *sound how many had a loss that is a number. If
 * the best is not the first, fills in its logits where they are wanted (not NULL).
 */
int population_step(struct learner *learner, const struct runner_batch *batch, double rate,
	float *logits, int *sound, struct err *err);

/* The best replaces the others. */
void population_select(struct population *population, const struct net *net);

/* Everything except what the first member borrows. */
void population_state(struct population *population, const struct net *net, struct state *state);

#endif
