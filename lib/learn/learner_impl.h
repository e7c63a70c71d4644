/* What the learner's files share. */
#ifndef RETAIN_LEARN_LEARNER_IMPL_H
#define RETAIN_LEARN_LEARNER_IMPL_H

#include "learn/learner.h"
#include "nn/runner.h"
#include "optim/average.h"
#include "optim/optimizer.h"
#include "replay/objective.h"
#include "replay/pool.h"

struct learner {
	struct learner_watch watch;
	struct store *store;
	struct net *net;
	struct engine *engine;
	struct runner *runner;
	struct optimizer *optimizer;
	struct average *average;
	struct schedule *schedule;
	struct pool *pool, *validation; /* validation: NULL when nothing is held out */
	struct objective *objective;

	int batch, validation_batch;
	int64_t validate_every, window, statistics_every;

	int64_t iteration;
	double loss;
	bool diverged; /* the last batch, or check, met what is no number */
	struct scores scores; /* of the window that goes on */
	bool scored;          /* there is a last window, with: */
	struct score last[SCORES_MODELS];
	int judged; /* the model that was best in it */
	double sigma;

	/* Samples that no pool holds any more, kept until the next time step: an objective may draw
	 * from the current one whatever pools do. */
	int64_t *leaving;
	int64_t leaving_count, leaving_room;

	size_t floats;                /* of one input */
	float *params, *grad;
	float *stats[SCORES_MODELS];  /* batch norm's, by model; NULL for nets without it */
	float *inputs, *logits, *losses; /* room for the larger of the two batches */
	float *weights;
	int64_t *ids;
	int32_t *labels;

	int64_t coming; /* iterations until something is revealed, as far as is known */
	int64_t *guess; /* a batch that will probably be drawn; NULL: nobody wants to know */
	float *guess_weights;
};

enum { LEARNER_AHEAD = 2 }; /* batches that are made ready */

/* Where a model's weights are; NULL if there is no such model. */
const float *model_params(const struct learner *learner, int model);
float *model_stats(const struct learner *learner, int model);
int model_best(const struct learner *learner);

/* Makes room for so many samples that leave. */
int leaving_reserve(struct learner *learner, int64_t count, struct err *err);

#endif
