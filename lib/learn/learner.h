/*
 * A learner is a net trained by replay on the samples it was shown, with averages of its weights
 * and a learning rate that follows their scores.
 *
 * Its owner runs the protocol: predict the inputs of a time step, reveal them with their labels,
 * let the learner train. The learner sees no label before learner_reveal. In between, the owner
 * may predict as often as it likes, with the model that serves inference or any other.
 *
 * Inputs are passed and kept unscaled. If the learner scales them (model.scale, learn/scaling.h),
 * NaN and infinities are missing values.
 *
 * A learner is a function of its options and of the revealed samples, bit for bit, on any number
 * of threads. Use it from one thread at a time.
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
#include "optim/scoring.h"
#include "store/store.h"
#include "target/class_weights.h"
#include "target/target.h"

/* Work reported as it happens; the owner keeps the ledger. */
enum learner_work {
	LEARNER_TRAIN,      /* forward and backward of a training batch, by one model */
	LEARNER_VALIDATE,   /* forward of a validation batch, or of a time step for a population */
	LEARNER_STATISTICS, /* forward that accumulates batch norm statistics for an average */
	LEARNER_CANDIDATES, /* forward of samples that compete for a place in the batch */
	LEARNER_VIRTUAL,    /* forward, backward and a sweep: a virtual step */
	LEARNER_TEACH,      /* forward of samples whose logits a loss stores or distils */
	LEARNER_PREDICT,    /* forward for the owner */
	LEARNER_FAST_FORWARD, /* forward of new samples by the slow net, for its record */
	LEARNER_FAST_STEP,    /* forward, backward and two sweeps: a step of fast weights */
	LEARNER_UPDATE,       /* a sweep over the parameters */
	LEARNER_MOVE,         /* an average moved */
	LEARNER_ITERATION,    /* an iteration is complete */
	LEARNER_WORKS,
};

enum { LEARNER_POPULATION = 3 }; /* the largest population */

/*
 * The end of a part of the stream, for learners that decide by parts: the accuracy of a
 * population's models since the last selection, and how far replay reaches. Accuracies are in [0,
 * 1], NAN without samples.
 */
struct learner_part {
	int64_t iteration, step; /* step: steps revealed */
	int models;              /* of the population; 0: none */
	bool selected;           /* the best replaced the others */
	int best;
	double accuracy[LEARNER_POPULATION];
	double rate[LEARNER_POPULATION]; /* from now on */
	double fresh, replayed;          /* accuracy on new and on replayed samples */
	int64_t history; /* how many samples replay reaches back from now on; 0: all */
};

/*
 * A new model leads the mixture that answers "now", and has for a while. Model 0 is the slow net;
 * then come the parts of fast.parts, those of fast.heads and, if there is one, the prior.
 */
struct learner_lead {
	int64_t iteration, step; /* step: steps revealed before this one */
	int models, lead;
	const char *names[MIX_MODELS]; /* of heads and the prior; NULL for all others */
	double weights[MIX_MODELS];
};

/* Callbacks to the owner; each may be NULL. */
struct learner_watch {
	void (*work)(void *context, enum learner_work work, int samples);
	void (*window)(void *context, const struct scoring_window *window);
	void *context;
	void (*part)(void *context, const struct learner_part *part);
	void (*lead)(void *context, const struct learner_lead *lead);
	/* Multiply-adds of learning that are not a pass of the net. */
	void (*macs)(void *context, int64_t macs);
};

/*
 * Whether the options need parts of a stream, which must not end early; whether they ask for fast
 * parts that answer "now".
 */
bool learner_has_parts(const struct options *options);
bool learner_has_fast(const struct options *options);

/*
 * What kinds of averages, schedules and optimizers ask of each other; and whether the plain model
 * may serve (average.serve = best).
 */
int learner_kinds_check(const struct options *options, struct err *err);
bool learner_serves_plain(const struct options *options);

struct learner_peers; /* learn/peers.h */

struct learner_config {
	const struct options *options;
	int classes, channels, height, width;
	/*
	 * Above 0: classes may grow while learning, up to this number. A label implies all
	 * classes below it. `classes` is the initial number, which may be 0.
	 */
	int classes_most;
	int64_t steps;      /* of the whole run; 0: unknown */
	int64_t iterations; /* of the whole run, for schedules that need it; 0: unknown */
	bool fit;      /* inputs suit a net as they are: model.scale = auto leaves them unscaled */
	double budget; /* or the cost of a time step, in iterations of plain SGD; 0: none */
	struct learner_peers *peers; /* other processes of this learner; NULL: none */
	/* Makes a net of the program's own, for the lifetime of the learner; NULL: none. */
	const struct net_maker *maker;
	const char *
		data; /* fingerprint of the owner's data, compared across ranks; borrowed for this call */
	/* Loads samples for learner_look; the owner numbers the kinds. */
	int (*load)(
		void *context, int kind, const int64_t *ids, int n, float *inputs, struct err *err);
	void *load_context;
	struct learner_watch watch;
};

