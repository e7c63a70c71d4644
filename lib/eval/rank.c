/* One pass over each row. */
#include "eval/rank.h"

void rank_labels(const float *logits, int classes, const int32_t *labels, int n, int32_t *predicted,
	int32_t *rank)
{
	for (int i = 0; i < n; i++, logits += classes) {
		const float own = logits[labels[i]];
		int best = 0, before = 0;

		for (int c = 0; c < classes; c++) {
			if (logits[c] > logits[best])
				best = c;
			before += logits[c] > own || (logits[c] == own && c < labels[i]);
		}
		predicted[i] = best;
		rank[i] = before + 1;
	}
}
