/*
 * Guesses: the few classes that a model thought most probable of a sample when it
 * came. They are kept with it until its label is known, which may be long after
 * the model has become another.
 */
#ifndef RETAIN_EVAL_GUESS_H
#define RETAIN_EVAL_GUESS_H

#include <stdint.h>

#include "store/journal.h"

/* The classes of the largest logits, the largest first, of equals the first; -1 where there is none. */
void guess_best(const float *logits, int classes, int32_t best[JOURNAL_GUESSES]);

/* How probable a class is by its logit among all. */
double guess_probability(const float *logits, int classes, int32_t of);

/*
 * For n samples with JOURNAL_GUESSES each: the first guess, and the place of the
 * label among them; one more than there are guesses where it is not.
 */
void guess_rank(
	const int32_t *guesses, const int32_t *labels, int n, int32_t *predicted, int32_t *rank);

#endif
