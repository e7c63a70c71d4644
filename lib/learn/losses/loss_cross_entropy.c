/* Cross-entropy, computed by the runner itself. */
#include "learn/losses/loss_impl.h"

const struct loss_type loss_cross_entropy = {
	.name = "cross-entropy",
	.help = "minus the logarithm of the label's probability",
	.size = sizeof(struct loss),
};
