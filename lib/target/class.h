/* Logits of classes: the most probable ones, and probabilities. */
#ifndef RETAIN_TARGET_CLASS_H
#define RETAIN_TARGET_CLASS_H

#include "target/target.h"

/*
 * The classes of the largest logits, in descending order; ties go to the lower class. -1 if there
 * are no more classes.
 */
void class_most(const float *logits, int classes, int32_t *best, int count);

/* The softmax probability of a class. */
double class_probability(const float *logits, int classes, int32_t of);

/* The softmax of all classes, padded with 0 to `width` numbers. `out` may alias the logits. */
void class_probabilities(const float *logits, int classes, int width, float *out);

/*
 * The rank of a label among the guesses for its sample, from 1; TARGET_GUESS + 1 if it is not
 * among them.
 */
int class_rank(const union target guesses[TARGET_GUESS], int32_t label);

/*
 * The log-odds of class 1 against class 0 in a guess that was made when these were the known
 * classes; NAN in any other.
 */
float class_odds(const union target guess[TARGET_GUESS]);

#endif
