/* The rank of the true class among all logits. */
#ifndef RETAIN_NN_RANK_H
#define RETAIN_NN_RANK_H

#include <stdint.h>

/* The number of rows, of n, whose label has the largest logit; ties go to the first class. */
int rank_hits(const float *logits, int classes, const int32_t *labels, int n);

/*
 * For n rows of logits: the class with the largest (ties go to the first), and the rank of the
 * label among all classes, 1 for the largest.
 */
void rank_labels(const float *logits, int classes, const int32_t *labels, int n, int32_t *predicted,
	int32_t *rank);

#endif
