/*
 * The public learner at work: predict, observe, reveal, train, and how it goes.
 *
 * Predictions have weights of their own, which are renewed inside the gate: by a call
 * that trains, if they are old enough that this costs a small share of its time; and by
 * a prediction that finds nobody inside and nobody training. So a prediction of a
 * program with one thread has the newest weights, and none waits for an iteration.
 */
#include <inttypes.h>
#include <math.h>

#include "api/learner_impl.h"
#include "base/clock.h"
#include "base/mem.h"
#include "eval/guess.h"
#include "nn/weights/weights_file.h"

enum { PUBLISH_SHARE = 50 }; /* training spends one part in so many on publishing */

/* To be called inside the gate. */
static int publish(struct retain_learner *learner, struct err *err)
{
	const struct learner *now = learner->run->learner;
	const struct options *o = learner->options;
	const float *params = learner_params(now, LEARNER_INFERENCE),
		    *stats = learner_stats(now, LEARNER_INFERENCE);
	const struct scale *scale = learner_scale(now);
	const double start = clock_now();
	struct serving *serving = atomic_load(&learner->serving);
	int code;

	if (serving) {
		code = serving_publish(serving, params, stats, scale, err);
	} else {
		const struct predictor_config config = {
			.engine = {.isa = options_text(o, "engine.isa"),
				.conv = options_text(o, "engine.conv"),
				.threads = 1},
			.micro = options_int(o, "run.micro_batch")};

		code = serving_new(&serving, learner_net(now), &config, params, stats, scale, err);
	}
	if (code)
		return code;
	learner->published = learner_version(now);
	learner->publish_due = clock_now() + PUBLISH_SHARE * (clock_now() - start);
	atomic_store(&learner->stale, false);
	atomic_store(&learner->serving, serving);
	return 0;
}

/* For a prediction: weights to begin with, and newer ones if that disturbs nobody. */
static int renew(struct retain_learner *learner, struct err *err)
{
	const bool first = !atomic_load(&learner->serving);
	int code = 0;

	if (first)
		gate_enter(&learner->gate);
	else if (!atomic_load(&learner->stale) || atomic_load(&learner->training) ||
		 !gate_try(&learner->gate))
		return 0;
	if (!first || !atomic_load(&learner->serving))
		code = publish(learner, err);
	gate_leave(&learner->gate);
	return code;
}

/* For a call that trains, inside the gate. What fails now is tried again after the next iteration. */
static void renew_when_due(struct retain_learner *learner)
{
	if (atomic_load(&learner->serving) &&
		learner_version(learner->run->learner) != learner->published &&
		clock_now() >= learner->publish_due)
		publish(learner, NULL);
}

/* A mixture has no copy that could answer without a turn. */
static int predict_mixed(
	struct retain_learner *learner, int model, const struct serving_call *call, struct err *err)
{
	const size_t logit_count = call->count * (size_t)learner->shape.classes;
	float *logits = mem_new(logit_count, sizeof(*logits));
	int code;

	if (!logits)
		return err_memory(err, "predictions", logit_count * sizeof(*logits));
	gate_enter(&learner->gate);
	code = learner_predict(
		learner->run->learner, model, call->inputs, (int)call->count, logits, err);
	api_learner_leave(learner);
	if (!code)
		serving_say(call, learner->shape.classes, logits);
	mem_free(logits);
	return code;
}

static int answer(struct retain_learner *learner, enum retain_question question,
	const struct serving_call *call, struct err *err)
{
	const int model = question == RETAIN_NOW ? LEARNER_NOW : LEARNER_EVER;
	int code = api_learner_owned(learner, call->function, err);

	if (!code && question != RETAIN_NOW && question != RETAIN_EVER)
		code = err_set(err, ERR_INPUT, "%s: question = %d: there is no such question",
			call->function, (int)question);
	if (!code)
		code = serving_check(call, &learner->shape, learner->scales, err);
	if (code)
		return code;
	if (learner_mixes(learner->run->learner, model))
		return predict_mixed(learner, model, call, err);
	code = renew(learner, err);
	return code ? code : serving_predict(learner->serving, call, err);
}

int retain_learner_predict(struct retain_learner *learner, const float *inputs, size_t input_floats,
	struct retain_prediction *predictions, size_t count, float *probabilities,
	size_t probability_floats, struct retain_err *err)
{
	const struct serving_call call = {__func__, inputs, input_floats, predictions, count,
		probabilities, probability_floats};
	const int code = ARGS_CHECK(err, ARG(learner), ARG(inputs), ARG(predictions));

	return code ? code : answer(learner, RETAIN_EVER, &call, inner(err));
}

