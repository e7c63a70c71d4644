/*
 * Ridge regression on features: of vectors f of labelled samples it keeps
 *
 *	G = sum of f f',    b_c = sum of f over the samples of class c
 *
 * and solves (G + shrink tr(G) / d I) w_c = b_c for all classes. What it learned does not depend on
 * the order of samples, and nothing is ever forgotten; it is as good as the features are. For
 * embeddings that some other model made.
 *
 * Adding a sample costs d (d + 1) / 2 multiply-adds, solving d^3 / 6 + classes d^2, a prediction
 * classes d.
 */
#ifndef RETAIN_LEARN_PARTS_RIDGE_H
#define RETAIN_LEARN_PARTS_RIDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/state.h"

struct ridge_config {
	int dim, classes;
	double shrink; /* above 0; 0.1 is usual */
};

struct part;

int ridge_new(struct part **part, const struct ridge_config *config, struct err *err);
void ridge_free(struct part *part);

/* Adds a sample of `dim` numbers. Predictions stay as they are until ridge_solve. */
void ridge_add(struct part *part, const float *features, int32_t label);

/*
 * Whether solving again is worth its cost: a twentieth more samples were added than the last time
 * knew of, and at least a quarter of dim. So the times lie closer at the beginning and cost less
 * than the adding, however long the stream is.
 */
bool ridge_due(const struct part *part);
void ridge_solve(struct part *part);

/* What solving costs in multiply-adds, spread over the samples between two times. */
double ridge_solving(const struct part *part);

/*
 * Probabilities of all classes: what the regression says, without its negative part, scaled to sum
 * 1; all alike where it says nothing. Several threads may ask at a time, none while it is solved.
 */
void ridge_predict(const struct part *part, const float *features, float *probabilities);

void ridge_state(struct part *part, struct state *state);

#endif
