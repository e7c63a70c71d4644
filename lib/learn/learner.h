/*
 * A learner is a net that is trained by replay on what it was shown, with averages
 * of its weights and a learning rate that follows their scores.
 *
 * Its owner plays the protocol: have the inputs of a time step predicted, reveal
 * them with their labels, let the learner train. It sees no label before
 * learner_reveal. In between, the owner may predict as often as it likes, with the
 * model that serves inference or any other.
 *
 * Inputs are passed and kept as they come. Where the learner scales them (model.scale,
 * learn/scaling.h), a number that is not finite is a missing value.
 *
 * What a learner becomes is a function of its options and of what was revealed, to
 * the last bit, on any number of threads. One thread uses it at a time.
 */
#ifndef RETAIN_LEARN_LEARNER_H
#define RETAIN_LEARN_LEARNER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/options.h"
#include "base/state.h"
#include "learn/parts/mix.h"
#include "nn/net.h"
#include "nn/scale.h"
#include "optim/schedule.h"
#include "optim/scores.h"
#include "store/store.h"

/* What is done, told as it happens; the owner keeps the ledger. */
enum learner_work {
	LEARNER_TRAIN,      /* forward and backward of a training batch, by one model */
	LEARNER_VALIDATE,   /* forward of a validation batch, or of a time step for a population */
	LEARNER_STATISTICS, /* forward that accumulates batch norm statistics for an average */
	LEARNER_CANDIDATES, /* forward of samples from which a batch is chosen */
	LEARNER_VIRTUAL,    /* forward, backward and a sweep: a step that is only tried */
	LEARNER_TEACH,      /* forward of samples whose logits a loss keeps or imitates */
	LEARNER_PREDICT,    /* forward for the owner */
	LEARNER_FAST_FORWARD, /* forward of new samples by the slow net, for its record */
	LEARNER_FAST_STEP,    /* forward, backward and two sweeps: a step of fast weights */
	LEARNER_UPDATE,       /* a sweep over the parameters */
	LEARNER_MOVE,         /* an average moved */
	LEARNER_ITERATION,    /* an iteration is complete */
	LEARNER_WORKS,
};

/* The end of a window of K_W iterations: what was decided by which numbers. */
struct learner_window {
	int64_t iteration;
	int64_t rounds; /* validation batches in the window */
	int averages;   /* how many there are */
	int best;       /* the average that was better; -1: there is none */
	struct score scores[SCORES_MODELS];
	double gamma_before[2], gamma_after[2];
	struct schedule_verdict verdict;
};

enum { LEARNER_POPULATION = 3 }; /* the most models of a population */

/*
 * The end of a part of the stream, for learners that decide by parts: how the models
 * of a population did since the last selection, and how far replay reaches.
 * Accuracies are in [0, 1]; NAN where nothing was counted.
 */
struct learner_part {
	int64_t iteration, step; /* step: how many were revealed */
	int models;              /* of the population; 0: there is none */
	bool selected;           /* the best replaced the others */
	int best;
	double accuracy[LEARNER_POPULATION];
	double rate[LEARNER_POPULATION]; /* from now on */
	double fresh, replayed;          /* accuracy on new and on replayed samples */
	int64_t history; /* how many samples replay reaches back from now on; 0: all */
};

/*
 * Another model leads the mixture that predicts what comes now, and has for a while. Model
 * 0 is the slow net; then come the parts of fast.parts, those of fast.heads and, if there is
 * one, the prior's.
 */
struct learner_lead {
	int64_t iteration, step; /* step: how many were revealed before this one */
	int models, lead;
	const char *names[MIX_MODELS]; /* of heads and the prior; NULL for all others */
	double weights[MIX_MODELS];
};

/* What the owner is told. Functions may be NULL. */
struct learner_watch {
	void (*work)(void *context, enum learner_work work, int samples);
	void (*window)(void *context, const struct learner_window *window);
	void *context;
	void (*part)(void *context, const struct learner_part *part);
	void (*lead)(void *context, const struct learner_lead *lead);
	/* Multiply-adds of learning that are no pass of the net. */
	void (*macs)(void *context, int64_t macs);
};

