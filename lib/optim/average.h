/*
 * Moving averages of the parameters. Every K_M iterations an average moves towards
 * the parameters; the optimizer does it in the pass of its step. Kinds are rows of
 * average_types, one file each: none, ema, ama.
 *
 * AMA keeps two averages whose windows differ by a factor, and scores both. At the
 * end of each K_W iterations it goes on from the better one and moves both windows to
 * its side, by one of three rules: window, swap, paper.
 */
#ifndef RETAIN_OPTIM_AVERAGE_H
#define RETAIN_OPTIM_AVERAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/options.h"
#include "base/state.h"
#include "nn/ops.h"
#include "nn/slices.h"
#include "optim/scores.h"

struct average_config {
	const char *kind;  /* none, ema, ama; borrowed until average_new returns, as is rule */
	const char *rule;  /* ama: window, swap, paper */
	double gamma;      /* how much an average keeps at an update, at the start */
	double delta;      /* ama: the factor between the windows, and by which they move */
	double window_max; /* ama with rule window: the longest window, in updates */
	int every;         /* K_M: iterations between updates */
	const struct engine *engine; /* whose processes keep averages in slices; may be NULL */
};

struct average;

/* What the average.* keys say. */
void average_config(struct average_config *config, const struct options *options);

/* For `floats` parameters. Averages start as copies of them. */
int average_new(struct average **average, const struct average_config *config, const float *params,
	size_t floats, struct err *err);
void average_free(struct average *average);

/* Makes it what it was when new, from these parameters. */
void average_restart(struct average *average, const float *params);

int average_count(const struct average *average);                      /* 0, 1 or 2 */
const float *average_params(const struct average *average, int index); /* the own slices */

/* What the optimizer's pass must do in iteration k, which counts from 1; NULL: nothing. */
const struct average_step *average_due(struct average *average, int64_t k);

/*
 * The average that serves inference, 0 or 1; -1: the plain model. It is the better one
 * by the scores of the window so far; ties go to the second, as Alg. 2 says. While the
 * window has no scores, it is the one that inherited the weight of the last window's
 * better one; in the first window, the first.
 */
int average_best(const struct average *average, const struct scores *scores);

/* How much an average keeps at an update from now on: gamma of the paper's eq. 5, by any rule. */
double average_gamma(const struct average *average, int index);

/*
 * Ends a window: copies the better average over the other and moves their weights; not
 * so if the window has no scores. Returns which was the better one, or -1.
 */
int average_window(struct average *average, const struct scores *scores);

void average_state(struct average *average, struct state *state);

/* What a kind means for what is around it. The kind must exist. */
struct average_traits {
	int count;   /* of averages: 0, 1 or 2 */
	bool scores; /* validation scores decide between them */
};
struct average_traits average_traits(const char *kind);

struct average_type;
extern const struct average_type *const average_types[]; /* ends with NULL */
const char *average_type_name(const struct average_type *type);
const char *average_type_help(const struct average_type *type);

/* average.* keys. Ends with a row without a section. */
extern const struct option_row average_options[];

#endif
