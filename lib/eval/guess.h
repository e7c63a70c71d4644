/*
 * Guesses: the model's most probable classes when a sample arrived. They are kept with the sample
 * until its label is known, because the model will have changed by then.
 */
#ifndef RETAIN_EVAL_GUESS_H
#define RETAIN_EVAL_GUESS_H

#include <stdbool.h>
#include <stdint.h>

#include "target/target.h"

/*
 * The classes of the largest logits, in descending order; ties go to the lower class. -1 if there
 * are no more classes.
 */
void guess_best(const float *logits, int classes, union target best[TARGET_GUESS]);
void guess_most(const float *logits, int classes, int32_t *best, int count);

/* The softmax probability of a class. */
double guess_probability(const float *logits, int classes, int32_t of);

/* The softmax of all classes, padded with 0 to `width` numbers. `out` may alias the logits. */
void guess_probabilities(const float *logits, int classes, int width, float *out);

/*
 * Guesses also say whether the sample was asked late: while labels of samples before it were
 * unknown (learn/learner.h). guess_mark_late notes it in the last guess, guess_late finds any of n
 * samples that are.
 */
void guess_mark_late(union target guesses[TARGET_GUESS]);
bool guess_late(const union target *guesses, int n);

/*
 * The rank of a label among the guesses for its sample, from 1; TARGET_GUESS + 1 if it is not
 * among them.
 */
int guess_rank(const union target guesses[TARGET_GUESS], int32_t label);

#endif
