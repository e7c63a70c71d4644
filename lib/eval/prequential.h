/*
 * Learning efficacy: the mean accuracy of predictions that were made before
 * their labels were revealed. Beside it a blind learner that never looks at an
 * input: it predicts the most frequent of the last w labels that were revealed
 * before the step (ties: the one that was seen last; before the first label:
 * nothing, which is wrong). Who does not beat it has learned nothing but that
 * neighbours are alike.
 */
#ifndef RETAIN_EVAL_PREQUENTIAL_H
#define RETAIN_EVAL_PREQUENTIAL_H

#include <stdint.h>

#include "base/err.h"
#include "base/state.h"

struct prequential;

/* Both at least 1. */
int prequential_new(struct prequential **meter, int classes, int window, struct err *err);
void prequential_free(struct prequential *meter);

/*
 * A time step, its samples in the order of time: predicted[i] is the model's
 * first class for sample i, rank[i] the place of the true label among all the
 * model's classes, 1 being the first; so rank[i] is 1 exactly where predicted[i]
 * is labels[i]. Labels are from 0 to classes-1. Steps count equally, whatever
 * their number of samples; one without samples does not count. No allocation;
 * O(n + classes).
 */
void prequential_step(struct prequential *meter, const int32_t *predicted, const int32_t *rank,
	const int32_t *labels, int n);

/*
 * Means over all steps so far of the share of samples that were right, in [0, 1];
 * 0 before the first. Right: predicted; rank at most 5; the blind learner's word.
 */
double prequential_top1(const struct prequential *meter);
double prequential_top5(const struct prequential *meter);
double prequential_blind(const struct prequential *meter);

/* For a meter of the same classes and window. */
void prequential_state(struct prequential *meter, struct state *state);

#endif
