/*
 * The public learner: observe, reveal, train. Around the learner of lib/learn it
 * has a store in memory, the time steps whose labels are not known yet, and a
 * gate that lets one thread in at a time.
 */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <retain.h>
#include "base/mem.h"
#include "data/store.h"
#include "eval/prequential.h"
#include "nn/rank.h"
#include "learn/learner.h"
#include "nn/weights_file.h"
#include "run/config.h"
#include "run/gate.h"
#include "run/shape.h"

/* The public error is the internal one under another name. */
static_assert(sizeof(struct retain_err) == sizeof(struct err), "errors have one form");

static struct err *inner(struct retain_err *err)
{
	return (struct err *)err;
}

struct retain_config *retain_config_new(void)
{
	struct config *config;

	config_new(&config, NULL);
	return (struct retain_config *)config;
}

void retain_config_free(struct retain_config *config)
{
	config_free((struct config *)config);
}

int retain_config_load(struct retain_config *config, const char *path, struct retain_err *err)
{
	return config_load((struct config *)config, path, inner(err));
}

int retain_config_set(
	struct retain_config *config, const char *key, const char *value, struct retain_err *err)
{
	return config_set((struct config *)config, key, value, inner(err));
}

/* A time step that waits for its labels. */
struct pending {
	struct pending *next;
	uint64_t number;
	int count;
	float *inputs, *logits;
	int32_t *predicted, *ranks;
};

struct retain_learner {
	struct gate gate;
	struct store *store;
	struct learner *learner;
	struct prequential *prequential;
	struct pending *pending;
	uint64_t tickets;
	int64_t steps;
	int iterations, classes; /* iterations: of RETAIN_BUDGET, unless there is a budget: */
	double budget, credit;   /* in iterations of this learner; credit: what is left of it */
	size_t floats; /* of an input */
};

static int make_parts(struct retain_learner *made, const struct options *o, struct err *err)
{
	struct learner_config config = {.options = o};
	int code = shape_read(o, &config.classes, &config.channels, &config.height, &config.width, err);

	if (code)
		return code;
	made->classes = config.classes;
	made->floats = (size_t)config.channels * (size_t)config.height * (size_t)config.width;
	made->iterations = options_int(o, "run.iterations");
	config.budget = options_float(o, "run.budget");
	code = store_in_memory(&made->store, made->floats, err);
	if (!code)
		code = learner_new(&made->learner, &config, made->store, err);
	if (!code)
		made->budget = config.budget / learner_price(made->learner);
	if (!code)
		code = prequential_new(&made->prequential, config.classes,
			options_int(o, "eval.blind_window"), err);
	return code;
}

int retain_learner_new(struct retain_learner **learner, const struct retain_config *config,
	struct retain_err *err)
{
	struct retain_learner *made = mem_new(1, sizeof(*made));
	struct options *options = NULL;
	int code;

	*learner = NULL;
	if (!made)
		return err_memory(inner(err), "a learner", sizeof(*made));
	if (gate_init(&made->gate)) {
		mem_free(made);
		return err_memory(inner(err), "a lock", sizeof(made->gate));
	}
	code = config_resolve((const struct config *)config, &options, inner(err));
	if (!code)
		code = make_parts(made, options, inner(err));
	options_free(options);
	if (code)
		retain_learner_free(made);
	else
		*learner = made;
	return code;
}

static void pending_free(struct pending *pending)
{
	if (!pending)
		return;
	mem_free(pending->inputs);
	mem_free(pending->logits);
	mem_free(pending->predicted);
	mem_free(pending->ranks);
	mem_free(pending);
}

void retain_learner_free(struct retain_learner *learner)
{
	if (!learner)
		return;
	for (struct pending *next, *at = learner->pending; at; at = next) {
		next = at->next;
		pending_free(at);
	}
	prequential_free(learner->prequential);
	learner_free(learner->learner);
	store_free(learner->store);
	gate_release(&learner->gate);
	mem_free(learner);
}

