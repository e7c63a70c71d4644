/*
 * Two counts a row, in loops that a compiler can do several lanes of at a time;
 * the largest is only looked for where the label is not it.
 */
#include "nn/rank.h"

int rank_label(const float *logits, int classes, int label)
{
	const float own = logits[label];
	int rank = 1;

	/* What is not a number stands behind all that are. */
	if (own != own)
		return classes;
	for (int c = 0; c < label; c++)
		rank += logits[c] >= own;
	for (int c = label + 1; c < classes; c++)
		rank += logits[c] > own;
	return rank;
}

static int first_largest(const float *logits, int classes)
{
	int best = 0;

	for (int c = 1; c < classes; c++)
		if (logits[c] > logits[best])
			best = c;
	return best;
}

void rank_labels(const float *logits, int classes, const int32_t *labels, int n, int32_t *predicted,
	int32_t *rank)
{
	for (int i = 0; i < n; i++, logits += classes) {
		rank[i] = rank_label(logits, classes, labels[i]);
		predicted[i] = rank[i] == 1 ? labels[i] : first_largest(logits, classes);
	}
}
