/*
 * The newest samples. Once full, ids is a ring: the oldest is at `head`, and ids increase from
 * there, so that a range is found by binary search.
 */
#include "replay/pool_impl.h"

struct fifo {
	struct pool pool;
	int64_t head; /* 0 while the pool is not full */
};

static struct fifo *fifo_of(struct pool *pool)
{
	return (struct fifo *)pool;
}

/* The i-th oldest. */
static int64_t id_at(const struct pool *pool, int64_t i)
{
	const int64_t slot = ((const struct fifo *)pool)->head + i;

	return pool->ids[slot < pool->count ? slot : slot - pool->count];
}

static int take(struct pool *pool, int64_t id, int32_t stratum, int64_t *evicted, struct err *err)
{
	struct fifo *fifo = fifo_of(pool);

	(void)stratum;
	if (pool->count < pool->config.limit)
		return pool_append(pool, id, evicted, err);
	*evicted = pool->ids[fifo->head];
	pool->ids[fifo->head] = id;
	if (++fifo->head == pool->count)
		fifo->head = 0;
	return 0;
}

/* How many are older. */
static int64_t count_older(const struct pool *pool, int64_t oldest)
{
	int64_t low = 0, high = pool->count;

	while (low < high) {
		const int64_t middle = low + (high - low) / 2;

		if (id_at(pool, middle) < oldest)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool draw(const struct pool *pool, uint64_t iteration, int first, int64_t oldest,
	int64_t end, int64_t *ids, int n)
{
	const int64_t older = count_older(pool, oldest), span = count_older(pool, end) - older;
	struct dice_row row;

	if (span == 0)
		return false;
	dice_start(&row, pool->draws, iteration, first, n);
	for (int i = 0; i < n; i++) {
		struct dice dice = dice_next(&row);

		ids[i] = id_at(pool, older + (int64_t)dice_below(&dice, (uint64_t)span));
	}
	return true;
}

static int64_t start(const struct pool *pool)
{
	return id_at(pool, 0);
}

static void visit(struct pool *pool, struct state *state)
{
	struct fifo *fifo = fifo_of(pool);

	state_int64(state, "head", &fifo->head);
	if (state_failed(state) || !state_reading(state))
		return;
	if (fifo->head < 0 || fifo->head >= (pool->count == pool->config.limit ? pool->count : 1)) {
		fifo->head = 0;
		state_refuse(state, ERR_FORMAT, "a fifo's head is not in it");
		return;
	}
	for (int64_t i = 1; i < pool->count; i++)
		if (id_at(pool, i) <= id_at(pool, i - 1)) {
			state_refuse(state, ERR_FORMAT, "a fifo's samples are not in order");
			return;
		}
}

const struct pool_type pool_fifo = {
	.name = "fifo",
	.help = "the newest samples",
	.size = sizeof(struct fifo),
	.limited = true,
	.take = take,
	.draw = draw,
	.start = start,
	.state = visit,
};
