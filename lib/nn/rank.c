/* The largest logit is searched only if it is not the label's. */
#include "nn/rank.h"

#include "nn/own/kernels.h"

enum { LANES = 8 };

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

/* Of all tables the fastest: a count has no rounding errors that could differ. */
int rank_hits(const float *logits, int classes, const int32_t *labels, int n)
{
	const struct kernels *kernels = kernels_at(0);
	int hits = 0;

	for (int i = 0; i < n; i++, logits += classes)
		hits += kernels->rank(logits, classes, labels[i]) == 1;
	return hits;
}

void rank_labels(const float *logits, int classes, const int32_t *labels, int n, int32_t *predicted,
	int32_t *rank)
{
	const struct kernels *kernels = kernels_at(0);

	for (int i = 0; i < n; i++, logits += classes) {
		rank[i] = kernels->rank(logits, classes, labels[i]);
		predicted[i] = rank[i] == 1 ? labels[i] : first_largest(logits, classes);
	}
}