int retain_learner_predict_for(struct retain_learner *learner, enum retain_question question,
	const float *inputs, size_t input_floats, struct retain_prediction *predictions,
	size_t count, float *probabilities, size_t probability_floats, struct retain_err *err)
{
	const struct serving_call call = {__func__, inputs, input_floats, predictions, count,
		probabilities, probability_floats};
	const int code = ARGS_CHECK(err, ARG(learner), ARG(inputs), ARG(predictions));

	return code ? code : answer(learner, question, &call, inner(err));
}

/* To be called inside the gate. */
static int enlist(
	struct retain_learner *learner, struct waiting_step *step, float *logits, struct err *err)
{
	const int classes = learner->shape.classes;
	const int64_t most = options_int64(learner->options, "run.waiting_most");
	int code = waiting_reserve(&learner->waiting, step->count, most, err);

	if (!code)
		code = learner_predict(
			learner->run->learner, LEARNER_NOW, step->inputs, step->count, logits, err);
	if (code)
		return code;
	for (size_t i = 0; i < (size_t)step->count; i++)
		guess_best(
			logits + i * (size_t)classes, classes, step->guesses + i * JOURNAL_GUESSES);
	waiting_add(&learner->waiting, step);
	return 0;
}

static int observe(struct retain_learner *learner, const struct serving_call *call,
	struct retain_ticket *ticket, struct err *err)
{
	const size_t logit_count = call->count * (size_t)learner->shape.classes;
	float *logits = mem_new(logit_count, sizeof(*logits));
	struct waiting_step *step = NULL;
	int code = logits ? waiting_step_new(&step, call->inputs, learner->shape.floats,
				    (int)call->count, err)
			  : err_memory(err, "predictions", logit_count * sizeof(*logits));

	if (!code) {
		gate_enter(&learner->gate);
		code = enlist(learner, step, logits, err);
		if (!code)
			ticket->number = step->ticket;
		api_learner_leave(learner);
	}
	if (code)
		waiting_step_free(step);
	else
		serving_say(call, learner->shape.classes, logits);
	mem_free(logits);
	return code;
}

int retain_learner_observe(struct retain_learner *learner, const float *inputs, size_t input_floats,
	struct retain_prediction *predictions, size_t count, struct retain_ticket *ticket,
	struct retain_err *err)
{
	const struct serving_call call = {
		__func__, inputs, input_floats, predictions, count, NULL, 0};
	int code = ARGS_CHECK(err, ARG(learner), ARG(inputs), ARG(predictions), ARG(ticket));

	if (!code)
		code = api_learner_owned(learner, __func__, inner(err));
	if (!code)
		code = serving_check(&call, &learner->shape, learner->scales, inner(err));
	return code ? code : observe(learner, &call, ticket, inner(err));
}

/* To be called inside the gate. */
static int reveal(struct retain_learner *learner, uint64_t ticket, const int32_t *labels,
	size_t count, struct err *err)
{
	const struct waiting_step *step = waiting_find(&learner->waiting, ticket, err);
	int code;

	if (!step)
		return ERR_INPUT;
	if (count != (size_t)step->count)
		return err_set(err, ERR_INPUT,
			"retain_learner_reveal: count = %zu: ticket %" PRIu64
			" stands for %d inputs",
			count, ticket, step->count);
	code = program_reveal(
		learner->program, step->inputs, labels, step->guesses, step->count, err);
	if (!code)
		waiting_remove(&learner->waiting, step);
	return code;
}

int retain_learner_reveal(struct retain_learner *learner, struct retain_ticket ticket,
	const int32_t *labels, size_t count, struct retain_err *err)
{
	int code = ARGS_CHECK(err, ARG(learner), ARG(labels));

	if (!code)
		code = api_learner_enter(learner, __func__, inner(err));
	if (code)
		return code;
	code = reveal(learner, ticket.number, labels, count, inner(err));
	api_learner_leave(learner);
	return code;
}

int retain_learner_drop(
	struct retain_learner *learner, struct retain_ticket ticket, struct retain_err *err)
{
	int code = ARGS_CHECK(err, ARG(learner));
	const struct waiting_step *step;

	if (!code)
		code = api_learner_enter(learner, __func__, inner(err));
	if (code)
		return code;
	step = waiting_find(&learner->waiting, ticket.number, inner(err));
	if (step)
		waiting_remove(&learner->waiting, step);
	api_learner_leave(learner);
	return step ? 0 : ERR_INPUT;
}

