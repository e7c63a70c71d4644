/*
 * Learning efficacy: the mean accuracy of predictions that were made before their labels
 * were revealed. Beside it stands a blind learner that never looks at an input: it
 * predicts the most frequent of the last w labels revealed before the step, of equals
 * the one seen last; before the first label it is wrong. A learner that does not beat
 * it has learned only that neighbours are alike.
 */
#ifndef RETAIN_EVAL_PREQUENTIAL_H
#define RETAIN_EVAL_PREQUENTIAL_H

#include <stdint.h>

#include "base/err.h"
#include "base/state.h"

struct prequential;

/* The window is at least 1. 0 classes: they come while it goes on, by prequential_classes. */
int prequential_new(struct prequential **meter, int classes, int window, struct err *err);
void prequential_free(struct prequential *meter);

/* There are so many classes from now on, or more, as before. */
int prequential_classes(struct prequential *meter, int classes, struct err *err);

/*
 * Counts a time step, its samples in the order of time. predicted[i] is the class that
 * the model thinks most probable for sample i; rank[i] is the place of the true label
 * among the model's classes, 1 if it is the first. Labels are 0 .. classes-1. Steps count
 * the same, whatever their number of samples; a step without samples does not count.
 * Allocates nothing and takes O(n + classes).
 */
void prequential_step(struct prequential *meter, const int32_t *predicted, const int32_t *rank,
	const int32_t *labels, int n);

/*
 * The share of right samples, in [0, 1], as a mean over all steps; 0 before the first.
 * Right by the model's first class, by its first five, and by the blind learner.
 */
double prequential_top1(const struct prequential *meter);
double prequential_top5(const struct prequential *meter);
double prequential_blind(const struct prequential *meter);

/* Reads into a meter with the same window, and the same classes unless they come. */
void prequential_state(struct prequential *meter, struct state *state);

#endif