struct learner;

/*
 * The store is borrowed and must be empty. The options are borrowed for this call or, if classes
 * may grow, for the lifetime of the learner.
 */
int learner_new(struct learner **learner, const struct learner_config *config, struct store *store,
	struct err *err);
void learner_free(struct learner *learner);

/*
 * Selects the weights: those that serve inference, or those of one trained model. With fast
 * weights there are two questions. NOW is about the next samples and is answered by the mixture
 * (learn/parts/parts.h). EVER is about everything seen so far and is answered by the weights that
 * serve inference and any heads. Without fast weights both answers are the same.
 *
 * NEXT is NOW for samples in turn: those of the stream's next time step, asked when the labels of
 * all steps before it are known. Only then can the mixture use the label just before.
 */
enum learner_model {
	LEARNER_NEXT = -4,
	LEARNER_EVER = -3,
	LEARNER_NOW = -2,
	LEARNER_INFERENCE = -1,
	LEARNER_PLAIN = SCORES_PLAIN,
	LEARNER_AVERAGE = SCORES_AVERAGE
};

/*
 * Fills in (n, classes) logits; for a mixture, logits whose softmax is its answer. Of numbers it
 * fills in (n, width, NUMBER_OUTPUTS) in the user's units. A model that does not exist is an error. Pass
 * NULL inputs for those of learner_look.
 */
int learner_predict(struct learner *learner, int model, const float *inputs, int n, float *logits,
	struct err *err);

/*
 * What classes weigh in the answers of learner_predict and of copies; empty at first. It belongs
 * to the learner's state. Its owner sets it: learner_weigh, whenever answers are to change.
 */
struct class_weights *learner_weigh(struct learner *learner);
const struct class_weights *learner_weighs(const struct learner *learner);

/*
 * Loads samples (config.load) where they are needed, so that learner_predict can predict these n
 * with any model and NULL inputs. *inputs, if requested, is what was loaded, valid until the next
 * look; NULL: other processes hold some of it.
 */
int learner_look(struct learner *learner, int kind, const int64_t *ids, int n, const float **inputs,
	struct err *err);

/*
 * Reveals the samples of a time step with their labels. With a source as the store, inputs may be
 * NULL. A label outside the classes is an error, unless classes may grow: then it adds outputs to
 * the net. A failure changes nothing; the step may be revealed again.
 */
int learner_reveal(struct learner *learner, const float *inputs, const union target *labels, int n,
	struct err *err);

/*
 * The next time step to be revealed was not asked in turn (LEARNER_NEXT): labels of earlier ones
 * were unknown then. So its labels do not count for models that use the label just before. Of numbers,
 * `by` labels became known since, and `guesses` are what was answered; borrowed until then.
 */
void learner_late(struct learner *learner, int by, const union target *guesses);

/*
 * The weights of the next time step's samples, borrowed until then; NULL: all 1. Finite, not below
 * 0: only ratios count. A sample's weight multiplies its loss whenever it is replayed. One of weight
 * 0 is stored and scored, and teaches nothing.
 */
void learner_weighted(struct learner *learner, const float *weights);

/*
 * Inputs have this many floats from now on, at least as many as before. Those behind the net's own
 * are ignored until a revealed sample has a number there, not NAN: then the net grows by them.
 */
int learner_widen(struct learner *learner, size_t floats, struct err *err);
size_t learner_floats(const struct learner *learner); /* of the net's inputs */

/* Lets classes grow from now on, up to this number; existing ones stay. */
void learner_let_grow(struct learner *learner, int classes_most);

/*
 * Announces the number of iterations before the next reveal, so that batches can be prefetched and
 * validation can run beside them. A wrong number only costs time.
 */
void learner_expect(struct learner *learner, int64_t iterations);

/*
 * The next revealed time step begins a task of this many iterations (0: as planned for
 * run.task_steps time steps). If this is never called, every run.task_steps time steps are a
 * task. A task restarts the cosine of a cyclic schedule and the current half of er, mir and
 * halves; with learn.retrain it resets the weights to their initial values.
 */
void learner_task(struct learner *learner, int64_t iterations);

