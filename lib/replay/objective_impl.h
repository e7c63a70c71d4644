/* Shared by the files of the objectives: the row of a kind, and replay itself. */
#ifndef RETAIN_REPLAY_OBJECTIVE_IMPL_H
#define RETAIN_REPLAY_OBJECTIVE_IMPL_H

#include <stddef.h>

#include "replay/objective.h"
#include "replay/pool_impl.h"

/* The head of every objective. */
struct objective {
	const struct objective_type *type;
	struct objective_config config; /* its kind is the row's name */
	const struct pool *pool;
	struct rng orders;       /* for samples that are not drawn from the pool */
	int64_t first, end;      /* the samples of the current step */
	uint64_t last;           /* the iteration of the last batch */
	struct objective *guess; /* a copy that runs ahead, to iteration guess_at */
	uint64_t guess_at;
	int64_t task;  /* the current task's first sample */
	int64_t reach; /* mixed: how many samples replay reaches back now; 0: all */
};

struct objective_type {
	const char *name, *help;
	size_t size; /* of the kind's struct, which begins with struct objective */
	/* Rejects invalid combinations; may be NULL. */
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
 * Like pool_draw, with the recency share first. If the pool holds no sample that new, all are
 * drawn uniformly.
 */
bool objective_replay(const struct objective *objective, uint64_t iteration, int first,
	int64_t oldest, int64_t *ids, int n);

/* Fills in n samples of the current step, evenly; false if the whole step is held out. */
bool objective_new_samples(
	const struct objective *objective, uint64_t iteration, int64_t *ids, int n);

/* Gives n samples equal weights that sum to `total`. */
void objective_weigh(float *weights, int n, double total);

#endif
