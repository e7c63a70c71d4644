/*
 * The training loss. Kinds are rows of loss_types, one file each:
 *
 * - cross-entropy.
 * - smooth: cross-entropy with label smoothing. All classes share loss.smoothing of the label's
 *   probability.
 * - ace (ER-ACE): cross-entropy in which samples of the current time step compete only among the
 *   classes present in the batch's samples of that step, so that new classes do not push old ones
 *   aside before the net knows them.
 * - der (DER++): the net's logits are stored with each sample as it is revealed. When the sample
 *   is replayed in a later time step, its loss is loss.beta times cross-entropy plus loss.alpha
 *   times the mean squared distance between the logits and the stored ones.
 * - distill (as in LwF): cross-entropy plus loss.distill times T^2 KL(average || net) of the
 *   softmax of logits / T, T = loss.temperature. The teacher is the best average of the weights.
 * - ewc: cross-entropy plus half of loss.hold times the sum of F (w - w*)^2 over all parameters.
 *   w* are the parameters at the end of the last task; F is their importance, the mean squared
 *   gradient of its samples, summed over tasks.
 *
 * Of numbers, on the scale of the net (target/target.h), with e the error:
 *
 * - huber: e^2 / 2 up to |e| = 1, then |e| - 1/2. squared: the same up to |e| = 4. absolute: |e|. quantile: as if
 *   loss.quantile of all values were to lie below the answer.
 *
 * The bounds of the interval are learned beside the value, as the quantiles that model.coverage
 * asks for.
 *
 * The per-sample losses match PyTorch's functions of the same names; the objective supplies the
 * sample weights.
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

/* A loss's view of a learner, valid only during the call. */
struct loss_view {
	struct learner *learner;       /* for learn/learner_view.h */
	const struct options *options; /* only for loss_new; may be gone later */
	const struct net *net;
	struct runner *runner;
	const float *params; /* being trained */
	float *stats;        /* batch norm's; NULL for nets without it */
	const struct pool *pool;
	const struct objective *objective;
	int64_t iteration; /* iterations made */
	size_t floats;     /* of an input */
	int batch;         /* samples of a training batch */
	/* Scratch for a batch and a gradient, free between iterations. */
	float *inputs, *logits, *grad;
	union target *labels;
};

/* Rejects a kind of loss for other targets than model.target says. */
int loss_check_target(const struct options *options, struct err *err);
/* Rejects a kind whose requirements other keys disable. */
int loss_check(const struct learner_config *config, struct err *err);

/* The loss borrows nothing from the view. */
int loss_new(struct loss **loss, const struct loss_view *view, struct err *err);
void loss_free(struct loss *loss);

/* Makes room for more classes. */
int loss_classes(struct loss *loss, int classes, struct err *err);

/*
 * A time step, in the learner's order: make room for its n samples, end a task (whose samples
 * begin with `task`), take the revealed samples, drop samples no longer kept. Only loss_ready
 * allocates.
 */
int loss_ready(struct loss *loss, const struct loss_view *view, const float *weights, int n,
	struct err *err);
int loss_end_task(struct loss *loss, const struct loss_view *view, int64_t task, int64_t end,
	struct err *err);
int loss_revealed(struct loss *loss, const struct loss_view *view, int64_t first,
	const float *inputs, const float *weights, int n, struct err *err);
void loss_forget(struct loss *loss, int64_t id);

/*
 * Samples may be revealed with weights (NULL: all 1), which the loss keeps. loss_weigh multiplies
 * the weights of a batch by those of its samples and scales them to the sum they had.
 */
void loss_weigh(const struct loss *loss, const int64_t *ids, float *weights, int n);
float loss_weight(const struct loss *loss, int64_t id); /* of a sample */

/* What validation scores by: the loss of numbers; NULL for classes, scored by cross-entropy. */
const struct sample_loss *loss_to_score(struct loss *loss, const struct loss_view *view);

/* An iteration: completes a fetched batch, ids and labels included. */
int loss_batch(struct loss *loss, const struct loss_view *view, const int64_t *ids,
	struct runner_batch *batch, struct err *err);
/*
 * The part that does not depend on samples: its loss, before a step, and its gradient, added in a
 * slice.
 */
double loss_held(const struct loss *loss, const struct loss_view *view);
void loss_hold(
	const struct loss *loss, const float *params, float *grad, const struct slice *slice);

/* The cost of an iteration beside its training batch, in multiply-adds. */
double loss_price(const struct loss *loss, const struct net *net);

void loss_state(struct loss *loss, struct state *state);

struct loss_type;                                  /* see loss_impl.h */
extern const struct loss_type *const loss_types[]; /* ends with NULL */
const char *loss_type_name(const struct loss_type *type);
const char *loss_type_help(const struct loss_type *type);
enum target_kind loss_type_target(const struct loss_type *type);
bool loss_type_program(
	const struct loss_type *type); /* only a program that computes the net has it */

/* loss.* keys. Ends with a row without a section. */
extern const struct option_row loss_options[];

#endif
