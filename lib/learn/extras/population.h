/*
 * A population of learning rates: models trained on the same batches, each at its own multiple of
 * the schedule's rate. All predict every time step before its labels are used. After some parts
 * of the stream the most accurate one replaces the others, the other rates become multiples of
 * its rate, and momentum restarts. In between, the best so far serves inference. Kinds are rows
 * of population_types: none, and polrs (PoLRS) with three models.
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
	double scales[LEARNER_POPULATION]; /* rate factors; the first is 1 */
};
extern const struct population_type population_types[]; /* ends with a row without a name */
const struct population_type *population_type_find(const char *name);

struct population_member {
	float *params, *stats;
	struct optimizer *optimizer;
	double scale; /* of the schedule's rate */
	int64_t hits; /* correct predictions since the last selection */
};

struct population {
	const struct population_type *type;
	const struct engine *engine; /* of their vectors */
	struct population_member members[LEARNER_POPULATION];
	int64_t seen;                         /* samples predicted since the last selection */
	int select_every;                     /* parts between two selections */
	int64_t foreseen[LEARNER_POPULATION]; /* hits in the time step being revealed */
};

/* The one with most hits; ties go to the first. */
int population_best(const struct population *population);

/*
 * Counts how many samples of a time step each model predicts correctly; without a population,
 * only the model that serves inference.
 */
struct learner_step;
int population_predict(struct population *population, struct learner *learner,
	const struct learner_step *step, int64_t hits[LEARNER_POPULATION], struct err *err);

#endif
