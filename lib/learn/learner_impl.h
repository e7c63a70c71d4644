/* Shared by the learner's files. */
#ifndef RETAIN_LEARN_LEARNER_IMPL_H
#define RETAIN_LEARN_LEARNER_IMPL_H

#include "learn/beside.h"
#include "learn/extras/extra.h"
#include "learn/extras/population.h"
#include "learn/learner.h"
#include "learn/learner_view.h"
#include "learn/peers.h"
#include "learn/losses/loss.h"
#include "learn/parts/part.h"
#include "learn/scaling.h"
#include "nn/runner.h"
#include "nn/vectors.h"
#include "optim/average.h"
#include "optim/optimizer.h"
#include "optim/scoring.h"
#include "replay/objective.h"
#include "replay/pool.h"

/* Options that are not part of the objects below. */
struct learner_settings {
	uint64_t seed;
	int batch, validation_batch;
	int64_t validate_every, statistics_every;
	bool serve_best; /* the plain model may serve, too, if it validates best */
	bool head_anew;  /* loading weights leaves the last layer unchanged */
};

/* Plan and price of a run. */
struct learner_plan {
	double price;       /* of an iteration, in iterations of plain SGD, */
	double first_price; /* and in the first task */
	double per_step;    /* iterations of a time step; 0: unknown */
	int64_t iterations; /* of the run; 0: unknown */
	int64_t task_steps; /* time steps of a task, unless the owner announces tasks */
	int64_t part_steps; /* time steps of a part; 0: nothing decides by parts */
};

/* The current task. */
struct learner_task {
	int64_t first;      /* its first sample */
	bool told;          /* the owner announces tasks: */
	bool next;          /* one begins with the next time step, */
	int64_t iterations; /* with this many iterations; 0: as planned */
};

/* What is learned; of numbers the scale that the net sees. */
struct learner_target {
	enum target_kind kind;
	int width;                  /* cells of a target */
	struct scaling *scaling;    /* NULL for classes */
	struct class_weights weigh; /* of answers; empty: all weigh the same */
};

/* A buffer of inputs, and its capacity in floats. */
struct learner_looked {
	float *inputs;
	size_t room;
};

/* An input's size: */
struct learner_inputs {
	size_t floats; /* of the net, */
	size_t first;  /* ... before any grew, */
	size_t given;  /* ... and of the owner and the store: the net's, or more that it lacks */
	struct learner_looked looked;          /* of learner_look */
	struct learner_looked narrow, fetched; /* while more are given than the net has */
};

/* Scaling of inputs. */
struct learner_scaling {
	struct scaling *scaling;      /* NULL: inputs are not scaled */
	struct learner_looked inputs; /* scaled copies of the owner's inputs */
};

/*
 * Samples that no pool holds any more. They are kept until the next time step, since objectives
 * may draw from the current one regardless of pools.
 */
struct learner_leaving {
	int64_t *ids, count, room;
};

/* Room for the larger of a training and a validation batch. */
struct learner_room {
	float *inputs, *logits, *losses, *weights;
	int64_t *ids;
	union target *labels;
};

/* Validation on another thread: learner_validate.c. */
struct validator;
struct learner_validating {
	struct validator *validator; /* NULL: in sequence */
	bool ready;                  /* it allocates nothing any more */
	bool pending;                /* scores are still to be added */
};

/* Prefetch of a batch that will probably be drawn. */
struct learner_ahead {
	int64_t coming; /* iterations announced by learner_expect, this one left out */
	int64_t *ids;   /* NULL: the store does not prefetch */
	float *weights;
};

/* What learner_late and learner_weighted said of the time step that is revealed next. */
struct learner_coming {
	bool late;
	int late_by; /* labels, of numbers */
	const union target *guesses;
	const float *weights;
};

/* Time steps. */
struct learner_steps {
	int64_t count; /* that were revealed */
	bool fresh;    /* no iteration since the last one was revealed */
	struct learner_coming coming;
	struct learner_task task;
};

/* What came of the last batch. */
struct learner_latest {
	double loss;
	bool diverged; /* it or a check met a NaN or an infinity */
};

/* The latest iteration, if its step was made, and a pass that follows one failed. */
struct learner_unsettled {
	bool due;
	bool loaded;   /* from a checkpoint, which does not have the batch */
	int corrected; /* averages whose statistics are done */
};

struct learner {
	struct learner_watch watch;
	struct learner_config config; /* needed to make a larger net, if classes may grow */
	struct learner_settings set;
	struct learner_plan plan;

	/* Data. */
	struct learner_inputs inputs;
	struct store *store;
	struct pool *pool, *validation; /* validation: NULL if nothing is held out */
	struct objective *objective;
	struct learner_leaving leaving;
	struct learner_scaling scale;
	struct learner_target target;

