/*
 * An extra changes how the slow net is trained: it looks at time steps, chooses samples, trains
 * other models beside the plain one, or restarts with a task. Kinds are rows of extra_types, one
 * file each; a learner has those that its options ask for. The learner calls an extra's hooks at
 * fixed places (learn/learner_train.c), row by row.
 */
#ifndef RETAIN_LEARN_EXTRAS_EXTRA_H
#define RETAIN_LEARN_EXTRAS_EXTRA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/options.h"
#include "base/state.h"
#include "learn/learner.h"
#include "nn/runner.h"

/* A time step being revealed. */
struct learner_step {
	int64_t first;       /* the id of its first sample */
	const float *inputs; /* NULL: in the store */
	const float *given;  /* the same with what the net lacks, if it does */
	const union target *labels;
	const float *weights; /* NULL: all 1 */
	int n;
	bool task; /* it begins a task */
	bool late; /* it was not asked in turn; of numbers, while this many labels were unknown: */
	int late_by;
	const union target *guesses; /* if late_by: what was answered then */
	/* How many of its samples the serving model predicted correctly; -1: not counted. */
	int64_t right;
};

/* An iteration after its step. */
struct learner_stride {
	struct learner *learner;
	int64_t k;
	float loss, rate;
	const struct average_step *averages;
	const struct runner_batch *batch;
	float *logits; /* of the serving model; NULL unless an extra wants them */
};

/* Unit costs for `price`, in multiply-adds. */
struct extra_costs {
	double macs;   /* of a sample forward, */
	double passes; /* forward and backward; */
	double params; /* of a sweep */
	double sgd;    /* of an iteration of plain SGD */
	int batch;
	bool first; /* in the first task, which has no past to choose from */
};

/* A kind. Functions may be NULL. */
struct extra_type {
	bool sized;  /* has the net's size, and is recreated for a larger one */
	bool logits; /* wants the logits of a time step's first iteration */

	bool (*wanted)(const struct options *options);
	int (*check)(const struct learner_config *config, struct err *err);
	/* Called once the learner has its net, weights and optimizer. */
	int (*make)(void **extra, struct learner *learner, struct err *err);
	void (*free)(void *extra);
	/* The learner's weights were replaced. */
	void (*restart)(void *extra, struct learner *learner);

	/* A time step: before its labels are used; once it is stored and in the pool. */
	int (*foresee)(
		void *extra, struct learner *learner, struct learner_step *step, struct err *err);
	void (*revealed)(void *extra, struct learner *learner, const struct learner_step *step);
	/* The time step began a task. */
	void (*begin_task)(void *extra, struct learner *learner, int64_t first);
	/* A part of the stream ended with the time step. */
	void (*end_part)(void *extra, struct learner *learner, struct learner_part *part);

	/* Iteration k: after its samples (the learner's ids) were drawn; after its step. */
	int (*choose)(void *extra, struct learner *learner, int64_t k, struct err *err);
	int (*stepped)(void *extra, struct learner *learner, struct learner_stride *stride,
		struct err *err);
	/* Rates were reduced after a divergence: reset momentum. */
	void (*slow)(void *extra);

	double (*price)(const void *extra, const struct extra_costs *costs);
	void (*state)(void *extra, struct learner *learner, struct state *state);
};

/* The order of hook calls and of checkpoints. */
enum extra { EXTRA_RETRAIN, EXTRA_POPULATION, EXTRA_ADAPT, EXTRA_CHOICE, EXTRAS };
extern const struct extra_type *const extra_types[EXTRAS];
extern const struct extra_type extra_retrain, extra_population, extra_adapt, extra_choice;

/*
 * For every extra that the learner has and that has this hook, in order:
 * EXTRAS_EACH(learner, slow) extra_types[e]->slow(learner->extras[e]);
 */
#define EXTRAS_EACH(learner, hook)                                                                 \
	for (int e = 0; e < EXTRAS; e++)                                                           \
		if ((learner)->extras[e] && extra_types[e]->hook)

int extras_check(const struct learner_config *config, struct err *err);
int extras_make(struct learner *learner, bool sized, struct err *err);
void extras_free(struct learner *learner);
void extras_restart(struct learner *learner);
int extras_foresee(struct learner *learner, struct learner_step *step, struct err *err);
void extras_state(struct learner *learner, bool sized, struct state *state);

#endif
