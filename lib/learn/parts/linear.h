/*
 * Online softmax regression. For input vectors x, extended by a 1, it has weights w_c and makes
 * one Newton step for each labelled sample,
 *
 *	w_c <- w_c + P x ([c is the label] - p_c),    1/P <- keep / P + h x x',
 *
 * where p are its probabilities before the step and h is the curvature of the loss there. P
 * starts as I / shrink and never grows beyond. So there is no learning rate: steps are large at
 * first, shrink as samples arrive, and level off because samples older than 1 / (1 - keep) no
 * longer count.
 *
 * Finds a linear boundary in fewer samples than a net needs. Inputs should have a scale of about
 * 1.
 *
 * With up to LINEAR_WHOLE inputs P is a full matrix, and a sample costs twice the square of their
 * number; with more, only its diagonal is kept.
 */
#ifndef RETAIN_LEARN_PARTS_LINEAR_H
#define RETAIN_LEARN_PARTS_LINEAR_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/state.h"

enum { LINEAR_WHOLE = 128 };

struct linear_config {
	int dim, classes;
	double keep;   /* above 0, up to 1; 0.998 is usual */
	double shrink; /* above 0; 10 is usual */
	int first;     /* dim before inputs grew, for which P is a matrix or not; 0: dim */
};

struct part;

int linear_new(struct part **part, const struct linear_config *config, struct err *err);
void linear_free(struct part *part);

/* Learns from a sample of `dim` numbers. */
void linear_learn(struct part *part, const float *inputs, int32_t label);

/* Probabilities of all classes. May run on several threads, but not while it learns. */
void linear_predict(const struct part *part, const float *inputs, float *probabilities);

/*
 * All that answers depend on, (classes, dim + 1) weights; linear_answer computes answers from
 * them with the same bits.
 */
const double *linear_weights(const struct part *part);
void linear_answer(
	const double *weights, int dim, int classes, const float *inputs, float *probabilities);

/* Multiply-adds of an answer and of learning from a sample; memory. */
double linear_macs(const struct part *part);
double linear_bytes(const struct part *part);

void linear_state(struct part *part, struct state *state);

#endif
