/*
 * Keeps everything without memory: it holds all ids below `seen` on its side of the holdout. A
 * draw tries random ids until one is on that side.
 */
#include "replay/pool_impl.h"

static int take(struct pool *pool, int64_t id, int32_t stratum, int64_t *evicted, struct err *err)
{
	(void)id, (void)stratum, (void)err;
	pool->count++;
	*evicted = -1;
	return 0;
}

/* For the rare case that the tries run out: counts what is in range and takes one. */
static bool scan(
	const struct pool *pool, struct dice *dice, int64_t oldest, int64_t end, int64_t *id)
{
	uint64_t held = 0, pick;

	for (int64_t i = oldest; i < end; i++)
		held += pool_takes(pool, i);
	if (held == 0)
		return false;
	pick = dice_below(dice, held);
	for (*id = oldest;; ++*id)
		if (pool_takes(pool, *id) && pick-- == 0)
			return true;
}

static bool draw(const struct pool *pool, uint64_t iteration, int first, int64_t oldest,
	int64_t end, int64_t *ids, int n)
{
	/* They cost about as much as the scan that follows them. */
	const uint64_t span = (uint64_t)(end - oldest), tries = 64 + span / 4;
	struct dice_row row;

	dice_start(&row, pool->draws, iteration, first, n);
	for (int i = 0; i < n; i++) {
		struct dice dice = dice_next(&row);
		uint64_t offset;
		bool found = false;

		while (!found && dice.thrown < tries)
			found = dice_throw(&dice, span, &offset) &&
				pool_takes(pool, oldest + (int64_t)offset);
		if (found)
			ids[i] = oldest + (int64_t)offset;
		else if (!scan(pool, &dice, oldest, end, &ids[i]))
			return false;
	}
	return true;
}

const struct pool_type pool_unlimited = {
	.name = "unlimited",
	.help = "everything that was seen; needs no memory",
	.size = sizeof(struct pool),
	.take = take,
	.draw = draw,
};