static struct pending *pending_new(
	const struct retain_learner *learner, int count, struct err *err)
{
	const size_t n = (size_t)count, logits = n * (size_t)learner->classes;
	struct pending *made = mem_new(1, sizeof(*made));

	if (made) {
		made->count = count;
		made->inputs = mem_new(n * learner->floats, sizeof(float));
		made->logits = mem_new(logits, sizeof(float));
		made->predicted = mem_new(n, sizeof(*made->predicted));
		made->ranks = mem_new(n, sizeof(*made->ranks));
		if (made->inputs && made->logits && made->predicted && made->ranks)
			return made;
	}
	err_memory(err, "a time step", (n * learner->floats + logits) * sizeof(float));
	pending_free(made);
	return NULL;
}

/* Softmax, in double so that a sum of many classes stays a sum of 1. */
static void say(const float *logits, int classes, struct retain_prediction *prediction,
	float *probabilities)
{
	double sum = 0;
	int best = 0;

	for (int c = 1; c < classes; c++)
		if (logits[c] > logits[best])
			best = c;
	for (int c = 0; c < classes; c++)
		sum += exp((double)logits[c] - (double)logits[best]);
	*prediction = (struct retain_prediction){best, (float)(1 / sum)};
	for (int c = 0; probabilities && c < classes; c++)
		probabilities[c] =
			(float)(exp((double)logits[c] - (double)logits[best]) / sum);
}

/* Fills in the step's logits and predictions. To be called inside the gate. */
static int predict(struct retain_learner *learner, struct pending *step,
	struct retain_prediction *predictions, float *probabilities, struct err *err)
{
	const size_t classes = (size_t)learner->classes;
	const int code = learner_predict(learner->learner, LEARNER_INFERENCE, step->inputs,
		step->count, step->logits, err);

	for (int i = 0; i < step->count && !code; i++)
		say(step->logits + (size_t)i * classes, learner->classes, &predictions[i],
			probabilities ? probabilities + (size_t)i * classes : NULL);
	return code;
}

/* One number that is none would spoil every weight once it is trained on. */
static int check_inputs(const struct retain_learner *learner, const float *inputs, int count,
	struct err *err)
{
	if (count < 1)
		return err_set(err, ERR_INPUT, "%d samples: must be at least 1", count);
	for (size_t i = 0; i < (size_t)count * learner->floats; i++)
		if (!isfinite(inputs[i]))
			return err_set(err, ERR_INPUT, "sample %zu: number %zu of its input is %f",
				i / learner->floats, i % learner->floats, (double)inputs[i]);
	return 0;
}

/* A time step with a copy of its inputs, if they are sound. */
static int step_new(struct pending **step, const struct retain_learner *learner,
	const float *inputs, int count, struct err *err)
{
	const int code = check_inputs(learner, inputs, count, err);

	if (code)
		return code;
	*step = pending_new(learner, count, err);
	if (!*step)
		return ERR_MEMORY;
	memcpy((*step)->inputs, inputs, (size_t)count * learner->floats * sizeof(float));
	return 0;
}

int retain_predict(struct retain_learner *learner, const float *inputs, int count,
	struct retain_prediction *predictions, float *probabilities, struct retain_err *err)
{
	struct pending *step = NULL;
	int code = step_new(&step, learner, inputs, count, inner(err));

	if (code)
		return code;
	gate_enter(&learner->gate);
	code = predict(learner, step, predictions, probabilities, inner(err));
	gate_leave(&learner->gate);
	pending_free(step);
	return code;
}

int retain_observe(struct retain_learner *learner, const float *inputs, int count,
	struct retain_prediction *predictions, struct retain_ticket *ticket, struct retain_err *err)
{
	struct pending *step = NULL;
	int code = step_new(&step, learner, inputs, count, inner(err));

	if (code)
		return code;
	gate_enter(&learner->gate);
	code = predict(learner, step, predictions, NULL, inner(err));
	if (!code) {
		step->number = ticket->number = ++learner->tickets;
		step->next = learner->pending;
		learner->pending = step;
	}
	gate_leave(&learner->gate);
	if (code)
		pending_free(step);
	return code;
}

/* Where the list points to the ticket's step; NULL if there is none. */
static struct pending **find_pending(
	struct retain_learner *learner, struct retain_ticket ticket, struct err *err)
{
	for (struct pending **at = &learner->pending; *at; at = &(*at)->next)
		if ((*at)->number == ticket.number)
			return at;
	err_set(err, ERR_INPUT, "ticket %" PRIu64 ": %s", ticket.number,
		ticket.number && ticket.number <= learner->tickets ?
			"was revealed or dropped before" :
			"was never given out");
	return NULL;
}

