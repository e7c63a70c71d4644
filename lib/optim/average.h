/*
 * Moving averages of the parameters. Every K_M iterations an average moves towards the
 * parameters; the optimizer does this in the pass of its step. Kinds are rows of average_types,
 * one file each: none, ema, ama.
 *
 * AMA keeps two averages whose windows differ by a factor, and scores both. At the end of each
 * K_W iterations it continues from the better one and moves both windows to its side. Rules
 * (average.rule) say how windows move, and which average a tie goes to.
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
	const char *rule;  /* ama: a value of average.rule */
	double gamma;      /* initial fraction that an average keeps at an update */
	double delta;      /* ama: the factor between the windows, and by which they move */
	double window_max; /* ama with rule window: the longest window, in updates */
	int every;         /* K_M: iterations between updates */
	const struct engine *engine; /* whose processes keep averages in slices; may be NULL */
};

struct average;

/* From the average.* keys. */
void average_config(struct average_config *config, const struct options *options);

/* For `floats` parameters. Averages start as copies of them. */
int average_new(struct average **average, const struct average_config *config, const float *params,
	size_t floats, struct err *err);
void average_free(struct average *average);

/* Resets it as if new, from these parameters. */
void average_restart(struct average *average, const float *params);

int average_count(const struct average *average);                      /* 0, 1 or 2 */
const float *average_params(const struct average *average, int index); /* this process's slices */

/* The work of the optimizer's pass in iteration k, counted from 1; NULL: none. */
const struct average_step *average_due(struct average *average, int64_t k);

/*
 * The average that serves inference, 0 or 1; -1: the plain model. It is the better one by the
 * scores of the window so far; ties go where the rule says. While the window has no scores, it is
 * the one that inherited the weight of the last window's better one; in the first window, the
 * first.
 */
int average_best(const struct average *average, const struct scores *scores);

/*
 * The fraction an average keeps at an update from now on: gamma of the paper's eq. 5, by any
 * rule.
 */
double average_gamma(const struct average *average, int index);

/*
 * Ends a window: copies the better average over the other and moves their weights, unless the
 * window has no scores. Returns the better one, or -1.
 */
int average_window(struct average *average, const struct scores *scores);

void average_state(struct average *average, struct state *state);

/* Properties of a kind that others depend on. The kind must exist. */
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
