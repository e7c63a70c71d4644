/*
 * The loss of training. Kinds are rows of loss_types, one file each:
 *
 * - cross-entropy.
 * - smooth: cross-entropy with label smoothing. All classes share loss.smoothing of the
 *   label's probability.
 * - ace (ER-ACE): cross-entropy in which samples of the current time step compete only among
 *   the classes that such samples of the same batch have. So new classes do not push old
 *   ones aside before the net knows them.
 * - der (DER++): the net's logits are kept with each sample as it is revealed. When the
 *   sample is replayed in a later time step, its loss is loss.beta times cross-entropy and
 *   loss.alpha times the mean squared distance of the logits from those that were kept.
 * - distill (as in LwF): cross-entropy, and loss.distill times T^2 KL(average || net) of
 *   the softmax of logits / T, T = loss.temperature. The teacher is the best average of the
 *   weights.
 * - ewc: cross-entropy, and half of loss.hold times the sum of F (w - w*)^2 over all
 *   parameters: w* are the parameters at the end of the last task, F their importance,
 *   the mean squared gradient of its samples, added up over tasks.
 *
 * The per-sample losses agree with PyTorch's functions of the same names; weights of samples
 * are the objective's.
 */
#ifndef RETAIN_LEARN_LOSSES_LOSS_H
#define RETAIN_LEARN_LOSSES_LOSS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/options.h"
#include "base/state.h"
#include "nn/runner.h"
#include "replay/objective.h"
#include "replay/pool.h"

struct learner;
struct learner_config;
struct loss;

/* What a loss sees of a learner; of the moment, so none keeps it. */
struct loss_view {
	struct learner *learner;       /* for learn/learner_view.h */
	const struct options *options; /* for loss_new; later they may be gone */
	const struct net *net;
	struct runner *runner;
	const float *params; /* that are trained */
	float *stats;        /* batch norm's; NULL for nets without it */
	const struct pool *pool;
	const struct objective *objective;
	int64_t iteration; /* how many were made */
	size_t floats;     /* of an input */
	int batch;         /* samples of a training batch */
	/* Room for such a batch and for a gradient, free between iterations. */
	float *inputs, *logits, *grad;
	int32_t *labels;
};

/* Refuses a kind that needs what other keys leave out. */
int loss_check(const struct learner_config *config, struct err *err);

/* The loss borrows nothing of what it sees. */
int loss_new(struct loss **loss, const struct loss_view *view, struct err *err);
void loss_free(struct loss *loss);

/* Makes room for so many classes, if there are more than before. */
int loss_classes(struct loss *loss, int classes, struct err *err);

/*
 * A time step, in the learner's order: room for its n samples, a task that ends with it (its
 * samples begin with `task`), the samples that were revealed, those that are no longer kept.
 * loss_ready allocates, the others do not.
 */
int loss_ready(struct loss *loss, const struct loss_view *view, int n, struct err *err);
int loss_end_task(struct loss *loss, const struct loss_view *view, int64_t task, int64_t end,
	struct err *err);
int loss_revealed(struct loss *loss, const struct loss_view *view, int64_t first,
	const float *inputs, int n, struct err *err);
void loss_forget(struct loss *loss, int64_t id);

/* An iteration: completes a batch that was fetched, ids and labels included. */
int loss_batch(struct loss *loss, const struct loss_view *view, const int64_t *ids,
	struct runner_batch *batch, struct err *err);
/* What does not depend on samples: its loss, before a step, and its gradient, added in a slice. */
double loss_held(const struct loss *loss, const struct loss_view *view);
void loss_hold(
	const struct loss *loss, const float *params, float *grad, const struct slice *slice);

/* What an iteration costs beside its training batch, in multiply-adds. */
double loss_price(const struct loss *loss, const struct net *net);

void loss_state(struct loss *loss, struct state *state);

struct loss_type;                                  /* see loss_impl.h */
extern const struct loss_type *const loss_types[]; /* ends with NULL */
const char *loss_type_name(const struct loss_type *type);
const char *loss_type_help(const struct loss_type *type);

/* loss.* keys. Ends with a row without a section. */
extern const struct option_row loss_options[];

#endif
