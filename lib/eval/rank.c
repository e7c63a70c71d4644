/*
 * Two counts a row, in loops that a compiler can do several lanes of at a time;
 * the largest is only looked for where the label is not it.
 */
#include "eval/rank.h"

static int count_before(const float *logits, int classes, int label)
{
	const float own = logits[label];
	int before = 0;

	/* What is not a number stands behind all that are. */
	if (own != own)
		return classes - 1;
	for (int c = 0; c < label; c++)
		before += logits[c] >= own;
	for (int c = label + 1; c < classes; c++)
		before += logits[c] > own;
	return before;
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
		rank[i] = 1 + count_before(logits, classes, labels[i]);
		predicted[i] = rank[i] == 1 ? labels[i] : first_largest(logits, classes);
	}
}
