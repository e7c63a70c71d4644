/*
 * An objective defines a training batch: which samples, and the weight of each loss. Kinds are
 * rows of objective_types, one file each:
 *
 * - pure: uniform over the pool.
 * - mixed: half from the current time step, half replayed from the last B samples, B fixed or
 *   all. The loss is 1/2 CE(new) + 1/2 CE(replay). The new half is as even as possible: samples
 *   of the step that are not held out, in the pool or not, come in random order, and none repeats
 *   before all others were used. If one side is empty, the other fills the batch.
 * - er: half from the current task, half from past ones, both drawn from the pool. If the task is
 *   one time step, or the pool holds nothing of it, its half is the new half of mixed. Without a
 *   past the whole batch is current.
 * - mir: like er, but the learner then chooses the past half among candidates, by how much a step
 *   on the current half would harm them (objective_candidates).
 * - epochs: every sample of the pool once per epoch, in a new random order each time: supervised
 *   learning. Samples added during an epoch take part from the next one on. Batches are
 *   consecutive, whatever the iteration numbers. Needs the unlimited pool and has no recency
 *   share.
 *
 * With a recency share, that share of what is drawn from the pool, rounded, comes from the pool's
 * newest samples and is placed first.
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

/* From the replay.* keys and run.seed. */
void objective_config(struct objective_config *config, const struct options *options);

struct objective;

/* Borrows the pool, a training pool, which must outlive the objective. */
int objective_new(struct objective **objective, const struct objective_config *config,
	const struct pool *pool, struct err *err);
void objective_free(struct objective *objective);

/*
 * Begins a time step with the samples first .. end-1; a task of its own unless objective_task is
 * called.
 */
void objective_step(struct objective *objective, int64_t first, int64_t end);

/* The first sample of the current time step. */
int64_t objective_step_first(const struct objective *objective);

/* Sets the first sample of the current task, in this time step or an earlier one. */
void objective_task(struct objective *objective, int64_t first);

/* mixed: sets how many samples replay reaches back from now on, overriding `history`; 0: all. */
void objective_reach(struct objective *objective, int64_t history);

/*
 * The batch of an iteration: n ids and their loss weights, which sum to 1. n is from 1 to
 * POOL_POSITIONS. False if there is nothing to draw from yet. Allocates nothing.
 */
bool objective_batch(
	struct objective *objective, uint64_t iteration, int n, int64_t *ids, float *weights);

/*
 * Predicts objective_batch for a later iteration, assuming that each iteration until then asks
 * for n samples and the pool does not change. Changes nothing.
 */
bool objective_guess(
	struct objective *objective, uint64_t iteration, int n, int64_t *ids, float *weights);

/*
 * For kinds that choose: n candidates from past tasks, n at most POOL_POSITIONS / 2. The learner
 * replaces the last n/2 samples of a batch of n by the best of them. False if there is no past;
 * the batch is then used unchanged.
 */
bool objective_candidates(
	const struct objective *objective, uint64_t iteration, int n, int64_t *ids);

void objective_state(struct objective *objective, struct state *state);

/* Properties of a kind that others depend on. The kind must exist. */
struct objective_traits {
	bool chooses; /* half of a batch is chosen from candidates: objective_candidates */
	bool reaches; /* new samples first, then those within objective_reach */
	bool whole;   /* goes over all samples repeatedly: for finite streams */
};
struct objective_traits objective_traits(const char *kind);

struct objective_type;                                       /* see objective_impl.h */
extern const struct objective_type *const objective_types[]; /* ends with NULL */
const char *objective_type_name(const struct objective_type *type);
const char *objective_type_help(const struct objective_type *type);

/* replay.* keys of objectives. Ends with a row without a section. */
extern const struct option_row objective_options[];

#endif