/* Whether the options ask for something that decides by parts of a stream, which must go on;
 * or for something that answers what is now. */
bool learner_has_parts(const struct options *options);
bool learner_has_fast(const struct options *options);

struct learner_peers; /* learn/peers.h */

struct learner_config {
	const struct options *options;
	int classes, channels, height, width;
	/*
	 * Above 0: classes may come while it learns, up to so many. A label brings all classes
	 * below it. The first `classes` of them are there at the start, which may be 0.
	 */
	int classes_most;
	int64_t steps;      /* time steps of the whole run; 0: unknown */
	int64_t iterations; /* of the whole run, for schedules that need to know; 0: unknown */
	bool fit;           /* inputs suit a net as they are: model.scale = auto leaves them */
	double budget;      /* or, in iterations of plain SGD, the cost of a time step; 0: none */
	struct learner_peers *peers; /* processes that are this learner, too; NULL: none */
	const char *data; /* what differs where the owner's data does; borrowed for this call */
	/* Fills in samples for learner_look, of a kind that is the owner's to number. */
	int (*load)(
		void *context, int kind, const int64_t *ids, int n, float *inputs, struct err *err);
	void *load_context;
	struct learner_watch watch;
};

struct learner;

/*
 * The store is borrowed and must be empty. The options are borrowed for this call, or as long
 * as the learner lives if classes may come.
 */
int learner_new(struct learner **learner, const struct learner_config *config, struct store *store,
	struct err *err);
void learner_free(struct learner *learner);

/*
 * Which weights: those that serve inference, or those of one model that is trained. With
 * fast weights there are two questions. "What is this now" is for what comes next and is
 * answered by the mixture (learn/parts/parts.h); "what is this, of all that ever was" by the
 * weights that serve inference and, if there are any, heads. Without them the answers are
 * the same.
 */
enum learner_model {
	LEARNER_EVER = -3,
	LEARNER_NOW = -2,
	LEARNER_INFERENCE = -1,
	LEARNER_PLAIN = SCORES_PLAIN,
	LEARNER_AVERAGE = SCORES_AVERAGE
};

/*
 * Fills in (n, classes) logits; of a mixture, those whose softmax is its answer. A model
 * that does not exist is an error. Inputs are NULL for those of learner_look.
 */
int learner_predict(struct learner *learner, int model, const float *inputs, int n, float *logits,
	struct err *err);

/*
 * Has samples loaded (config.load), where they are needed, for learner_predict of these n by any
 * model with NULL for inputs. *inputs, if not NULL, is what was loaded, good until the next look;
 * NULL: other processes have some of it.
 */
int learner_look(struct learner *learner, int kind, const int64_t *ids, int n, const float **inputs,
	struct err *err);

/*
 * Shows the samples of a time step with their labels. Over a source inputs may be
 * NULL. A label outside the classes is an error, unless classes may come: then the net has
 * more of them from now on. A failure takes nothing; the step may be revealed again.
 */
int learner_reveal(struct learner *learner, const float *inputs, const int32_t *labels, int n,
	struct err *err);

/* Classes may come from now on, up to so many; those there are stay. */
void learner_let_grow(struct learner *learner, int classes_most);

/*
 * Says that so many iterations will be made before anything else is revealed, so that
 * batches can be made ready. If it turns out wrong, only time is lost.
 */
void learner_expect(struct learner *learner, int64_t iterations);

/*
 * The next time step that is revealed begins a task of so many iterations (0: as
 * planned for run.task_steps time steps). If this is never called, every
 * run.task_steps time steps are a task. A task begins the cosine of a cyclic schedule
 * and the current half of er, mir and halves; with learn.retrain it takes the weights
 * back to the start.
 */
