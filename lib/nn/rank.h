/* Where the right class stands among all that a model considers. */
#ifndef RETAIN_NN_RANK_H
#define RETAIN_NN_RANK_H

#include <stdint.h>

/* In how many of n rows the label's logit is the largest; of equals the first class comes first. */
int rank_hits(const float *logits, int classes, const int32_t *labels, int n);

/*
 * For n rows of logits: the class with the largest (of equals the first), and the
 * place of the label among all classes, 1 being the largest.
 */
void rank_labels(const float *logits, int classes, const int32_t *labels, int n, int32_t *predicted,
	int32_t *rank);

#endif
