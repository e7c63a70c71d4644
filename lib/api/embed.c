/*
 * The public learner: observe, reveal, train. Around a run that a program drives
 * (api/program.h) it has the time steps whose labels are not known yet, and a gate
 * that lets one thread in at a time.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "nn/weights/weights_file.h"
#include "api/embed_impl.h"
#include "api/gate.h"
#include "eval/guess.h"
#include "api/program.h"
#include "run/run.h"

/* A time step that waits for its labels. */
struct pending {
	struct pending *next;
	uint64_t number;
	int count;
	float *inputs;
	int32_t *guesses;
};

struct retain_learner {
	struct gate gate;
	struct warning warning;
	struct options *options;
	struct program *program;
	struct run *run; /* the program's */
	struct pending *pending;
	uint64_t first, tickets; /* the first and the last ticket of this learner */
};

/* Tickets end with the process, but programs may keep them: none of another process fits here. */
static uint64_t first_ticket(void)
{
	enum { PER_SECOND = 20 }; /* bits */

	return ((uint64_t)time(NULL) << PER_SECOND) + 1;
}

/* The log of the learner's run. */
static void pass_on(void *context, enum log_level level, const char *message)
{
	const struct warning *warning = context;

	(void)level;
	warning->warn(warning->context, message);
}

static int make_run(struct retain_learner *made, const struct retain_config *config,
	const char *folder, struct err *err)
{
	struct log log = {.context = &made->warning, .most = LOG_WARN};
	int code = config_resolve(config->layers, &made->options, err);

	made->warning = config->warning;
	if (made->warning.warn)
		log.write = pass_on;
	if (!code)
		code = program_open(&made->program, made->options, folder, &log, err);
	if (!code)
		made->run = program_run(made->program);
	made->first = folder ? first_ticket() : 1;
	made->tickets = made->first - 1;
	return code;
}

static int make_learner(struct retain_learner **learner, const struct retain_config *config,
	const char *folder, struct err *err)
{
	struct retain_learner *made = mem_new(1, sizeof(*made));
	int code;

	if (!made)
		return err_memory(err, "a learner", sizeof(*made));
	if (gate_init(&made->gate)) {
		mem_free(made);
		return err_memory(err, "a lock", sizeof(made->gate));
	}
	code = make_run(made, config, folder, err);
	if (code)
		retain_learner_free(made);
	else
		*learner = made;
	return code;
}

int retain_learner_new(
	struct retain_learner **learner, const struct retain_config *config, struct retain_err *err)
{
	*learner = NULL;
	return !config ? config_missing(err) : make_learner(learner, config, NULL, inner(err));
}

int retain_learner_open(struct retain_learner **learner, const struct retain_config *config,
	const char *folder, struct retain_err *err)
{
	*learner = NULL;
	return !config ? config_missing(err) : make_learner(learner, config, folder, inner(err));
}

static void pending_free(struct pending *pending)
{
	if (!pending)
		return;
	mem_free(pending->inputs);
	mem_free(pending->guesses);
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
	program_close(learner->program);
	options_free(learner->options);
	gate_release(&learner->gate);
	mem_free(learner);
}

int retain_learner_save(struct retain_learner *learner, struct retain_err *err)
{
	int code;

	gate_enter(&learner->gate);
	code = program_save(learner->program, inner(err));
	gate_leave(&learner->gate);
	return code;
}

/* What cannot be saved is no loss of samples: those are in the journal. */
void retain_learner_close(struct retain_learner *learner)
{
	struct err why;

	if (learner && program_end(learner->program, &why) && learner->warning.warn)
		pass_on(&learner->warning, LOG_WARN, why.message);
	retain_learner_free(learner);
}

/* One number that is none would spoil every weight once it is trained on. */
static int check_inputs(
	const struct retain_learner *learner, const float *inputs, int count, struct err *err)
{
	const size_t floats = learner->run->floats;

	if (count < 1)
		return err_set(err, ERR_INPUT, "%d samples: must be at least 1", count);
	for (size_t i = 0; i < (size_t)count * floats; i++)
		if (!isfinite(inputs[i]))
			return err_set(err, ERR_INPUT, "sample %zu: number %zu of its input is %f",
				i / floats, i % floats, (double)inputs[i]);
	return 0;
}

