/*
 * Guesses: the model's most probable classes when a sample arrived. They are kept with the sample
 * until its label is known, because the model will have changed by then.
 */
#ifndef RETAIN_EVAL_GUESS_H
#define RETAIN_EVAL_GUESS_H

#include <stdint.h>

#include "store/journal.h"

/*
 * The classes of the largest logits, in descending order; ties go to the lower class. -1 if there
 * are no more classes.
 */
void guess_best(const float *logits, int classes, int32_t best[JOURNAL_GUESSES]);
void guess_most(const float *logits, int classes, int32_t *best, int count);

/* The softmax probability of a class. */
double guess_probability(const float *logits, int classes, int32_t of);

/* The softmax of all classes, padded with 0 to `width` numbers. `out` may alias the logits. */
void guess_probabilities(const float *logits, int classes, int width, float *out);

/*
 * For each of n samples with JOURNAL_GUESSES guesses each: the first guess, and the rank of its
 * label among them, from 1; JOURNAL_GUESSES + 1 if it is not among them.
 */
void guess_rank(
	const int32_t *guesses, const int32_t *labels, int n, int32_t *predicted, int32_t *rank);

#endif