/*
 * A call that trains: so many iterations, or what the budget pays for. The gate is left
 * after every iteration, so that others get their turn.
 */
static int train(struct retain_learner *learner, int iterations, struct err *err)
{
	const bool ordered = iterations == RETAIN_BUDGET;
	struct retain_progress now = {.total = iterations};
	struct learner_report report;
	struct progress_call call;
	bool more = true, back = false;
	int code = 0;

	progress_begin(&call, &learner->progress, "retain_learner_train");
	for (bool begun = false; more && !code; begun = true) {
		gate_enter(&learner->gate);
		if (ordered && !begun)
			program_order(learner->program);
		if (ordered)
			now.total = now.done + program_left(learner->program);
		more = now.done < now.total && (ordered || !back);
		if (more)
			code = program_train(learner->program, ordered, &back, err);
		if (more && !code)
			renew_when_due(learner);
		learner_report(learner->run->learner, &report);
		api_learner_leave(learner);
		now.done++;
		now.iterations = report.iteration;
		if (more && !code)
			code = progress_ask(&call, &now, err);
	}
	return code;
}

int retain_learner_train(struct retain_learner *learner, int iterations, struct retain_err *err)
{
	int code = ARGS_CHECK(err, ARG(learner));

	if (!code)
		code = api_learner_owned(learner, __func__, inner(err));
	if (!code && iterations < 0 && iterations != RETAIN_BUDGET)
		code = err_set(inner(err), ERR_INPUT, "%s: iterations = %d: must be at least 0",
			__func__, iterations);
	if (code)
		return code;
	atomic_fetch_add(&learner->training, 1);
	code = train(learner, iterations, inner(err));
	atomic_fetch_sub(&learner->training, 1);
	return code;
}

int retain_learner_metrics(
	struct retain_learner *learner, struct retain_metrics *metrics, struct retain_err *err)
{
	int code = ARGS_CHECK(err, ARG(learner), ARG(metrics));
	struct learner_report now;
	const struct run *run;

	if (!code)
		code = api_learner_enter(learner, __func__, inner(err));
	if (code)
		return code;
	run = learner->run;
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
		.learning_efficacy_ever = now.slow_efficacy,
		.accuracy_recent = recent_accuracy(&run->recent),
		.drift_alarms = (double)alarm_count(run->alarm),
	};
	api_learner_leave(learner);
	return 0;
}

/* To be called inside the gate. */
static int save_weights(const struct retain_learner *learner, enum retain_weights which,
	const char *path, struct err *err)
{
	static const int models[] = {
		[RETAIN_WEIGHTS_SERVING] = LEARNER_INFERENCE,
		[RETAIN_WEIGHTS_PLAIN] = LEARNER_PLAIN,
		[RETAIN_WEIGHTS_AVERAGE_1] = LEARNER_AVERAGE,
		[RETAIN_WEIGHTS_AVERAGE_2] = LEARNER_AVERAGE + 1,
	};
	const struct learner *saved = learner->run->learner;
	struct learner_report now;

	learner_report(saved, &now);
	if ((unsigned)which >= sizeof(models) / sizeof(*models) || models[which] > now.averages)
		return err_set(err, ERR_INPUT,
			"retain_learner_save_weights: which = %d: there are no such weights; "
			"average.kind = %s has %d averages",
			(int)which, options_text(learner->options, "average.kind"), now.averages);
	return weights_save(path,
		&(struct weights){.net = learner_net(saved),
			.params = learner_params(saved, models[which]),
			.stats = learner_stats(saved, models[which]),
			.iteration = now.iteration,
			.scale = learner_scale(saved),
			.scale_seen = learner_scale_seen(saved)},
		err);
}

int retain_learner_save_weights(struct retain_learner *learner, enum retain_weights which,
	const char *path, struct retain_err *err)
{
	int code = ARGS_CHECK(err, ARG(learner), ARG(path));

	if (!code)
		code = api_learner_enter(learner, __func__, inner(err));
	if (code)
		return code;
	code = save_weights(learner, which, path, inner(err));
	api_learner_leave(learner);
	return code;
}

/* The journal knows nothing of them, so they are saved at once. */
int retain_learner_load_weights(
	struct retain_learner *learner, const char *path, struct retain_err *err)
{
	int code = ARGS_CHECK(err, ARG(learner), ARG(path));

	if (!code)
		code = api_learner_enter(learner, __func__, inner(err));
	if (code)
		return code;
	code = learner_load(learner->run->learner, path, inner(err));
	if (!code)
		code = program_save(learner->program, inner(err));
	api_learner_leave(learner);
	return code;
}