/* A time step with a copy of its inputs. */
static int pending_new(struct pending **pending, const struct retain_learner *learner,
	const float *inputs, int count, struct err *err)
{
	const size_t n = (size_t)count, floats = n * learner->run->floats;
	struct pending *made = mem_new(1, sizeof(*made));

	*pending = made;
	if (made) {
		made->count = count;
		made->inputs = mem_new(floats, sizeof(*made->inputs));
		made->guesses = mem_new(n * JOURNAL_GUESSES, sizeof(*made->guesses));
	}
	if (made && made->inputs && made->guesses) {
		memcpy(made->inputs, inputs, floats * sizeof(*inputs));
		return 0;
	}
	pending_free(made);
	*pending = NULL;
	return err_memory(err, "a time step", floats * sizeof(*inputs));
}

/* Room for the logits of sound inputs. */
static int logits_new(float **logits, const struct retain_learner *learner, const float *inputs,
	int count, struct err *err)
{
	const size_t classes = (size_t)learner->run->classes;
	int code = check_inputs(learner, inputs, count, err);

	*logits = code ? NULL : mem_new((size_t)count * classes, sizeof(**logits));
	if (!code && !*logits)
		code = err_memory(err, "predictions", (size_t)count * classes * sizeof(**logits));
	return code;
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
		probabilities[c] = (float)(exp((double)logits[c] - (double)logits[best]) / sum);
}

static void say_all(const struct retain_learner *learner, const float *logits, int count,
	struct retain_prediction *predictions, float *probabilities)
{
	const size_t classes = (size_t)learner->run->classes;

	for (size_t i = 0; i < (size_t)count; i++)
		say(logits + i * classes, learner->run->classes, &predictions[i],
			probabilities ? probabilities + i * classes : NULL);
}

int retain_predict(struct retain_learner *learner, const float *inputs, int count,
	struct retain_prediction *predictions, float *probabilities, struct retain_err *err)
{
	float *logits;
	int code = logits_new(&logits, learner, inputs, count, inner(err));

	if (code)
		return code;
	gate_enter(&learner->gate);
	code = learner_predict(
		learner->run->learner, LEARNER_INFERENCE, inputs, count, logits, inner(err));
	gate_leave(&learner->gate);
	if (!code)
		say_all(learner, logits, count, predictions, probabilities);
	mem_free(logits);
	return code;
}

/* To be called inside the gate. */
static int enlist(struct retain_learner *learner, struct pending *step, float *logits,
	struct retain_ticket *ticket, struct err *err)
{
	const int classes = learner->run->classes;
	const int code = learner_predict(
		learner->run->learner, LEARNER_INFERENCE, step->inputs, step->count, logits, err);

	if (code)
		return code;
	for (size_t i = 0; i < (size_t)step->count; i++)
		guess_best(
			logits + i * (size_t)classes, classes, step->guesses + i * JOURNAL_GUESSES);
	step->number = ticket->number = ++learner->tickets;
	step->next = learner->pending;
	learner->pending = step;
	return 0;
}

int retain_observe(struct retain_learner *learner, const float *inputs, int count,
	struct retain_prediction *predictions, struct retain_ticket *ticket, struct retain_err *err)
{
	struct pending *step = NULL;
	float *logits;
	int code = logits_new(&logits, learner, inputs, count, inner(err));

	if (!code)
		code = pending_new(&step, learner, inputs, count, inner(err));
	if (!code) {
		gate_enter(&learner->gate);
		code = enlist(learner, step, logits, ticket, inner(err));
		gate_leave(&learner->gate);
	}
	if (!code)
		say_all(learner, logits, count, predictions, NULL);
	else
		pending_free(step);
	mem_free(logits);
	return code;
}

