/*
 * Learning efficacy: the mean accuracy of predictions that were made before
 * their labels were revealed. Beside it a blind learner that never looks at an
 * input: it predicts the most frequent of the last w labels that were revealed
 * before the step (ties: the one that was seen last). Who does not beat it has
 * learned nothing but that neighbours are alike.
 */
#ifndef RETAIN_EVAL_PREQUENTIAL_H
#define RETAIN_EVAL_PREQUENTIAL_H

#include <stdint.h>

#include "base/err.h"
#include "base/state.h"

struct prequential;

int prequential_new(struct prequential **meter, int classes, int window, struct err *err);
void prequential_free(struct prequential *meter);

/*
 * A time step's labels and, for each sample, the predicted class and whether the
 * label was among the first five; in the order of time. Steps count equally in
 * LE, whatever their number of samples.
 */
void prequential_step(struct prequential *meter, const int32_t *predicted, const int32_t *rank,
	const int32_t *labels, int n);

/* Means over all steps so far, in [0, 1]; 0 before the first. rank 1 is a hit, up to 5 a top-5 hit. */
double prequential_top1(const struct prequential *meter);
double prequential_top5(const struct prequential *meter);
double prequential_blind(const struct prequential *meter);

void prequential_state(struct prequential *meter, struct state *state);

#endif
