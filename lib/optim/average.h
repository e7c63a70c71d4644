/*
 * Moving averages of the parameters. Every K_M iterations an average moves
 * towards the parameters; the optimizer does it in its own pass. Kinds are rows
 * of average_types, one file each: none, ema, ama.
 *
 * AMA keeps two averages with windows that differ by a factor, scores both, and
 * at the end of each K_W window goes on from the better one, with both windows
 * moved to its side. Three rules for moving them: window, swap, paper.
 */
#ifndef RETAIN_OPTIM_AVERAGE_H
#define RETAIN_OPTIM_AVERAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/options.h"
#include "base/state.h"
#include "nn/kernels.h"
#include "optim/scores.h"

struct average_config {
	const char *kind;  /* none, ema, ama; both names are borrowed until average_new */
	const char *rule;  /* ama: window, swap, paper */
	double gamma;      /* the weight that an average starts with */
	double delta;      /* ama: the factor between and by which windows move */
	double window_max; /* ama, rule window: the longest window, in updates */
	int every;         /* K_M */
};

struct average;

/* What the average.* keys say. */
void average_config(struct average_config *config, const struct options *options);

/* For parameters of `floats` numbers; averages start as a copy of params. */
int average_new(struct average **average, const struct average_config *config, const float *params,
	size_t floats, struct err *err);
void average_free(struct average *average);

/* As if it were new: averages and their weights start again, from these parameters. */
void average_restart(struct average *average, const float *params);

int average_count(const struct average *average); /* 0, 1 or 2 */
const float *average_params(const struct average *average, int index);

/* What the optimizer's pass must do in iteration k (from 1), NULL for nothing. */
const struct average_step *average_due(struct average *average, int64_t k);

/*
 * The average that serves inference by the scores of the window so far: 0 or 1,
 * or -1 for the plain model. Ties go to the second, as Alg. 2 says. While a
 * window has no scores yet, it is the first in the first window, and later the
 * one that goes on with the weight of the last window's better one.
 */
int average_best(const struct average *average, const struct scores *scores);

/* How much an average keeps at an update from now on: gamma of the paper's eq. 5, for any rule. */
double average_gamma(const struct average *average, int index);

/*
 * The end of a window: moves the weights, copies the better average to the other.
 * Returns the index of the better one before anything moved, or -1. A window
 * without scores moves and copies nothing.
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
