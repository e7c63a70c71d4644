/*
 * A pool is the learner's replay memory, as ids. Every revealed sample is offered to it once, in
 * the order of ids 0, 1, 2, ... Batches are drawn from it with replacement. The cost of either
 * does not depend on how much was seen.
 *
 * A draw is a function of (seed, iteration, position): any process that saw the same stream draws
 * the same batch. Kinds are rows of pool_types, one file each:
 *
 * - unlimited: everything. Needs no memory, since ids are dense.
 * - reservoir: a uniform sample of `limit` samples (algorithm R).
 * - fifo: the last `limit` samples.
 * - balanced: `limit` samples, the same number of each class (GDumb's memory). A sample is taken
 *   while its class has fewer than max(1, limit / classes seen). If the pool is full, a random
 *   sample of the largest class is evicted; ties between classes are broken at random.
 * - halves: one half of `limit` is a uniform sample of all past tasks, the other of the current
 *   one. When a task ends, its samples join the first half as if each had been offered to it.
 *
 * A hash of (seed, id) decides which samples are held out for validation, so it need not be
 * stored. Every pool is offered every sample: a training pool takes only those that are not held
 * out, a validation pool only those that are.
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
	double share; /* fraction of the samples held out, in [0, 1) */
};

/* Whether a sample is held out. */
bool holdout_has(const struct holdout *holdout, int64_t id);

struct pool_config {
	const char *kind; /* unlimited, reservoir, fifo, balanced, halves */
	int64_t limit;    /* capacity of kinds other than unlimited */
	int classes;      /* balanced: strata are 0 .. classes-1 */
	uint64_t seed;
	struct holdout holdout;
	bool validation; /* takes only held-out samples */
};

/* Positions of a batch are 0 .. POOL_POSITIONS-1; iterations stay below 2^48. */
enum { POOL_POSITIONS = 1 << 16 };

/* From the replay.* keys, for the training or the validation pool; needs run.seed, too. */
void pool_config(
	struct pool_config *config, const struct options *options, int classes, bool validation);

struct pool;

int pool_new(struct pool **pool, const struct pool_config *config, struct err *err);
void pool_free(struct pool *pool);

/* Sets the number of classes, which must not shrink. */
int pool_classes(struct pool *pool, int classes, struct err *err);

/* Makes room so that the next n calls of pool_add allocate nothing and cannot run out of memory. */
int pool_reserve(struct pool *pool, int64_t n, struct err *err);

/*
 * Offers the next sample; id must be pool_seen(pool), and its stratum is what its kind of target
 * says (target_type), which balanced pools go by. *evicted becomes the id that the pool will
 * no longer draw: an earlier one, id itself if it was not taken, or -1 for none. A full pool
 * allocates nothing. A failure changes nothing.
 */
int pool_add(struct pool *pool, int64_t id, int32_t stratum, int64_t *evicted, struct err *err);

/*
 * Offers the next sample to a training and a validation pool; the latter may be NULL. *gone
 * becomes the id that neither will draw any more: an earlier one, id itself, or -1 for none.
 */
int pool_offer(struct pool *training, struct pool *validation, int64_t id, int32_t stratum,
	int64_t *gone, struct err *err);

/* Whether pools of this kind go by strata. The kind must exist. */
bool pool_kind_stratified(const char *kind);

/* Whether pools of this kind hold at most `limit` samples. The kind must exist. */
bool pool_kind_limited(const char *kind);

/* Whether a sample is on the pool's side of the holdout. */
bool pool_wants(const struct pool *pool, int64_t id);

int64_t pool_seen(const struct pool *pool);  /* samples offered */
int64_t pool_count(const struct pool *pool); /* samples it can draw */

/*
 * Draws n samples, each uniform over those that the pool holds with id >= oldest, for
 * the positions first, first + 1, ... of the iteration's batch. False if there is no
 * such sample; ids are then not filled in.
 */
bool pool_draw(const struct pool *pool, uint64_t iteration, int first, int64_t oldest, int64_t *ids,
	int n);

/* The same over samples with oldest <= id < end. */
bool pool_draw_range(const struct pool *pool, uint64_t iteration, int first, int64_t oldest,
	int64_t end, int64_t *ids, int n);

/*
 * Begins a task with the next sample. Fills in the ids that the pool will no longer draw, at most
 * pool_task_room, and returns their number. Most kinds ignore tasks and evict nothing.
 */
int64_t pool_task_room(const struct pool *pool);
int64_t pool_task(struct pool *pool, int64_t *evicted);

/*
 * The least id of the newest share, in (0, 1], of the pool's span: all ids seen or, for a fifo,
 * those since its oldest. The pool may hold none that new.
 */
int64_t pool_newest(const struct pool *pool, double share);

/* Reading rejects the state of a pool with another config. */
void pool_state(struct pool *pool, struct state *state);

struct pool_type;                                  /* see pool_impl.h */
extern const struct pool_type *const pool_types[]; /* ends with NULL */
const char *pool_type_name(const struct pool_type *type);
const char *pool_type_help(const struct pool_type *type);

/* replay.* keys of pools and holdout. Ends with a row without a section. */
extern const struct option_row pool_options[];

#endif