/* Where the list points to the ticket's step; NULL if there is none. */
static struct pending **find_pending(
	struct retain_learner *learner, struct retain_ticket ticket, struct err *err)
{
	const bool given = ticket.number && ticket.number <= learner->tickets;

	for (struct pending **at = &learner->pending; *at; at = &(*at)->next)
		if ((*at)->number == ticket.number)
			return at;
	err_set(err, ERR_INPUT, "ticket %" PRIu64 ": %s", ticket.number,
		!given                           ? "was never given out"
		: ticket.number < learner->first ? "was given out before the learner was opened"
						 : "was revealed or dropped before");
	return NULL;
}

static void remove_pending(struct pending **at)
{
	struct pending *step = *at;

	*at = step->next;
	pending_free(step);
}

int retain_reveal(struct retain_learner *learner, struct retain_ticket ticket,
	const int32_t *labels, struct retain_err *err)
{
	struct pending **at;
	int code = ERR_INPUT;

	gate_enter(&learner->gate);
	at = find_pending(learner, ticket, inner(err));
	if (at)
		code = program_reveal(learner->program, (*at)->inputs, labels, (*at)->guesses,
			(*at)->count, inner(err));
	if (!code)
		remove_pending(at);
	gate_leave(&learner->gate);
	return code;
}

int retain_drop(struct retain_learner *learner, struct retain_ticket ticket, struct retain_err *err)
{
	struct pending **at;

	gate_enter(&learner->gate);
	at = find_pending(learner, ticket, inner(err));
	if (at)
		remove_pending(at);
	gate_leave(&learner->gate);
	return at ? 0 : ERR_INPUT;
}

/* The gate is left after every iteration, so that others get their turn. */
static int train_budget(struct retain_learner *learner, struct err *err)
{
	bool more = true, back;
	int code = 0;

	gate_enter(&learner->gate);
	program_order(learner->program);
	gate_leave(&learner->gate);
	while (!code && more) {
		gate_enter(&learner->gate);
		more = program_left(learner->program) > 0;
		if (more)
			code = program_train(learner->program, true, &back, err);
		gate_leave(&learner->gate);
	}
	return code;
}

int retain_train(struct retain_learner *learner, int iterations, struct retain_err *err)
{
	bool back = false;
	int code = 0;

	if (iterations == RETAIN_BUDGET)
		return train_budget(learner, inner(err));
	if (iterations < 0)
		return err_set(
			inner(err), ERR_INPUT, "%d iterations: must be at least 0", iterations);
	for (int i = 0; i < iterations && !code && !back; i++) {
		gate_enter(&learner->gate);
		code = program_train(learner->program, false, &back, inner(err));
		gate_leave(&learner->gate);
	}
	return code;
}

void retain_metrics(struct retain_learner *learner, struct retain_metrics *metrics)
{
	const struct run *run = learner->run;
	struct learner_report now;

	gate_enter(&learner->gate);
	learner_report(run->learner, &now);
	*metrics = (struct retain_metrics){
		.steps = run->step,
		.samples = now.samples,
		.iterations = now.iteration,
		.learning_efficacy = run->step ? prequential_top1(run->prequential) : NAN,
		.blind = run->step ? prequential_blind(run->prequential) : NAN,
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
	const struct learner *saved = learner->run->learner;
	struct learner_report now;
	int code;

	gate_enter(&learner->gate);
	learner_report(saved, &now);
	code = weights_save(path,
		&(struct weights){.net = learner_net(saved),
			.params = learner_params(saved, LEARNER_INFERENCE),
			.stats = learner_stats(saved, LEARNER_INFERENCE),
			.iteration = now.iteration},
		inner(err));
	gate_leave(&learner->gate);
	return code;
}

/* The journal knows nothing of them, so they are saved at once. */
int retain_load_weights(struct retain_learner *learner, const char *path, struct retain_err *err)
{
	int code;

	gate_enter(&learner->gate);
	code = learner_load(learner->run->learner, path, inner(err));
	if (!code)
		code = program_save(learner->program, inner(err));
	gate_leave(&learner->gate);
	return code;
}
