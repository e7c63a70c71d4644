/*
 * An extra changes how the slow net is trained: it looks at time steps, chooses samples, trains
 * other models beside the plain one, or starts again with a task. Kinds are rows of extra_types,
 * one file each; a learner has any of them that its options ask for. An extra acts through
 * hooks, which the learner calls at fixed places of its order (learn/learner_train.c), row by row.
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

/* A time step on its way. */
struct learner_step {
	int64_t first;       /* the id of its first sample */
	const float *inputs; /* NULL: the store has them */
	const int32_t *labels;
	int n;
	bool task; /* it begins a task */
	/* How many of its samples the model that serves had right; -1: not counted. */
	int64_t right;
};

/* An iteration whose step was made. */
struct learner_stride {
	struct learner *learner;
	int64_t k;
	float loss, rate;
	const struct average_step *averages;
	const struct runner_batch *batch;
	float *logits; /* of the model that serves; NULL unless an extra wants them */
};

/* What a price is made of: multiply-adds. */
struct extra_costs {
	double macs;   /* of a sample forward, */
	double passes; /* forward and backward; */
	double params; /* of a sweep */
	double sgd;    /* of an iteration of plain SGD */
	int batch;
};

/* A kind. Functions may be NULL: there is nothing to do. */
struct extra_type {
	bool sized;  /* is as large as the net, and made anew for a larger one */
	bool logits; /* wants those of the first iteration of a time step */

	bool (*wanted)(const struct options *options);
	int (*check)(const struct learner_config *config, struct err *err);
	/* The learner has its net, its weights and its optimizer. */
	int (*make)(void **extra, struct learner *learner, struct err *err);
	void (*free)(void *extra);
	/* The learner's weights were replaced, or are new. */
	void (*restart)(void *extra, struct learner *learner);

	/* A time step: before its labels are used; once it is stored and in the pool. */
	int (*foresee)(
		void *extra, struct learner *learner, struct learner_step *step, struct err *err);
	void (*revealed)(void *extra, struct learner *learner, const struct learner_step *step);
	/* It began a task. */
	void (*begin_task)(void *extra, struct learner *learner, int64_t first);
	/* A part of the stream ended with it. */
	void (*end_part)(void *extra, struct learner *learner, struct learner_part *part);

	/* Iteration k: its samples were drawn, the learner's ids; its step was made. */
	int (*choose)(void *extra, struct learner *learner, int64_t k, struct err *err);
	int (*stepped)(void *extra, struct learner *learner, struct learner_stride *stride,
		struct err *err);
	/* Rates became smaller after a divergence: momentum must not bring it back. */
	void (*slow)(void *extra);

	double (*price)(const void *extra, const struct extra_costs *costs);
	void (*state)(void *extra, struct learner *learner, struct state *state);
};

/* In the order in which hooks are called and checkpoints have them. */
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
