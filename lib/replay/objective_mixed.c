/*
 * Half new, half replay; the new half is the larger one if n is odd. New samples come in a random
 * order of the step, a different one in each iteration and each time round. In a batch of twice
 * the step's size each comes once.
 */
#include "replay/objective_impl.h"
#include "replay/shuffle.h"

bool objective_new_samples(
	const struct objective *objective, uint64_t iteration, int64_t *ids, int n)
{
	const uint64_t size = (uint64_t)(objective->end - objective->first);
	struct shuffle shuffle;
	int taken = 0;

	for (uint64_t round = 0; taken < n; round++) {
		const int before = taken;

		/* A round takes at least one, so there are never 2^16 of them. */
		shuffle_init(&shuffle, objective->orders, iteration << 16 | round, size);
		for (uint64_t i = 0; i < size && taken < n; i++) {
			const int64_t id = objective->first + (int64_t)shuffle_at(&shuffle, i);

			if (pool_takes(objective->pool, id))
				ids[taken++] = id;
		}
		if (taken == before)
			return false;
	}
	return true;
}

static bool batch(
	struct objective *objective, uint64_t iteration, int n, int64_t *ids, float *weights)
{
	const int64_t history = objective->reach, seen = pool_seen(objective->pool);
	const int64_t oldest = history && history < seen ? seen - history : 0;
	const int fresh = n - n / 2, old = n / 2;
	const bool some_new = objective_new_samples(objective, iteration, ids, fresh);

	if (some_new && old &&
		objective_replay(objective, iteration, fresh, oldest, ids + fresh, old)) {
		objective_weigh(weights, fresh, 0.5);
		objective_weigh(weights + fresh, old, 0.5);
		return true;
	}
	if (!(some_new ? objective_new_samples(objective, iteration, ids, n)
		       : objective_replay(objective, iteration, 0, oldest, ids, n)))
		return false;
	objective_weigh(weights, n, 1);
	return true;
}

const struct objective_type objective_mixed = {
	.name = "mixed",
	.help = "half from the current step, half from the history",
	.size = sizeof(struct objective),
	.batch = batch,
	.traits = {.reaches = true},
};