void learner_task(struct learner *learner, int64_t iterations);

/* Makes so many iterations; none while there is nothing to train on. */
int learner_train(struct learner *learner, int iterations, struct err *err);

/*
 * Divergence: a loss or weights that are no longer numbers (ERR_STATE). learner_train
 * takes no step with such a loss, but the step before may have spoiled the weights;
 * learner_check looks at them. After a failure of either, learner_diverged tells
 * whether this was the reason. The way out is to load an earlier state and to
 * multiply all rates by a factor below 1: learner_slow, which also starts momentum anew.
 */
int learner_check(struct learner *learner, struct err *err);
bool learner_diverged(const struct learner *learner);
void learner_slow(struct learner *learner, double factor);

/* How things stand. */
struct learner_report {
	int64_t iteration, samples; /* how many were made, and revealed */
	double rate;                /* of the next iteration */
	int averages, best;         /* best: LEARNER_PLAIN or LEARNER_AVERAGE + i */
	double gamma[2];
	bool scored;                        /* whether any window was scored yet */
	struct score scores[SCORES_MODELS]; /* means over the last whole window */
	int judged;                         /* the model that was best in that window */
	double sigma;                       /* by how much it was ahead of the plain one */
	double loss;                        /* of the last training batch */
	int64_t pool, validation;           /* samples that can be drawn */
	/* Fast weights: the share of right samples of the answer about ever when labels came;
	 * NAN without. And what they and heads take of memory. */
	double slow_efficacy, fast_bytes;
};
void learner_report(const struct learner *learner, struct learner_report *report);

/* What an iteration costs on average, in iterations of plain SGD; and how many the whole run will
 * have, by that price if there is a budget (0: unknown). */
double learner_price(const struct learner *learner);
int64_t learner_planned(const struct learner *learner);

/* Samples that it keeps: to train on, and held out to validate. */
void learner_kept(const struct learner *learner, int64_t *training, int64_t *validation);

/* Whether an answer may be another than that of LEARNER_INFERENCE: LEARNER_NOW, LEARNER_EVER. */
bool learner_mixes(const struct learner *learner, int model);

/*
 * How many classes are known. Where they may come it is 0 before the first label, though
 * learner_predict then fills in a logit per input; otherwise it is as many as the net has.
 */
int learner_classes(const struct learner *learner);

/* Where classes may come, both are good until the next reveal. */
const struct net *learner_net(const struct learner *learner);
const char *learner_isa(const struct learner *learner);
int learner_threads(const struct learner *learner);
/* A model's weights and, for nets with batch norm, its statistics; NULL if there are none. Good
 * until the learner is called again. */
const float *learner_params(const struct learner *learner, int model);
const float *learner_stats(const struct learner *learner, int model);
/*
 * The scale of inputs at the moment, and how many values of each number it is from; NULL
 * if the learner takes them as they are. It lives as long as the learner.
 */
const struct scale *learner_scale(const struct learner *learner);
const int64_t *learner_scale_seen(const struct learner *learner);
/*
 * A number that moves whenever what LEARNER_INFERENCE stands for, weights, statistics or
 * scale, or the mixture of LEARNER_NOW may have changed, by whatever call. An owner that keeps
 * a copy of them (learn/parts/published.h) copies again when it has moved. While an average serves,
 * without fast weights, and nothing is scaled, the number changes only when the average does.
 */
uint64_t learner_version(const struct learner *learner);
/*
 * Takes the weights in a safetensors file: training goes on, and averages begin, from
 * them. So does the scale of inputs, if the file has one; it is refused if this learner
 * does not scale (ERR_INPUT). Without one in the file the learner's stays.
 */
int learner_load(struct learner *learner, const char *path, struct err *err);

/* Everything but the options and the store. */
void learner_state(struct learner *learner, struct state *state);

/* Keys of model, engine, run and learn. learner_new refuses keys that exclude each other. */
extern const struct option_row learner_options[];

#endif
