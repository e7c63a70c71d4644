/*
 * Shared by the files of the pools: the row of a kind, the head of every pool, the sieve that
 * separates held-out samples, and the dice for draws.
 */
#ifndef RETAIN_REPLAY_POOL_IMPL_H
#define RETAIN_REPLAY_POOL_IMPL_H

#include <stddef.h>

#include "base/rng.h"
#include "replay/mix.h"
#include "replay/pool.h"

/* A holdout, prepared to be asked about many ids. */
struct sieve {
	uint64_t key;
	uint64_t threshold; /* of the hash's upper 53 bits */
};
void sieve_init(struct sieve *sieve, const struct holdout *holdout);

static inline bool sieve_has(const struct sieve *sieve, int64_t id)
{
	return mix64(sieve->key + (uint64_t)id * MIX_STEP) >> 11 < sieve->threshold;
}

/* The head of every pool. */
struct pool {
	const struct pool_type *type;
	struct pool_config config; /* its kind is the row's name */
	struct sieve sieve;
	struct rng draws, choices; /* for batches; for evictions */
	int64_t seen;              /* samples offered, */
	int64_t offered;           /* those on this pool's side of the holdout, */
	int64_t count;             /* and those that it holds */
	int64_t *ids, room;        /* limited kinds: the ids held, and the capacity */
};

struct pool_type {
	const char *name, *help;
	size_t size;  /* of the kind's struct, which begins with struct pool */
	bool limited; /* has a limit, and ids */
	/*
	 * Allocates what the kind needs beyond that; may be NULL. After a failure close is
	 * called.
	 */
	int (*open)(struct pool *pool, struct err *err);
	void (*close)(struct pool *pool);
	/* As pool_classes; NULL: ignores strata. */
	int (*classes)(struct pool *pool, int classes, struct err *err);
	/*
	 * Takes or rejects a sample of the pool's side, and updates `count`. `offered` does not
	 * include this sample yet.
	 */
	int (*take)(
		struct pool *pool, int64_t id, int32_t stratum, int64_t *evicted, struct err *err);
	/* As pool_draw_range, with count >= 1, 0 <= oldest < end <= seen and n >= 1. */
	bool (*draw)(const struct pool *pool, uint64_t iteration, int first, int64_t oldest,
		int64_t end, int64_t *ids, int n);
	int64_t (*start)(const struct pool *pool);            /* of its span, count >= 1; NULL: 0 */
	int64_t (*task)(struct pool *pool, int64_t *evicted); /* as pool_task; NULL: no-op */
	/* Visits the kind's state beyond counts and ids, after these; may be NULL. */
	void (*state)(struct pool *pool, struct state *state);
};

extern const struct pool_type pool_unlimited, pool_reservoir, pool_fifo, pool_balanced, pool_halves;

/* Whether a sample is on the pool's side of the holdout. */
static inline bool pool_takes(const struct pool *pool, int64_t id)
{
	return sieve_has(&pool->sieve, id) == pool->config.validation;
}

/* A `take` while there is room: appends the sample and evicts none. */
int pool_append(struct pool *pool, int64_t id, int64_t *evicted, struct err *err);

/* A `draw` for unordered ids. */
bool pool_draw_slots(const struct pool *pool, uint64_t iteration, int first, int64_t oldest,
	int64_t end, int64_t *ids, int n);

/* The same from `count` slots only, at `slots` in the pool's ids; count >= 1. */
bool pool_draw_part(const struct pool *pool, const int64_t *slots, int64_t count,
	uint64_t iteration, int first, int64_t oldest, int64_t end, int64_t *ids, int n);

/*
 * An endless sequence of random numbers for one position of one iteration's batch. The first two
 * are the halves of Philox's block at counter iteration * 2^16 + position; most draws need no
 * more. If many candidates are rejected, further numbers are mixed from these two.
 */
struct dice {
	uint64_t a, b, thrown;
};

/* The dice of consecutive positions, generated in batches for speed. */
enum { DICE_ROOM = 64 };

struct dice_row {
	struct rng rng;
	uint64_t counter; /* of the next batch, */
	int left;         /* positions left to generate, */
	int at;           /* index of the next in the current batch */
	uint32_t bits[DICE_ROOM][4];
};

/* For n positions from `first` on; do not call dice_next after the n-th. */
static inline void dice_start(
	struct dice_row *row, struct rng rng, uint64_t iteration, int first, int n)
{
	row->rng = rng;
	row->counter = iteration << 16 | (uint64_t)first;
	row->left = n;
	row->at = DICE_ROOM;
}

static inline struct dice dice_next(struct dice_row *row)
{
	const uint32_t *bits;

	if (row->at == DICE_ROOM) {
		const int count = row->left < DICE_ROOM ? row->left : DICE_ROOM;

		rng_fill_bits(row->rng, row->counter, row->bits, (size_t)count);
		row->counter += (uint64_t)count;
		row->left -= count;
		row->at = 0;
	}
	bits = row->bits[row->at++];
	return (struct dice){
		(uint64_t)bits[1] << 32 | bits[0], (uint64_t)bits[3] << 32 | bits[2], 0};
}

/*
 * One throw: true, and a uniform number in 0 .. bound-1; or false, with probability at most bound
 * / 2^64 (as in rng_below).
 */
static inline bool dice_throw(struct dice *dice, uint64_t bound, uint64_t *number)
{
	__extension__ typedef unsigned __int128 uint128;
	const uint64_t turn = dice->thrown++;
	const uint64_t word = turn == 0   ? dice->a
			      : turn == 1 ? dice->b
					  : mix64(dice->a + turn * MIX_STEP) ^ dice->b;
	const uint128 product = (uint128)word * bound;
	const uint64_t low = (uint64_t)product;

	*number = (uint64_t)(product >> 64);
	return low >= bound || low >= -bound % bound;
}

/* The same until it succeeds. */
static inline uint64_t dice_below(struct dice *dice, uint64_t bound)
{
	uint64_t number;

	while (!dice_throw(dice, bound, &number))
		;
	return number;
}

#endif
