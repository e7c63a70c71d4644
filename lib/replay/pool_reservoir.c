/*
 * A uniform sample of all that was seen, by algorithm R: the n-th sample draws j from
 * 0 .. n-1 and replaces slot j, if there is one. Its draw is number id of the pool's
 * choices.
 */
#include "replay/pool_impl.h"

static int take(struct pool *pool, int64_t id, int32_t stratum, int64_t *evicted, struct err *err)
{
	int64_t slot;

	(void)stratum;
	if (pool->count < pool->config.limit)
		return pool_append(pool, id, evicted, err);
	slot = (int64_t)rng_below(pool->choices, (uint64_t)id, (uint64_t)pool->offered + 1);
	if (slot < pool->count) {
		*evicted = pool->ids[slot];
		pool->ids[slot] = id;
	} else {
		*evicted = id;
	}
	return 0;
}

const struct pool_type pool_reservoir = {
	.name = "reservoir",
	.help = "a uniform sample of everything that was seen",
	.size = sizeof(struct pool),
	.limited = true,
	.take = take,
	.draw = pool_draw_slots,
};
