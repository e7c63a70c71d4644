/*
 * Two counts a row, in loops that a compiler can do several lanes of at a time;
 * the largest is only looked for where the label is not it.
 */
#include "nn/rank.h"

enum { LANES = 8 };

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
	float top[LANES];
	int c, i;

	for (i = 0; i < LANES; i++)
		top[i] = logits[0];
	for (c = 0; c + LANES <= classes; c += LANES)
		for (i = 0; i < LANES; i++)
			top[i] = logits[c + i] > top[i] ? logits[c + i] : top[i];
	for (; c < classes; c++)
		top[0] = logits[c] > top[0] ? logits[c] : top[0];
	for (i = 1; i < LANES; i++)
		top[0] = top[i] > top[0] ? top[i] : top[0];
	for (c = 0; c < classes; c++)
		if (logits[c] == top[0])
			return c;
	return 0; /* the first logit is NaN: nothing compares as larger */
}

void rank_labels(const float *logits, int classes, const int32_t *labels, int n, int32_t *predicted,
	int32_t *rank)
{
	for (int i = 0; i < n; i++, logits += classes) {
		rank[i] = rank_label(logits, classes, labels[i]);
		predicted[i] = rank[i] == 1 ? labels[i] : first_largest(logits, classes);
	}
}
