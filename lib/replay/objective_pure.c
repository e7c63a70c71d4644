/* Pure replay: the whole batch comes from the pool. */
#include "replay/objective_impl.h"

static bool batch(
	struct objective *objective, uint64_t iteration, int n, int64_t *ids, float *weights)
{
	if (!objective_replay(objective, iteration, 0, 0, ids, n))
		return false;
	objective_weigh(weights, n, 1);
	return true;
}

const struct objective_type objective_pure = {
	.name = "pure",
	.help = "uniform over everything in the pool",
	.size = sizeof(struct objective),
	.batch = batch,
};
