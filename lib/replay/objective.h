/*
 * An objective says what a training batch is: which samples, and how much the loss of
 * each counts. Kinds are rows of objective_types, one file each:
 *
 * - pure: uniform over the pool.
 * - mixed: half from the current time step, half replayed from the last B samples, B
 *   fixed or all. The loss is 1/2 CE(new) + 1/2 CE(replay). The new half is as even as
 *   can be: samples of the step that are not held out, in the pool or not, come in a
 *   random order, and none comes again before all others did. If one side has nothing
 *   to offer, the other fills the batch.
 * - er: half from the current task, half from past ones, both drawn from the pool. If
 *   the task is one time step, or the pool holds nothing of it, its half is the new half
 *   of mixed. Without a past all of the batch is current.
 * - mir: as er, but the learner then chooses the past half among candidates, by how
 *   much a step on the current half would harm them (objective_candidates).
 * - epochs: every sample of the pool once per epoch, in a new random order each time:
 *   supervised learning. What is added during an epoch takes part from the next one on.
 *   Batches follow one another, whatever the iterations' numbers are. Needs the
 *   unlimited pool and has no recency share.
 *
 * With a recency share, that share of what is drawn from the pool, rounded, comes from
 * the pool's newest samples and stands in front.
 */
#ifndef RETAIN_REPLAY_OBJECTIVE_H
#define RETAIN_REPLAY_OBJECTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/options.h"
#include "base/state.h"
#include "replay/pool.h"

struct objective_config {
	const char *kind;
	int64_t history;       /* mixed: how far back replay reaches in samples; 0: all */
	double recency_share;  /* of the replayed samples that must be new, in [0, 1] */
	double recency_window; /* of the pool that counts as new, in (0, 1] */
	uint64_t seed;
};

/* What the replay.* keys and run.seed say. */
void objective_config(struct objective_config *config, const struct options *options);

struct objective;

/* Borrows the pool, a training pool, which must outlive the objective. */
int objective_new(struct objective **objective, const struct objective_config *config,
	const struct pool *pool, struct err *err);
void objective_free(struct objective *objective);

/* A time step begins, with the samples first .. end-1; a task of its own unless told otherwise. */
void objective_step(struct objective *objective, int64_t first, int64_t end);

/* The first sample of the current time step. */
int64_t objective_step_first(const struct objective *objective);

/* The current task has begun with sample `first`, in an earlier time step or this one. */
void objective_task(struct objective *objective, int64_t first);

/* mixed: replay reaches so many samples back from now on, whatever `history` was; 0: all. */
void objective_reach(struct objective *objective, int64_t history);

/*
 * The batch of an iteration: n ids, and how much each loss counts, 1 in sum. n is from 1
 * to POOL_POSITIONS. False if there is nothing to draw from yet. Allocates nothing.
 */
bool objective_batch(
	struct objective *objective, uint64_t iteration, int n, int64_t *ids, float *weights);

/*
 * What objective_batch will give for a later iteration, if each iteration until then
 * asks for n samples and the pool stays as it is. Changes nothing.
 */
bool objective_guess(
	struct objective *objective, uint64_t iteration, int n, int64_t *ids, float *weights);

/*
 * For kinds that choose: n candidates from past tasks, n at most POOL_POSITIONS / 2. The
 * learner replaces the last n/2 samples of a batch of n by the best of them. False if
 * there is no past; the batch then stays as it is.
 */
bool objective_candidates(
	const struct objective *objective, uint64_t iteration, int n, int64_t *ids);

void objective_state(struct objective *objective, struct state *state);

/* What a kind means for what is around it. The kind must exist. */
struct objective_traits {
	bool chooses; /* half of a batch is chosen from candidates: objective_candidates */
	bool reaches; /* new samples first, then those that objective_reach lets in */
	bool whole;   /* goes over all samples again and again: for streams that have an end */
};
struct objective_traits objective_traits(const char *kind);

struct objective_type;                                       /* see objective_impl.h */
extern const struct objective_type *const objective_types[]; /* ends with NULL */
const char *objective_type_name(const struct objective_type *type);
const char *objective_type_help(const struct objective_type *type);

/* replay.* keys of objectives. Ends with a row without a section. */
extern const struct option_row objective_options[];

#endif