	/* The net and its training. */
	struct net *net;
	struct engine *engine;
	struct runner *runner;
	struct optimizer *optimizer;
	struct average *average;
	struct schedule *schedule;
	struct loss *loss;
	struct beside *beside; /* NULL: one answer for now and ever */
	void *extras[EXTRAS];  /* NULL: not used */
	float *params, *grad;
	float *stats[SCORES_MODELS]; /* batch norm's, by model; NULL for nets without it */
	struct learner_room room;
	struct learner_ahead ahead;
	struct learner_validating validating;

	/* Progress. */
	struct learner_steps steps;
	int64_t iteration;
	struct learner_latest latest;
	struct learner_unsettled unsettled;
	struct scoring window;
	uint64_t version;    /* of the model that serves inference: see learner_version */
	struct whole *whole; /* models kept in slices */
};

enum { LEARNER_AHEAD = 2 }; /* batches that are prefetched */

/*
 * The model that serves inference: the best average or, with average.serve = best, perhaps the
 * plain one.
 */
int learner_served(const struct learner *learner);
int learner_served_so_far(const struct learner *learner); /* without waiting for scores */

static inline struct population *learner_population(const struct learner *learner)
{
	return learner->extras[EXTRA_POPULATION];
}

/*
 * Scores the models on a batch of held-out samples, perhaps beside the iterations that follow.
 * learner_validated waits for the scores: call it before anything that depends on them.
 */
int learner_validate(struct learner *learner, struct err *err);
void learner_validated(struct learner *learner);
int validator_new(struct validator **validator, const struct learner *learner, struct err *err);
void validator_free(struct validator *validator); /* no scores may be pending */

/* The view that losses get. */
struct loss_view learner_loss_view(const struct learner *learner);

/* The view that parts get. */
struct part_view learner_view(struct learner *learner);

/*
 * Updates the scaling statistics with n revealed samples. If inputs are NULL they come from the
 * store, with ids from `first` on.
 */
int learner_count_inputs(
	struct learner *learner, int64_t first, const float *inputs, int n, struct err *err);

/* Whether the next time step begins a task; begins one with sample `first`. */
bool learner_task_due(const struct learner *learner);
void learner_begin_task(struct learner *learner, int64_t first);

/* Creates an optimizer of the learner's parameters. */
int learner_make_optimizer(
	const struct learner *learner, struct optimizer **optimizer, struct err *err);

/* Tells the optimizer which parameters decay and, if decay follows the pool, by how much. */
int learner_segments(const struct net *net, const struct options *o, struct optimizer *optimizer,
	struct err *err);

/* Ends a part if the last time step completes it. */
void learner_end_part(struct learner *learner);

/*
 * Creates and frees the net and everything of its size, initialised by the config. With `former`,
 * initial values are skipped, since the caller copies them later, and its engine may be shared.
 * learner_make_plan derives price and plan from the net.
 */
int learner_make_nets(struct learner *learner, const struct learner *former, struct err *err);
void learner_free_nets(struct learner *learner, bool engine);      /* the engine, too */
int learner_make_inputs(struct learner *learner, struct err *err); /* room.inputs */
void learner_make_plan(struct learner *learner);

/*
 * Grows the net to this many classes and inputs. The weights of new ones are 0, so that answers
 * stay; so does the rest. *former holds the old net for learner_grown, which frees it or, if
 * something failed since, restores it.
 */
int learner_grow(struct learner *learner, int classes, size_t floats, struct learner **former,
	struct err *err);
void learner_grown(struct learner *learner, struct learner *former, int code);
/* Everything of the net's size, except scratch buffers. */
void learner_nets_state(void *learner, struct state *state);
/* Changes the number of classes and inputs for a state that is read next. */
int learner_resize(struct learner *learner, int classes, size_t floats, struct err *err);

/*
 * The owner's inputs as the net takes them: without those that it lacks. Valid until the next
 * call. learner_needs is how many the net must have to lose nothing of them.
 */
int learner_narrowed(struct learner *learner, const float **inputs, int n, struct err *err);
size_t learner_needs(const struct learner *learner, const float *inputs, int n);
/* Samples of the store, unscaled. */
int learner_stored(struct learner *learner, const int64_t *ids, int n, float *inputs,
	union target *labels, struct err *err);

/* Rejects keys that exclude each other. */
int learner_options_check(const struct learner_config *config, struct err *err);

/* Tells peers, if there are any, that a call begins, and that it ended with this code. */
void learner_begin(struct learner *learner, const struct learner_call *call);
int learner_end(
	struct learner *learner, const struct learner_call *call, int code, struct err *err);

/*
 * What outputs of the net for n labels on its scale are worth: accuracy, or the share of variance
 * explained.
 */
double learner_worth(
	const struct learner *learner, const float *outputs, const union target *labels, int n);

/* Makes what answers beside the slow net, instead of what there is; teaches it a time step. */
int learner_make_beside(struct learner *learner, struct err *err);
int learner_teach_beside(struct learner *learner, struct learner_step *step, struct err *err);

/* Makes room for this many leaving samples. */
int learner_reserve_leaving(struct learner *learner, int64_t count, struct err *err);

#endif
