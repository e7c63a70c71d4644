/* What the learner's files share. */
#ifndef RETAIN_LEARN_LEARNER_IMPL_H
#define RETAIN_LEARN_LEARNER_IMPL_H

#include "learn/parts/parts.h"
#include "learn/extras/extra.h"
#include "learn/extras/population.h"
#include "learn/learner.h"
#include "learn/learner_view.h"
#include "learn/peers.h"
#include "learn/losses/loss.h"
#include "learn/scaling.h"
#include "nn/runner.h"
#include "optim/average.h"
#include "optim/optimizer.h"
#include "replay/objective.h"
#include "replay/pool.h"

/* What the options say, beside what the objects below were made of. */
struct learner_settings {
	int batch, validation_batch;
	int64_t validate_every, statistics_every;
	bool serve_best; /* also the plain model may serve, if it validates best */
	bool head_anew;  /* weights that are loaded leave the last layer as it is */
};

/* What a run will come to. */
struct learner_plan {
	double price;       /* of an iteration, in iterations of plain SGD */
	double per_step;    /* iterations of a time step; 0: unknown */
	int64_t iterations; /* of the run; 0: unknown */
	int64_t task_steps; /* time steps of a task, unless the owner tells where tasks begin */
	int64_t part_steps; /* time steps of a part; 0: nothing decides by parts */
};

/* The current task. */
struct learner_task {
	int64_t first;      /* its first sample */
	bool told;          /* the owner tells where tasks begin: */
	bool next;          /* with the next time step, */
	int64_t iterations; /* one of so many iterations; 0: as planned */
};

/* Windows of the schedule, in which models are scored. */
struct learner_scoring {
	struct scores scores;             /* of the current window, */
	int64_t end;                      /* which ends with this iteration */
	bool scored;                      /* there was a window with scores; of the last one: */
	struct score last[SCORES_MODELS]; /* their means, */
	int judged;                       /* the model that was best, */
	double sigma;                     /* and by how much */
};

/* How inputs are scaled. */
struct learner_scaling {
	struct scaling *scaling; /* NULL: inputs go to the net as they are */
	float *inputs;           /* those of the owner, scaled; */
	size_t room;             /* so many numbers of them */
};

/* Samples that no pool holds any more. They stay until the next time step, since objectives
 * may draw from the current one whatever pools do. */
struct learner_leaving {
	int64_t *ids, count, room;
};

/* Room for the larger of a training and a validation batch. */
struct learner_room {
	float *inputs, *logits, *losses, *weights;
	int64_t *ids;
	int32_t *labels;
};

/* A batch that will probably be drawn. */
struct learner_ahead {
	int64_t coming; /* iterations that learner_expect promised */
	int64_t *ids;   /* NULL: the store does not prepare */
	float *weights;
};

/* Inputs of learner_look, and for how many numbers there is room. */
struct learner_looked {
	float *inputs;
	size_t room;
};

struct learner {
	struct learner_watch watch;
	struct learner_config config; /* for a larger net, if classes may come */
	struct learner_settings set;
	struct learner_plan plan;
	size_t floats; /* of one input */

	/* What it learns from. */
	struct store *store;
	struct pool *pool, *validation; /* validation: NULL when nothing is held out */
	struct objective *objective;
	struct learner_leaving leaving;
	struct learner_scaling scale;

	/* The net and how it is trained. */
	struct net *net;
	struct engine *engine;
	struct runner *runner;
	struct optimizer *optimizer;
	struct average *average;
	struct schedule *schedule;
	struct loss *loss;
	struct parts *parts;  /* NULL: one answer for now and ever */
	void *extras[EXTRAS]; /* NULL: not wanted */
	float *params, *grad;
	float *stats[SCORES_MODELS]; /* batch norm's, by model; NULL for nets without it */
	struct learner_room room;
	struct learner_ahead ahead;

	/* How far it is. */
	int64_t steps; /* time steps revealed */
	bool new_step; /* no iteration has been made since the last one came */
	struct learner_task task;
	int64_t iteration;
	struct learner_scoring window;
	uint64_t version; /* of what serves inference: see learner_version */
	double last_loss;
	bool diverged; /* the last batch or check met a NaN or an infinity */

	struct whole *whole; /* models that are kept in slices */
	struct learner_looked looked;
};

enum { LEARNER_AHEAD = 2 }; /* batches that are made ready */

/* The model that serves inference: that one, or with average.serve = best perhaps the plain one. */
int learner_served(const struct learner *learner);

static inline struct population *learner_population(const struct learner *learner)
{
	return learner->extras[EXTRA_POPULATION];
}

/* What losses see of it. */
struct loss_view learner_loss_view(const struct learner *learner);

/* What parts see of it. */
struct part_view learner_view(struct learner *learner);

/*
 * The statistics count n samples that were revealed. If inputs are NULL they come from
 * the store, where the samples have ids from `first` on.
 */
int learner_count_inputs(
	struct learner *learner, int64_t first, const float *inputs, int n, struct err *err);

/* Whether the next time step begins a task; begins it, with sample `first`. */
bool learner_task_due(const struct learner *learner);
void learner_begin_task(struct learner *learner, int64_t first);

/* An optimizer of the learner's parameters. */
int learner_make_optimizer(
	const struct learner *learner, struct optimizer **optimizer, struct err *err);

/* Tells the optimizer which parameters decay, and how much, where decay follows the pool. */
int learner_segments(const struct net *net, const struct options *o, struct optimizer *optimizer,
	struct err *err);

/* Ends a part, if it ends with the time step that was taken. */
void learner_end_part(struct learner *learner);

/*
 * The net and all that has its size: made by the config, with first values; freed. If
 * there is a former one, first values are not made, since the caller copies its values later;
 * its engine may be used as well. What a learner costs and is planned to do follows from it.
 */
int learner_make_nets(struct learner *learner, const struct learner *former, struct err *err);
void learner_free_nets(struct learner *learner);
void learner_make_plan(struct learner *learner);

/*
 * The net gets this many classes, more than before; what is new is 0, the rest stays.
 * *former has what there was, for learner_grown: it makes an end of it or, if something
 * failed since, goes back to it.
 */
int learner_grow(struct learner *learner, int classes, struct learner **former, struct err *err);
void learner_grown(struct learner *learner, struct learner *former, int code);
/* What has the net's size, but no buffers that a step fills anew. */
void learner_nets_state(void *learner, struct state *state);
/* Another number of classes, for a state that is read next. */
int learner_resize(struct learner *learner, int classes, struct err *err);

/* Refuses keys that do not go together. */
int learner_options_check(const struct learner_config *config, struct err *err);

/* Tells peers, if there are any, that a call begins; and that it ended, with this code. */
void learner_begin(struct learner *learner, const struct learner_call *call);
int learner_end(
	struct learner *learner, const struct learner_call *call, int code, struct err *err);

/* Makes room for so many samples that leave. */
int learner_reserve_leaving(struct learner *learner, int64_t count, struct err *err);

#endif
