/* What the files of the objectives share: the row of a kind, and replay itself. */
#ifndef RETAIN_REPLAY_OBJECTIVE_IMPL_H
#define RETAIN_REPLAY_OBJECTIVE_IMPL_H

#include <stddef.h>

#include "replay/objective.h"
#include "replay/pool_impl.h"

/* What every objective begins with. */
struct objective {
	const struct objective_type *type;
	struct objective_config config; /* its kind is the row's name */
	const struct pool *pool;
	struct rng orders;       /* of samples that are not drawn from the pool */
	int64_t first, end;      /* the samples of the current step */
	uint64_t last;           /* the iteration of the last batch */
	struct objective *guess; /* a copy that runs ahead, to iteration guess_at; not its own */
	uint64_t guess_at;
	int64_t task;  /* the current task's first sample */
	int64_t reach; /* mixed: how far back replay reaches now; 0: all */
};

struct objective_type {
	const char *name, *help;
	size_t size; /* of the kind's struct, which begins with struct objective */
	/* Refuses what does not fit together; NULL: all does. */
	int (*check)(
		const struct objective_config *config, const struct pool *pool, struct err *err);
	bool (*batch)(struct objective *objective, uint64_t iteration, int n, int64_t *ids,
		float *weights);
	struct objective_traits traits;
	void (*state)(struct objective *objective, struct state *state); /* NULL: nothing */
};

extern const struct objective_type objective_pure, objective_mixed, objective_er, objective_mir,
	objective_epochs;

/*
 * Draws n ids not older than `oldest` from the pool, positions first and on of
 * the batch, in front the share that is to be new. Where the pool holds nothing
 * so new, all are drawn alike. As pool_draw otherwise.
 */
bool objective_replay(const struct objective *objective, uint64_t iteration, int first,
	int64_t oldest, int64_t *ids, int n);

/* Fills in n samples of the current step; false if it has none that may be trained on. */
bool objective_new_samples(
	const struct objective *objective, uint64_t iteration, int64_t *ids, int n);

/* Gives n samples the same weight, `total` in sum. */
void objective_weigh(float *weights, int n, double total);

#endif
