/*
 * Validation scores over a window of iterations. Every few iterations the plain model and its
 * averages are scored on the same batch. At the end of the window averages and schedules decide
 * by the means of these scores alone.
 */
#ifndef RETAIN_OPTIM_SCORES_H
#define RETAIN_OPTIM_SCORES_H

#include <stdint.h>

#include "base/state.h"

/* Which model: the plain one, then its averages. */
enum { SCORES_PLAIN = 0, SCORES_AVERAGE = 1, SCORES_MODELS = 3 };

struct score {
	double loss, accuracy; /* means; accuracy in [0, 1] */
};

struct scores {
	int models;     /* 1 + number of averages */
	int64_t rounds; /* batches scored in this window */
	struct score sum[SCORES_MODELS];
	double gap_squares
		[SCORES_MODELS]; /* of accuracy minus the plain model's, for its standard error */
};

/* The caller sets `models` once; everything else starts as zeros. A round is one scored batch. */
void scores_add(struct scores *scores, const struct score round[SCORES_MODELS]);
struct score scores_mean(const struct scores *scores, int model); /* zeros without a round */
void scores_clear(struct scores *scores); /* starts a new window of the same models */
void scores_state(struct scores *scores, struct state *state);

#endif
