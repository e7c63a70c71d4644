/*
 * Past tasks and the current one, half of the pool each, as ER and MIR want them.
 *
 * ids begins with `past` samples of past tasks, a uniform sample of the `past_seen` that
 * came before `start`. Behind them are those of the current task, a uniform sample of
 * its `task_seen`. When a task ends, its samples join the past. If all of them are still
 * there, each is offered to the past's reservoir by algorithm R. If not, two uniform
 * samples are merged: each place goes to one of them with the probability that a draw
 * from all samples they stand for would give it, and a random sample of it takes the
 * place. That leaves a uniform sample of both, and costs no more than taking the task's
 * samples did.
 */
#include <inttypes.h>

#include "replay/pool_impl.h"

struct halves {
	struct pool pool;
	int64_t start;                /* the current task's first id */
	int64_t past;                 /* how many samples are of past tasks, */
	int64_t past_seen, task_seen; /* and of how many each half is a sample */
};

static struct halves *halves_of(struct pool *pool)
{
	return (struct halves *)pool;
}

static int64_t past_limit(const struct pool *pool)
{
	return pool->config.limit / 2;
}

static int check_limit(struct pool *pool, struct err *err)
{
	if (pool->config.limit < 2)
		return err_set(err, ERR_INPUT,
			"replay.limit = %" PRId64 ": replay.pool = halves needs at least 2",
			pool->config.limit);
	return 0;
}

static int take(struct pool *pool, int64_t id, int32_t stratum, int64_t *evicted, struct err *err)
{
	struct halves *halves = halves_of(pool);
	const int64_t held = pool->count - halves->past;
	int64_t slot;

	(void)stratum;
	if (held < pool->config.limit - past_limit(pool)) {
		const int code = pool_append(pool, id, evicted, err);

		halves->task_seen += !code;
		return code;
	}
	slot = (int64_t)rng_below(pool->choices, (uint64_t)id, (uint64_t)halves->task_seen + 1);
	halves->task_seen++;
	*evicted = id;
	if (slot < held) {
		*evicted = pool->ids[halves->past + slot];
		pool->ids[halves->past + slot] = id;
	}
	return 0;
}

/* Algorithm R, sample by sample, in place: it reads ahead of where it writes. */
static int64_t offer_all(struct halves *halves, int64_t *evicted)
{
	struct pool *pool = &halves->pool;
	int64_t *ids = pool->ids, gone = 0;

	for (int64_t i = halves->past; i < pool->count; i++) {
		const int64_t id = ids[i];
		int64_t slot = halves->past;

		if (halves->past < past_limit(pool))
			halves->past++;
		else
			slot = (int64_t)rng_below(
				pool->choices, (uint64_t)id, (uint64_t)halves->past_seen + 1);
		halves->past_seen++;
		if (slot < halves->past && slot < i) {
			if (halves->past_seen > past_limit(pool))
				evicted[gone++] = ids[slot];
			ids[slot] = id;
		} else if (slot >= halves->past) {
			evicted[gone++] = id;
		}
	}
	return gone;
}

/* Brings a random one of ids[done ..] to place `done`. */
static void choose(int64_t *ids, int64_t done, int64_t count, struct rng rng, uint64_t counter)
{
	const int64_t at = done + (int64_t)rng_below(rng, counter, (uint64_t)(count - done));
	const int64_t id = ids[at];

	ids[at] = ids[done];
	ids[done] = id;
}

static int64_t merge(struct halves *halves, int64_t *evicted)
{
	struct pool *pool = &halves->pool;
	int64_t *old = pool->ids, *fresh = old + halves->past, gone = 0, crowds[2], taken[2] = {0};
	const int64_t counts[2] = {halves->past, pool->count - halves->past};
	uint32_t bits[4];
	struct rng rng;

	/* Numbers of their own: those of the ids were used when the task's samples came. */
	rng_bits(pool->choices, (uint64_t)1 << 63 | (uint64_t)pool->seen, bits);
	rng = (struct rng){(uint64_t)bits[1] << 32 | bits[0], RNG_POOL};
	crowds[0] = halves->past_seen;
	crowds[1] = halves->task_seen;
	for (int64_t i = 0; i < past_limit(pool); i++) {
		const uint64_t at =
			rng_below(rng, 2 * (uint64_t)i, (uint64_t)crowds[0] + (uint64_t)crowds[1]);
		const int side = at >= (uint64_t)crowds[0];

		choose(side ? fresh : old, taken[side]++, counts[side], rng, 2 * (uint64_t)i + 1);
		crowds[side]--;
	}
	for (int side = 0; side < 2; side++)
		for (int64_t i = taken[side]; i < counts[side]; i++)
			evicted[gone++] = (side ? fresh : old)[i];
	for (int64_t i = 0; i < taken[1]; i++)
		old[taken[0] + i] = fresh[i];
	halves->past = past_limit(pool);
	halves->past_seen += halves->task_seen;
	return gone;
}

static int64_t task(struct pool *pool, int64_t *evicted)
{
	struct halves *halves = halves_of(pool);
	const bool whole = pool->count - halves->past == halves->task_seen;
	const int64_t gone = whole ? offer_all(halves, evicted) : merge(halves, evicted);

	pool->count = halves->past;
	halves->task_seen = 0;
	halves->start = pool->seen;
	return gone;
}

/* Draws that stay in one half need not look at the other. */
static bool draw(const struct pool *pool, uint64_t iteration, int first, int64_t oldest,
	int64_t end, int64_t *ids, int n)
{
	const struct halves *halves = (const struct halves *)pool;
	const int64_t from = oldest >= halves->start ? halves->past : 0;
	const int64_t to = end <= halves->start ? halves->past : pool->count;

	return from < to && pool_draw_part(pool, pool->ids + from, to - from, iteration, first,
				    oldest, end, ids, n);
}

static void visit(struct pool *pool, struct state *state)
{
	struct halves *halves = halves_of(pool);

	state_int64(state, "start", &halves->start);
	state_int64(state, "past", &halves->past);
	state_int64(state, "past_seen", &halves->past_seen);
	state_int64(state, "task_seen", &halves->task_seen);
	if (state_failed(state) || !state_reading(state))
		return;
	if (halves->start < 0 || halves->start > pool->seen || halves->past < 0 ||
		halves->past > past_limit(pool) || halves->past > halves->past_seen ||
		pool->count < halves->past || halves->task_seen < pool->count - halves->past ||
		halves->past_seen > pool->offered - halves->task_seen) {
		*halves = (struct halves){.pool = *pool};
		pool->count = 0;
		state_refuse(state, ERR_FORMAT, "a pool's halves do not add up");
		return;
	}
	for (int64_t i = 0; i < pool->count; i++)
		if ((pool->ids[i] >= halves->start) != (i >= halves->past)) {
			state_refuse(state, ERR_FORMAT,
				"sample %" PRId64 " is in the wrong half of a pool", pool->ids[i]);
			return;
		}
}

const struct pool_type pool_halves = {
	.name = "halves",
	.help = "half a uniform sample of past tasks, half the current task",
	.size = sizeof(struct halves),
	.limited = true,
	.open = check_limit,
	.take = take,
	.draw = draw,
	.task = task,
	.state = visit,
};
