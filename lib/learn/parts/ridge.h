/*
 * Ridge regression on features: over labelled feature vectors f it keeps
 *
 *	G = sum of f f',    b_c = sum of f over the samples of class c
 *
 * and solves (G + shrink tr(G) / d I) w_c = b_c for all classes. The result does not depend on
 * the order of samples, and nothing is forgotten; it is as good as the features. Meant for
 * embeddings made by another model.
 *
 * Adding a sample costs d (d + 1) / 2 multiply-adds, solving d^3 / 6 + classes d^2, a prediction
 * classes d.
 */
#ifndef RETAIN_LEARN_PARTS_RIDGE_H
#define RETAIN_LEARN_PARTS_RIDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/state.h"

struct ridge_config {
	int dim, classes;
	double shrink; /* above 0; 0.1 is usual */
	int least;     /* samples from one solve to the next at least; 0: dim / 4 */
};

struct part;

int ridge_new(struct part **part, const struct ridge_config *config, struct err *err);
void ridge_free(struct part *part);

/* Adds a sample of `dim` numbers. Predictions do not change until ridge_solve. */
void ridge_add(struct part *part, const float *features, int32_t label);

/*
 * Whether solving again is worth its cost: samples have grown by a twentieth since the last
 * solve, and by at least `least`. So solves are more frequent at first and, with a quarter of dim,
 * cost less than adding, however long the stream.
 */
bool ridge_due(const struct part *part);
void ridge_solve(struct part *part);

/* The cost of solving in multiply-adds, spread over the samples between two solves. */
double ridge_solving(const struct part *part);

/*
 * Probabilities of all classes: the regression's positive part, scaled to sum to 1; uniform if it
 * is all zero. May run on several threads, but not during a solve.
 */
void ridge_predict(const struct part *part, const float *features, float *probabilities);
/* The regression itself: 1 for the class, 0 for others, where it is right. Zeros at first. */
void ridge_score(const struct part *part, const float *features, float *scores);

/* A copy in so many bytes of the caller's, for ridge_predict alone. */
size_t ridge_copied(const struct part *part);
void ridge_copy(const struct part *part, void *to);

/* Multiply-adds of a sample, and memory. */
double ridge_macs(const struct part *part);
double ridge_bytes(const struct part *part);

void ridge_state(struct part *part, struct state *state);

#endif
