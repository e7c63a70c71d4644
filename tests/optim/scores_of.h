/* A window of scores as a test wants it. */
#ifndef RETAIN_TESTS_OPTIM_SCORES_OF_H
#define RETAIN_TESTS_OPTIM_SCORES_OF_H

#include "optim/scores.h"

/* Two rounds around these means, for models in the order plain, first, second average. */
static inline struct scores scores_of(int models, const struct score means[SCORES_MODELS])
{
	struct scores scores = {.models = models};

	for (int side = -1; side <= 1; side += 2) {
		struct score round[SCORES_MODELS];

		for (int i = 0; i < SCORES_MODELS; i++)
			round[i] = (struct score){
				means[i].loss + side * 0.25, means[i].accuracy + side * 0.125};
		scores_add(&scores, round);
	}
	return scores;
}

#endif
