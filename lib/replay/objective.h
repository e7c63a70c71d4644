/*
 * An objective says what a training batch is: which samples, and how much the
 * loss of each counts. Kinds are rows of objective_types; one file each.
 *
 * - pure: uniform over the pool.
 * - mixed: half from the current time step, half from the last B samples of the
 *   history, B fixed or all; the loss is 1/2 CE(new) + 1/2 CE(replay). The new
 *   half is as even as can be: in a random order, each sample of the step that
 *   is not held out comes again only after all others did, and it need not be
 *   in the pool. Where one side has nothing to offer, the other fills the batch.
 * - er: half from the current task, half from past ones. Both are drawn from the
 *   pool; a task of one time step, or one that the pool holds nothing of, gives
 *   the samples of that step as mixed does. Without a past all is current.
 * - mir: as er, but the learner then chooses the past half among candidates, by
 *   how much a step on the current half would harm them (objective_candidates).
 * - epochs: every sample of the pool once per epoch in a new random order: the
 *   supervised form. What is added during an epoch takes part from the next one
 *   on. Batches follow one another whatever the iteration's number is. Needs
 *   the unlimited pool, and knows no recency share.
 *
 * With a recency share, so much of what is drawn from the pool comes from its
 * newest samples instead: round(share * samples drawn), in front of the others.
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
	double recency_share;  /* of the replayed samples, in [0, 1] */
	double recency_window; /* how much of the pool counts as new, in (0, 1] */
	uint64_t seed;
};

/* What the replay.* keys say; needs run.seed, too. */
void objective_config(struct objective_config *config, const struct options *options);

struct objective;

/* The pool is borrowed, must outlive the objective, and is a training pool. */
int objective_new(struct objective **objective, const struct objective_config *config,
	const struct pool *pool, struct err *err);
void objective_free(struct objective *objective);

/* The samples first .. end-1 are those of the current time step. */
void objective_step(struct objective *objective, int64_t first, int64_t end);

/* After objective_step, where the current task is more than that step: its first sample. */
void objective_task(struct objective *objective, int64_t first);

/* mixed: from now on replay reaches so far back, whatever `history` was; 0: all. */
void objective_reach(struct objective *objective, int64_t history);

/*
 * Chooses the batch of an iteration: n ids and what each loss counts (their sum
 * is 1), n from 1 to POOL_POSITIONS. False if there is nothing to draw from yet.
 * Allocates nothing.
 */
bool objective_batch(
	struct objective *objective, uint64_t iteration, int n, int64_t *ids, float *weights);

/*
 * What objective_batch will choose for a later iteration if batches of n samples
 * are asked for one after the other and nothing is added to the pool until then.
 * A guess: it changes nothing.
 */
bool objective_guess(
	struct objective *objective, uint64_t iteration, int n, int64_t *ids, float *weights);

/*
 * n candidates from past tasks, n at most POOL_POSITIONS / 2; where the kind
 * chooses, the best of them replace the last n/2 samples of a batch of n. False,
 * and the batch stays as it is, if there is no past.
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