static void remove_pending(struct pending **at)
{
	struct pending *step = *at;

	*at = step->next;
	pending_free(step);
}

static void score(struct retain_learner *learner, struct pending *step, const int32_t *labels)
{
	rank_labels(step->logits, learner->classes, labels, step->count, step->predicted,
		step->ranks);
	prequential_step(
		learner->prequential, step->predicted, step->ranks, labels, step->count);
	learner->steps++;
}

int retain_reveal(struct retain_learner *learner, struct retain_ticket ticket,
	const int32_t *labels, struct retain_err *err)
{
	struct pending **at;
	int code = ERR_INPUT;

	gate_enter(&learner->gate);
	at = find_pending(learner, ticket, inner(err));
	if (at)
		code = learner_reveal(
			learner->learner, (*at)->inputs, labels, (*at)->count, inner(err));
	if (!code) {
		score(learner, *at, labels);
		remove_pending(at);
	}
	gate_leave(&learner->gate);
	return code;
}

int retain_drop(
	struct retain_learner *learner, struct retain_ticket ticket, struct retain_err *err)
{
	struct pending **at;

	gate_enter(&learner->gate);
	at = find_pending(learner, ticket, inner(err));
	if (at)
		remove_pending(at);
	gate_leave(&learner->gate);
	return at ? 0 : ERR_INPUT;
}

/* What is too little for an iteration is kept for the next time. */
static int next_iterations(struct retain_learner *learner)
{
	int iterations = learner->iterations;

	if (!(learner->budget > 0))
		return iterations;
	gate_enter(&learner->gate);
	learner->credit += learner->budget;
	iterations = (int)fmin(learner->credit + 1e-6, 1 << 30);
	learner->credit -= iterations;
	gate_leave(&learner->gate);
	return iterations;
}

/* The gate is left after every iteration, so that others get their turn. */
int retain_train(struct retain_learner *learner, int iterations, struct retain_err *err)
{
	int code = 0;

	if (iterations == RETAIN_BUDGET)
		iterations = next_iterations(learner);
	if (iterations < 0)
		return err_set(inner(err), ERR_INPUT, "%d iterations: must be at least 0",
			iterations);
	for (int i = 0; i < iterations && !code; i++) {
		gate_enter(&learner->gate);
		code = learner_train(learner->learner, 1, inner(err));
		gate_leave(&learner->gate);
	}
	return code;
}

void retain_metrics(struct retain_learner *learner, struct retain_metrics *metrics)
{
	struct learner_report now;

	gate_enter(&learner->gate);
	learner_report(learner->learner, &now);
	*metrics = (struct retain_metrics){
		.steps = learner->steps,
		.samples = now.samples,
		.iterations = now.iteration,
		.learning_efficacy = learner->steps ? prequential_top1(learner->prequential) : NAN,
		.blind = learner->steps ? prequential_blind(learner->prequential) : NAN,
		.retention = now.scored ? now.scores[now.judged].accuracy : NAN,
		.retention_plain = now.scored ? now.scores[SCORES_PLAIN].accuracy : NAN,
		.gap = now.scored && now.averages ? now.sigma : NAN,
		.learning_rate = now.rate,
		.loss = now.iteration ? now.loss : NAN,
	};
	gate_leave(&learner->gate);
}

int retain_save_weights(struct retain_learner *learner, const char *path, struct retain_err *err)
{
	struct learner_report now;
	int code;

	gate_enter(&learner->gate);
	learner_report(learner->learner, &now);
	code = weights_save(path, learner_net(learner->learner),
		learner_params(learner->learner, LEARNER_INFERENCE),
		learner_stats(learner->learner, LEARNER_INFERENCE), now.iteration, inner(err));
	gate_leave(&learner->gate);
	return code;
}

int retain_load_weights(struct retain_learner *learner, const char *path, struct retain_err *err)
{
	int code;

	gate_enter(&learner->gate);
	code = learner_load(learner->learner, path, inner(err));
	gate_leave(&learner->gate);
	return code;
}
