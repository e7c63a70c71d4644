/*
 * The windows of a schedule: the plain model and its averages are scored now and then, and at the
 * end of a window averages and schedule decide by the means. It sees no weights of its own; the
 * caller's averages may have some.
 */
#ifndef RETAIN_OPTIM_SCORING_H
#define RETAIN_OPTIM_SCORING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/state.h"
#include "optim/average.h"
#include "optim/schedule.h"
#include "optim/scores.h"

struct scoring {
	struct scores scores;             /* of the current window, */
	int64_t end;                      /* which ends with this iteration */
	bool scored;                      /* a window was scored; of the last one: */
	struct score last[SCORES_MODELS]; /* their means, */
	int judged;                       /* the best model, */
	double sigma;                     /* and its lead */
};

/* The end of a window of K_W iterations: decisions and the numbers behind them. */
struct scoring_window {
	int64_t iteration;
	int64_t rounds; /* validation batches in the window */
	int averages;   /* number of averages */
	int best;       /* the better average; -1: none */
	struct score scores[SCORES_MODELS];
	double gamma_before[2], gamma_after[2];
	struct schedule_verdict verdict;
};

/* For models scored from iteration k + 1 on. */
void scoring_begin(struct scoring *scoring, const struct average *average,
	const struct schedule *schedule, int64_t k);

/* SCORES_PLAIN or SCORES_AVERAGE + i: the better average, if there is one. */
int scoring_best(const struct scoring *scoring, const struct average *average);

/* The model that serves: the better average or, with `plain`, the plain one if it validates better. */
int scoring_served(const struct scoring *scoring, const struct average *average, bool plain);

/*
 * Ends the window after iteration k. False if it has no scores: then nothing was decided.
 * Otherwise the better average was copied over the other one.
 */
bool scoring_end(struct scoring *scoring, int64_t k, struct schedule *schedule,
	struct average *average, struct scoring_window *window);

/* Without the end, which follows from the schedule: scoring_begin. */
void scoring_state(struct scoring *scoring, struct state *state);

#endif
