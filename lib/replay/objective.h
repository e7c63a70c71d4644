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

void objective_state(struct objective *objective, struct state *state);

struct objective_type;                                       /* see objective_impl.h */
extern const struct objective_type *const objective_types[]; /* ends with NULL */
const char *objective_type_name(const struct objective_type *type);
const char *objective_type_help(const struct objective_type *type);

/* replay.* keys of objectives. Ends with a row without a section. */
extern const struct option_row objective_options[];

#endif