/* Runs this many iterations; none while there is nothing to train on. */
int learner_train(struct learner *learner, int iterations, struct err *err);

/*
 * Divergence: a NaN or infinite loss or weight (ERR_STATE). learner_train takes no step with such
 * a loss, but the step before may have spoiled the weights; learner_check inspects them. After a
 * failure of either, learner_diverged tells whether this was the reason. To recover, load an
 * earlier state and call learner_slow: it multiplies all rates by a factor below 1 and resets
 * momentum.
 */
int learner_check(struct learner *learner, struct err *err);

/*
 * After samples of the store were replaced: forgets what is kept of these ids, and makes anew all
 * that answers beside the slow net, from the samples that the store has. The slow net stays as it
 * is.
 */
int learner_relearn(struct learner *learner, const int64_t *ids, size_t n, struct err *err);
bool learner_diverged(const struct learner *learner);
void learner_slow(struct learner *learner, double factor);

/* Current status. */
struct learner_report {
	int64_t iteration, samples; /* iterations made, samples revealed */
	double rate;                /* of the next iteration */
	int averages, best;         /* best: LEARNER_PLAIN or LEARNER_AVERAGE + i */
	double gamma[2];
	bool scored;                        /* whether any window was scored yet */
	struct score scores[SCORES_MODELS]; /* means over the last complete window */
	int judged;                         /* the best model in that window */
	double sigma;                       /* its lead over the plain model */
	double loss;                        /* of the last training batch */
	int64_t pool, validation;           /* samples that can be drawn */
	/*
	 * With fast weights: accuracy of the EVER answer at reveal time, NAN without; and the
	 * memory of fast weights and heads.
	 */
	double slow_efficacy, fast_bytes;
};
void learner_report(const struct learner *learner, struct learner_report *report);

/*
 * The average cost of an iteration, in iterations of plain SGD, and in the first task, where MIR
 * has no past to choose from; the iterations of the whole run, at the average price if there is a
 * budget (0: unknown).
 */
double learner_price(const struct learner *learner);
double learner_first_price(const struct learner *learner);
int64_t learner_planned(const struct learner *learner);

/* Samples kept: for training, and held out for validation. */
void learner_kept(const struct learner *learner, int64_t *training, int64_t *validation);

/* Whether LEARNER_NEXT, LEARNER_NOW or LEARNER_EVER may answer differently from LEARNER_INFERENCE. */
bool learner_mixes(const struct learner *learner, int model);

/*
 * The number of known classes. With growing classes it is 0 before the first label, although
 * learner_predict then fills in one logit per input; otherwise it is the net's.
 */
int learner_classes(const struct learner *learner);

/* What it learns (model.target), and of numbers the scale that its net sees them on. */
const struct target_type *learner_target(const struct learner *learner);
int learner_width(const struct learner *learner);
void learner_number_scales(const struct learner *learner, struct number_scales *scales);

/* With growing classes, both are valid until the next reveal. */
const struct net *learner_net(const struct learner *learner);
const char *learner_isa(const struct learner *learner);
int learner_threads(const struct learner *learner);
/*
 * A model's weights and its batch norm statistics; NULL if there are none. Valid until the next
 * call of the learner.
 */
const float *learner_params(const struct learner *learner, int model);
/* The floats of such weights, in memory that the caller frees by mem_free. */
int learner_copy_params(const struct learner *learner, int model, float **values, struct err *err);
const float *learner_stats(const struct learner *learner, int model);
/*
 * The current scale of inputs, and the number of values behind each of its entries; NULL if the
 * learner does not scale. Lives as long as the learner.
 */
const struct scale *learner_scale(const struct learner *learner);
const int64_t *learner_scale_seen(const struct learner *learner);
/*
 * A version number that changes whenever the weights, statistics or scale of LEARNER_INFERENCE,
 * or the mixture of LEARNER_NOW, may have changed. An owner with a copy (learn/parts/published.h)
 * renews it when the number has changed. While an average serves, without fast weights and
 * scaling, it changes only when the average does.
 */
uint64_t learner_version(const struct learner *learner);
/*
 * Loads weights from a safetensors file; training and averages restart from them. The file's
 * scale of inputs, if any, is loaded too, or rejected if this learner does not scale (ERR_INPUT).
 * Without one in the file the learner keeps its own.
 */
int learner_load(struct learner *learner, const char *path, struct err *err);

/* Everything except the options and the store. */
void learner_state(struct learner *learner, struct state *state);

/* Keys of model, engine, run and learn. learner_new rejects keys that exclude each other. */
extern const struct option_row learner_options[];

#endif
