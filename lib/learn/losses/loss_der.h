/* What DER++ keeps; for its file and its test. */
#ifndef RETAIN_LEARN_LOSSES_LOSS_DER_H
#define RETAIN_LEARN_LOSSES_LOSS_DER_H

#include "learn/losses/kept.h"
#include "learn/losses/loss_impl.h"

struct der {
	struct loss loss;
	float alpha, beta;
	struct kept kept;
	const float **targets; /* by position in the batch; NULL: the sample has none */
	bool *ready;           /* by number of samples: the runner has seen so many */
};

#endif
