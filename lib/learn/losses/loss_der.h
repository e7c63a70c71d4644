/* DER++'s state, for its file and its test. */
#ifndef RETAIN_LEARN_LOSSES_LOSS_DER_H
#define RETAIN_LEARN_LOSSES_LOSS_DER_H

#include "learn/losses/kept.h"
#include "learn/losses/loss_impl.h"

struct der {
	struct loss loss;
	float alpha, beta;
	struct kept kept;
	const float **targets; /* by position in the batch; NULL: no stored logits */
	bool *ready;           /* by number of samples: the runner is prepared for it */
};

#endif
