/*
 * A pool is what the learner remembers, as ids. Every sample that is revealed
 * is offered to it once, in the order of ids 0, 1, 2, ..., and batches are drawn
 * from it with replacement. The cost of both does not depend on how much was
 * seen.
 *
 * Draws are functions of (seed, iteration, position): any process that saw the
 * same stream draws the same batch. Kinds are rows of pool_types, one file each.
 *
 * - unlimited: everything; needs no memory, since ids are dense and whether one
 *   is held out can be asked.
 * - reservoir: a uniform sample of `limit` (algorithm R).
 * - fifo: the last `limit`.
 * - balanced: `limit`, the same number of each class (GDumb's memory). A sample
 *   is taken while its class has fewer than k = max(1, limit / classes seen);
 *   when the pool is full a random one of the largest class goes, and where
 *   classes tie, of a random one of them.
 * - halves: half of `limit` for past tasks, a uniform sample of all their
 *   samples, and the other half for the current task, a uniform sample of it if
 *   it has more. When a task ends, its samples take part in the first half as if
 *   each had been offered to it.
 *
 * Which samples are held out for validation is decided by a hash of (seed, id),
 * so that nobody has to remember it. A training pool is offered
 * every sample and takes only those that are not held out; a validation pool is
 * the same thing with the other side taken.
 */
#ifndef RETAIN_REPLAY_POOL_H
#define RETAIN_REPLAY_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/options.h"
#include "base/state.h"

struct holdout {
	uint64_t seed;
	double share; /* of the samples, in [0, 1) */
};

struct pool_config {
	const char *kind; /* unlimited, reservoir, fifo, balanced, halves */
	int64_t limit;    /* the most samples that a limited pool holds */
	int classes;      /* balanced: labels are 0 .. classes-1 */
	uint64_t seed;
	struct holdout holdout;
	bool validation; /* takes the samples that are held out, not the others */
};

/* Positions of a batch are 0 .. POOL_POSITIONS-1; iterations stay below 2^48. */
enum { POOL_POSITIONS = 1 << 16 };

/* What the replay.* keys say, for the training or the validation pool; needs run.seed, too. */
void pool_config(
	struct pool_config *config, const struct options *options, int classes, bool validation);

struct pool;

int pool_new(struct pool **pool, const struct pool_config *config, struct err *err);
void pool_free(struct pool *pool);

/*
 * Makes room for n more samples: as many calls of pool_add then ask for no
 * memory. A failure changes nothing that can be seen.
 */
int pool_reserve(struct pool *pool, int64_t n, struct err *err);

/*
 * Offers the next sample, id = pool_seen(pool). *evicted becomes the id that the
 * pool will not draw any more: a former one, id itself where it was not taken,
 * or -1. Allocates nothing once a limited pool is full. A failure changes
 * nothing.
 */
int pool_add(struct pool *pool, int64_t id, int32_t label, int64_t *evicted, struct err *err);

int64_t pool_seen(const struct pool *pool);  /* samples offered */
int64_t pool_count(const struct pool *pool); /* samples it can draw */

/*
 * Fills ids with n draws, each uniform over the samples with id >= oldest that
 * the pool holds (oldest 0: over all). Positions are first, first + 1, ... of
 * the iteration's batch. False, and ids are not filled, if there is no such
 * sample.
 */
bool pool_draw(const struct pool *pool, uint64_t iteration, int first, int64_t oldest, int64_t *ids,
	int n);

/* The same from samples with oldest <= id < end only. */
bool pool_draw_range(const struct pool *pool, uint64_t iteration, int first, int64_t oldest,
	int64_t end, int64_t *ids, int n);

/*
 * A new task begins with the next sample. Fills `evicted`, which has room for
 * pool_task_room ids, with those that the pool will not draw any more, and
 * returns how many they are. Kinds that know nothing of tasks do nothing.
 */
int64_t pool_task_room(const struct pool *pool);
int64_t pool_task(struct pool *pool, int64_t *evicted);

/*
 * The least id of the newest share (in (0, 1]) of what the pool spans: all ids
 * seen, for fifo those since its oldest. The pool need not hold one so new.
 */
int64_t pool_newest(const struct pool *pool, double share);

/* Reading refuses the state of a pool that was configured otherwise. */
void pool_state(struct pool *pool, struct state *state);

struct pool_type;                                  /* see pool_impl.h */
extern const struct pool_type *const pool_types[]; /* ends with NULL */
const char *pool_type_name(const struct pool_type *type);
const char *pool_type_help(const struct pool_type *type);

/* replay.* keys of pools and holdout. Ends with a row without a section. */
extern const struct option_row pool_options[];

#endif
