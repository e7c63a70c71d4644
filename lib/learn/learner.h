/*
 * The learner: a net that is trained by replay on what it was shown, with
 * averages of its weights and a learning rate that follows their scores.
 *
 * Its owner plays the protocol: predict the inputs of a time step, then reveal
 * them with their labels, then let it train. Nothing here can be shown a label
 * before learner_reveal. Between two calls the owner may predict as often as it
 * likes, with the model that serves inference or with any other.
 *
 * A learner is a function of its options and of what was revealed: same bits on
 * any thread count. One caller at a time.
 */
#ifndef RETAIN_LEARN_LEARNER_H
#define RETAIN_LEARN_LEARNER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/options.h"
#include "base/state.h"
#include "store/store.h"
#include "nn/net.h"
#include "optim/schedule.h"
#include "optim/scores.h"

/* What a batch cost, told as it happens; the owner keeps the ledger. */
enum learner_work {
	LEARNER_TRAIN,      /* forward and backward of a training batch, by one model */
	LEARNER_VALIDATE,   /* forward of a validation batch, or of a time step for a population */
	LEARNER_STATISTICS, /* forward that accumulates batch norm statistics for an average */
	LEARNER_CANDIDATES, /* forward of samples from which a batch is chosen */
	LEARNER_VIRTUAL,    /* forward, backward and a sweep: a step that is only tried */
	LEARNER_PREDICT,    /* forward for the owner */
	LEARNER_UPDATE,     /* a sweep over the parameters */
	LEARNER_MOVE,       /* an average moved */
	LEARNER_ITERATION,  /* an iteration was made, whatever it took */
	LEARNER_WORKS,
};

/* The end of a window of K_W iterations: what was decided, and by which numbers. */
struct learner_window {
	int64_t iteration;
	int64_t rounds; /* validation batches in the window */
	int averages;   /* how many there are */
	int best;       /* the average that was the better one; -1: there is none */
	struct score scores[SCORES_MODELS];
	double gamma_before[2], gamma_after[2];
	struct schedule_verdict verdict;
};

/*
 * The end of a part of the stream, where a learner looks at parts: how the models
 * of a population did since the last selection, and how far replay reaches. Shares
 * are in [0, 1]; NAN where nobody asked.
 */
enum { LEARNER_POPULATION = 3 }; /* the most models of a population */

struct learner_part {
	int64_t iteration, step; /* step: the time steps revealed */
	int models;              /* of the population; 0: there is none */
	bool selected;           /* the best one replaced the others */
	int best;
	double accuracy[LEARNER_POPULATION];
	double rate[LEARNER_POPULATION]; /* from now on */
	double fresh, replayed;          /* accuracy on new and on replayed samples */
	int64_t history; /* samples that mixed replay reaches back from now on; 0: all */
};

struct learner_watch {
	void (*work)(void *context, enum learner_work work, int samples);
	void (*window)(void *context, const struct learner_window *window);
	void *context;
	void (*part)(void *context, const struct learner_part *part);
};

/* Whether the options ask for what decides by parts of a stream, which then must go on. */
bool learner_has_parts(const struct options *options);

struct learner_config {
	const struct options *options;
	int classes, channels, height, width;
	int64_t steps;      /* time steps of the whole run; 0: unknown */
	int64_t iterations; /* of the whole run, for schedules that need to know; 0: unknown */
	double budget;      /* or SGD-equivalents per time step, from which they follow; 0: none */
	struct learner_watch watch; /* functions may be NULL */
};

struct learner;

/* Options and store are borrowed, the options only for this call. The store must be empty. */
int learner_new(struct learner **learner, const struct learner_config *config, struct store *store,
	struct err *err);
void learner_free(struct learner *learner);

/* Which weights: what serves inference, or one of the models that training holds. */
enum learner_model {
	LEARNER_INFERENCE = -1,
	LEARNER_PLAIN = SCORES_PLAIN,
	LEARNER_AVERAGE = SCORES_AVERAGE
};

/* Fills (n, classes) logits. A model that does not exist is an error. */
int learner_predict(struct learner *learner, int model, const float *inputs, int n, float *logits,
	struct err *err);

/*
 * The samples of a time step. Inputs may be NULL over a source. Labels outside the classes are an error. After a failure nothing is
 * taken, and the step may be revealed again.
 */
int learner_reveal(struct learner *learner, const float *inputs, const int32_t *labels, int n,
	struct err *err);

/*
 * So many iterations will be made before anything else is revealed, counted from
 * now: batches can be made ready. Only time depends on whether this is true.
 */
void learner_expect(struct learner *learner, int64_t iterations);

/*
 * A task begins with the next time step that is revealed, and will have so many
 * iterations (0: as planned for run.task_steps time steps). Who never says so has
 * tasks of run.task_steps. With a task a cyclic schedule begins a cosine, er and mir
 * a current half, halves a half; and learn.retrain goes back to the weights of the
 * start.
 */
void learner_task(struct learner *learner, int64_t iterations);

/* Makes so many iterations. Without anything to train on yet there is nothing to do. */
int learner_train(struct learner *learner, int iterations, struct err *err);

/*
 * Divergence: a loss or weights that are no numbers any more (ERR_STATE). Training
 * refuses such a loss and takes no step with it, but the step before may have
 * spoiled the weights; learner_check looks at them. After a failure of either,
 * learner_diverged tells whether this was why. The way out is an earlier state,
 * and rates that are so many times (factor) what they were.
 */
int learner_check(struct learner *learner, struct err *err);
bool learner_diverged(const struct learner *learner);
void learner_slow(struct learner *learner, double factor);

/* How things stand. */
struct learner_report {
	int64_t iteration, samples; /* made, revealed */
	double rate;                /* of the next iteration */
	int averages, best;         /* best: LEARNER_PLAIN or LEARNER_AVERAGE + i */
	double gamma[2];
	bool scored;                        /* whether a window was scored yet */
	struct score scores[SCORES_MODELS]; /* means over the last whole window */
	int judged;                         /* the model that was best in it; sigma is its gap */
	double sigma;
	double loss;              /* of the last training batch */
	int64_t pool, validation; /* samples that can be drawn */
};
void learner_report(const struct learner *learner, struct learner_report *report);

/* What an iteration costs on average, in iterations of plain SGD, and how many are planned by that
 * for the whole run (0: unknown). */
double learner_price(const struct learner *learner);
int64_t learner_planned(const struct learner *learner);

const struct net *learner_net(const struct learner *learner);
const char *learner_isa(const struct learner *learner);
int learner_threads(const struct learner *learner);
/* The weights of a model, and batch norm's statistics with them; live until training goes on. */
const float *learner_params(const struct learner *learner, int model);
const float *learner_stats(const struct learner *learner, int model);
/*
 * Moves when weights or statistics of LEARNER_INFERENCE may have become others, by
 * whatever call: who keeps a copy of them copies again when this is not what it was.
 * Averages that predict move only in some iterations; in others it stays.
 */
uint64_t learner_version(const struct learner *learner);
/* Training goes on from the weights in a safetensors file: averages start again from them. */
int learner_load(struct learner *learner, const char *path, struct err *err);

/* Everything but the options and the store. */
void learner_state(struct learner *learner, struct state *state);

/* The keys of model, engine, run and learn that a learner reads; checks that span keys are learner_new's. */
extern const struct option_row learner_options[];

#endif
