/*
 * Softmax regression that follows a stream: of vectors x of labelled samples, behind each of
 * which stands a 1, it has weights w_c and makes one step of Newton's method for each sample,
 *
 *	w_c <- w_c + P x ([c is the label] - p_c),    1/P <- keep / P + h x x',
 *
 * p being its probabilities before, h how curved the loss is there. P begins as I / shrink and
 * never grows beyond. So there is no rate: steps are large at first, become smaller as samples
 * come, and stay as large as what happened 1 / (1 - keep) samples ago no longer counts.
 *
 * Where a straight boundary fits, it is found in fewer samples than a net needs. For inputs of
 * a scale about 1.
 *
 * With up to LINEAR_WHOLE inputs P is a matrix, and a sample costs twice the square of their
 * number; with more its diagonal stands for it.
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
};

struct part;

int linear_new(struct part **part, const struct linear_config *config, struct err *err);
void linear_free(struct part *part);

/* A sample of `dim` numbers. */
void linear_learn(struct part *part, const float *inputs, int32_t label);

/* Probabilities of all classes. Several threads may ask at a time, none while it learns. */
void linear_predict(const struct part *part, const float *inputs, float *probabilities);

/* All that answers depend on, (classes, dim + 1) weights; and what they say, with the same bits. */
const double *linear_weights(const struct part *part);
void linear_answer(
	const double *weights, int dim, int classes, const float *inputs, float *probabilities);

/* Multiply-adds of an answer and of learning from a sample; memory. */
double linear_macs(const struct part *part);
double linear_bytes(const struct part *part);

void linear_state(struct part *part, struct state *state);

#endif
