/*
 * Learning efficacy: the mean accuracy of predictions made before their labels were revealed. The
 * blind baseline never looks at an input: it predicts the most frequent of the last w labels
 * revealed before the step (ties go to the one seen last); before the first label it is wrong. A
 * learner that does not beat it has only learned that neighbours are alike. Beside it stand two
 * that others use: the last label before the step, and the most frequent of all before it (ties go
 * to the one that led first).
 */
#ifndef RETAIN_EVAL_PREQUENTIAL_H
#define RETAIN_EVAL_PREQUENTIAL_H

#include <stdint.h>

#include "base/err.h"
#include "base/state.h"
#include "target/target.h"

struct prequential;

/* The window is at least 1. 0 classes: they are added later by prequential_classes. */
int prequential_new(struct prequential **meter, int classes, int window, struct err *err);
void prequential_free(struct prequential *meter);

/* Makes room for at least this many classes. */
int prequential_classes(struct prequential *meter, int classes, struct err *err);

/*
 * Counts a time step, its samples in time order: TARGET_GUESS classes for each, best first, and
 * its label, 0 .. classes-1. Steps have equal weight, whatever their number of samples; empty steps do not count.
 * Allocates nothing and takes O(n + classes).
 */
void prequential_step(
	struct prequential *meter, const union target *guesses, const union target *labels, int n);

/*
 * Accuracy in [0, 1], as a mean over all steps; 0 before the first: top 1, top 5, and of the
 * blind baseline.
 */
double prequential_top1(const struct prequential *meter);
double prequential_top5(const struct prequential *meter);
double prequential_blind(const struct prequential *meter);
/*
 * Likewise, of the last label, of the most frequent, and of the chain (target/chain.h): what the
 * order of labels alone is good for. NAN if an older state did not count them.
 */
double prequential_same(const struct prequential *meter);
double prequential_most(const struct prequential *meter);
double prequential_chain(const struct prequential *meter);

/* Reads into a meter with the same window and, unless classes grow, the same classes. */
void prequential_state(struct prequential *meter, struct state *state);

#endif
