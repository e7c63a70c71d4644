/*
 * Guesses: the few classes that the model thought most probable when a sample came.
 * They are kept with the sample until its label is known, because the model will have
 * changed by then.
 */
#ifndef RETAIN_EVAL_GUESS_H
#define RETAIN_EVAL_GUESS_H

#include <stdint.h>

#include "store/journal.h"

/* The classes of the largest logits, the largest first. Of equal ones the lower class comes first.
 * -1 where there are no more classes. */
void guess_best(const float *logits, int classes, int32_t best[JOURNAL_GUESSES]);
void guess_most(const float *logits, int classes, int32_t *best, int count);

/* The softmax probability of a class. */
double guess_probability(const float *logits, int classes, int32_t of);

/* Those of all classes; of `width` numbers the rest become 0. `out` may be the logits. */
void guess_probabilities(const float *logits, int classes, int width, float *out);

/*
 * For each of n samples, which have JOURNAL_GUESSES guesses each: the first guess, and
 * the place of its label among them, from 1; JOURNAL_GUESSES + 1 if it is not there.
 */
void guess_rank(
	const int32_t *guesses, const int32_t *labels, int n, int32_t *predicted, int32_t *rank);

#endif
