/*
 * The public learner's operations: predict, observe, reveal, train, metrics.
 *
 * Predictions have their own copy of the weights, renewed inside the gate: by a training call, if
 * the copy is old enough that this costs a small share of its time; and by a prediction that
 * finds the gate free and no training in progress. So in a single-threaded program a prediction
 * has the newest weights, and none waits for an iteration.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "api/learner_impl.h"
#include "base/clock.h"
#include "base/mem.h"
#include "target/class.h"

enum { PUBLISH_SHARE = 50 }; /* training spends one part in this many on publishing */

/* Another one serves from now on. */
static void replace_serving(struct retain_learner *learner, struct copy *serving)
{
	struct copy *former;

	pthread_mutex_lock(&learner->lock);
	former = learner->serving;
	learner->serving = serving;
	pthread_mutex_unlock(&learner->lock);
	copy_free(former);
}

/* To be called inside the gate. With more classes there is a new net. */
static int publish(struct retain_learner *learner, struct err *err)
{
	const struct run *run = learner->run;
	const double start = clock_now();
	struct copy *serving = learner->serving;
	int code;

	if (serving && copy_fits(serving, run->learner)) {
		code = copy_renew(serving, run->learner, err);
	} else {
		code = copy_of_run(&serving, run, err);
		if (!code)
			replace_serving(learner, serving);
	}
	if (code)
		return code;
	learner->published = learner_version(run->learner);
	learner->publish_due = clock_now() + PUBLISH_SHARE * (clock_now() - start);
	atomic_store(&learner->stale, false);
	return 0;
}

/* For a prediction: initial weights, and newer ones if the gate is free. */
static int renew(struct retain_learner *learner, struct copy **serving, struct err *err)
{
	int code = 0;

	*serving = api_learner_serving(learner);
	if (!*serving)
		gate_enter(&learner->gate);
	else if (!atomic_load(&learner->stale) || atomic_load(&learner->training) ||
		 !gate_try(&learner->gate))
		return 0;
	if (*serving || !learner->serving)
		code = publish(learner, err);
	copy_free(*serving);
	*serving = code ? NULL : api_learner_serving(learner);
	gate_leave(&learner->gate);
	return code;
}

/*
 * For a call that trains, inside the gate. What fails now is tried again after the next
 * iteration.
 */
static void renew_when_due(struct retain_learner *learner)
{
	if (learner->serving && learner_version(learner->run->learner) != learner->published &&
		clock_now() >= learner->publish_due)
		publish(learner, NULL);
}

/* By the learner itself, inside the gate. The logits are for mem_free. */
static int predict_here(struct retain_learner *learner, int model, const struct serving_call *call,
	float **out, struct err *err)
{
	const size_t count = call->count * (size_t)learner->run->classes;
	float *logits = *out = mem_new(count, sizeof(*logits)), *made;
	const float *inputs;
	int code;

	if (!logits)
		return err_memory(err, "predictions", count * sizeof(*logits));
	code = serving_inputs(call, learner->run->floats, &inputs, &made, err);
	if (!code)
		code = learner_predict(
			learner->run->learner, model, inputs, (int)call->count, logits, err);
	mem_free(made);
	return code;
}

/* Some mixtures have no copy that could answer without a turn. */
static int predict_mixed(
	struct retain_learner *learner, int model, const struct serving_call *call, struct err *err)
{
	float *logits;
	int code;

	gate_enter(&learner->gate);
	code = predict_here(learner, model, call, &logits, err);
	if (!code)
		serving_say(call, learner->run->classes, learner_classes(learner->run->learner),
			logits);
	api_learner_leave(learner);
	mem_free(logits);
	return code;
}

static int answer(struct retain_learner *learner, enum retain_question question,
	struct serving_call *call, struct err *err)
{
	const struct answers_wish wish = {
		.question = question == RETAIN_NOW ? ANSWERS_NOW : ANSWERS_EVER};
	struct serving_limits limits;
	struct copy *serving;
	int code = api_learner_owned(learner, call->function, err);

	if (!code && question != RETAIN_NOW && question != RETAIN_EVER)
		code = err_set(err, ERR_INPUT, "%s: question = %d: there is no such question",
			call->function, (int)question);
	if (code)
		return code;
	limits = api_learner_limits(learner);
	code = serving_count(call, &limits, err);
	if (!code)
		code = serving_check(call, &limits, err);
	if (code)
		return code;
	if (!limits.shape.floats) {
		serving_say(call, 0, 0, NULL);
		return 0;
	}
	serving = api_learner_version(learner);
	code = serving ? 0 : renew(learner, &serving, err);
	if (!code && copy_answers(serving, &wish, 1))
		code = serving_predict(serving, wish, call, err);
	else if (!code)
		code = predict_mixed(learner, answers_wish_model(wish), call, err);
	copy_free(serving);
	return code;
}

int retain_learner_predict(struct retain_learner *learner, const float *inputs, size_t input_floats,
	struct retain_prediction *predictions, size_t count, float *probabilities,
	size_t probability_floats, struct retain_err *err)
{
	struct serving_call call = {__func__, inputs, input_floats, predictions, count,
		probabilities, probability_floats};
	const int code = ARGS_CHECK(err, ARG(learner), ARG(inputs), ARG(predictions));

	return code ? code : answer(learner, RETAIN_EVER, &call, inner(err));
}

int retain_learner_predict_numbers(struct retain_learner *learner, enum retain_question question,
	const float *inputs, size_t input_floats, struct retain_number *numbers, size_t count,
	struct retain_err *err)
{
	struct serving_call call = {.function = __func__,
		.inputs = inputs,
		.input_floats = input_floats,
		.count = count,
		.numbers = numbers};
	const int code = ARGS_CHECK(err, ARG(learner), ARG(inputs), ARG(numbers));

	return code ? code : answer(learner, question, &call, inner(err));
}

int retain_learner_predict_for(struct retain_learner *learner, enum retain_question question,
	const float *inputs, size_t input_floats, struct retain_prediction *predictions,
	size_t count, float *probabilities, size_t probability_floats, struct retain_err *err)
{
	struct serving_call call = {__func__, inputs, input_floats, predictions, count,
		probabilities, probability_floats};
	const int code = ARGS_CHECK(err, ARG(learner), ARG(inputs), ARG(predictions));

	return code ? code : answer(learner, question, &call, inner(err));
}

/* The first inputs say how many numbers an input has; others may have come since. */
static int settle_shape(
	struct retain_learner *learner, const struct serving_call *call, struct err *err)
{
	int code = session_learns(learner->session)
			   ? 0
			   : program_shape(learner->session, call->input_floats / call->count, err);

	if (code)
		return code;
	api_learner_reshape(learner);
	return serving_check(call, &learner->limits, err);
}

/* To be called inside the gate. */
static int enlist(struct retain_learner *learner, const struct serving_call *call,
	struct waiting_step *step, struct err *err)
{
	struct session_said said = {0};
	int code = session_tickets(learner->session, step->count, err);

	if (!code)
		code = settle_shape(learner, call, err);
	if (!code)
		code = session_observe(learner->session, step, &said, err);
	if (!code)
		serving_say(call, said.classes, said.known, said.logits);
	mem_free(said.logits);
	return code;
}

static int observe(struct retain_learner *learner, const struct serving_call *call,
	struct retain_ticket *ticket, struct err *err)
{
	struct waiting_step *step = NULL;
	int code = waiting_step_new(&step, call->inputs, call->input_floats / call->count,
		target_width(learner->options), (int)call->count, err);

	if (code)
		return code;
	gate_enter(&learner->gate);
	code = enlist(learner, call, step, err);
	if (!code)
		ticket->number = step->ticket;
	api_learner_leave(learner);
	if (code)
		waiting_step_free(step);
	return code;
}

/* A call with checked pointers. */
static int observe_checked(struct retain_learner *learner, struct serving_call *call,
	struct retain_ticket *ticket, struct err *err)
{
	struct serving_limits limits;
	int code = api_learner_owned(learner, call->function, err);

	if (code)
		return code;
	limits = api_learner_limits(learner);
	code = serving_count(call, &limits, err);
	if (!code)
		code = serving_check(call, &limits, err);
	return code ? code : observe(learner, call, ticket, err);
}

int retain_learner_observe(struct retain_learner *learner, const float *inputs, size_t input_floats,
	struct retain_prediction *predictions, size_t count, struct retain_ticket *ticket,
	struct retain_err *err)
{
	struct serving_call call = {
		__func__, inputs, input_floats, predictions, count, NULL, 0, NULL};
	const int code = ARGS_CHECK(err, ARG(learner), ARG(inputs), ARG(predictions), ARG(ticket));

	return code ? code : observe_checked(learner, &call, ticket, inner(err));
}

int retain_learner_observe_numbers(struct retain_learner *learner, const float *inputs,
	size_t input_floats, struct retain_number *numbers, size_t count,
	struct retain_ticket *ticket, struct retain_err *err)
{
	struct serving_call call = {.function = __func__,
		.inputs = inputs,
		.input_floats = input_floats,
		.count = count,
		.numbers = numbers};
	const int code = ARGS_CHECK(err, ARG(learner), ARG(inputs), ARG(numbers), ARG(ticket));

	return code ? code : observe_checked(learner, &call, ticket, inner(err));
}

/* A call with checked pointers; the labels are numbers, or classes. */
static int reveal_checked(struct retain_learner *learner, const char *function, bool numbers,
	uint64_t ticket, const struct session_labels *labels, struct err *err)
{
	int code = api_learner_enter(learner, function, err);

	if (code)
		return code;
	if (numbers != (bool)api_learner_limits(learner).shape.numbers)
		code = err_set(err, ERR_STATE, "%s: labels are %s here; call %s", function,
			numbers ? "classes" : "numbers",
			numbers ? "retain_learner_reveal" : "retain_learner_reveal_numbers");
	if (!code)
		code = session_label(learner->session, ticket, labels, err);
	if (!code)
		api_learner_reshape(learner);
	api_learner_leave(learner);
	return code;
}

int retain_learner_reveal(struct retain_learner *learner, struct retain_ticket ticket,
	const int32_t *labels, size_t count, struct retain_err *err)
{
	const struct session_labels all = {targets_of_classes(labels), count};
	const int code = ARGS_CHECK(err, ARG(learner), ARG(labels));

	return code ? code
		    : reveal_checked(learner, __func__, false, ticket.number, &all, inner(err));
}

int retain_learner_reveal_numbers(struct retain_learner *learner, struct retain_ticket ticket,
	const float *labels, size_t count, struct retain_err *err)
{
	const struct session_labels all = {targets_of_numbers(labels), count};
	const int code = ARGS_CHECK(err, ARG(learner), ARG(labels));

	return code ? code
		    : reveal_checked(learner, __func__, true, ticket.number, &all, inner(err));
}

int retain_learner_reveal_weighted(struct retain_learner *learner, struct retain_ticket ticket,
	const int32_t *labels, size_t count, const float *weights, size_t weight_count,
	struct retain_err *err)
{
	const struct session_labels all = {
		targets_of_classes(labels), count, weights, weight_count};
	const int code = ARGS_CHECK(err, ARG(learner), ARG(labels), ARG(weights));

	return code ? code
		    : reveal_checked(learner, __func__, false, ticket.number, &all, inner(err));
}

int retain_learner_reveal_numbers_weighted(struct retain_learner *learner,
	struct retain_ticket ticket, const float *labels, size_t count, const float *weights,
	size_t weight_count, struct retain_err *err)
{
	const struct session_labels all = {
		targets_of_numbers(labels), count, weights, weight_count};
	const int code = ARGS_CHECK(err, ARG(learner), ARG(labels), ARG(weights));

	return code ? code
		    : reveal_checked(learner, __func__, true, ticket.number, &all, inner(err));
}

int retain_learner_drop(
	struct retain_learner *learner, struct retain_ticket ticket, struct retain_err *err)
{
	int code = ARGS_CHECK(err, ARG(learner));

	if (!code)
		code = api_learner_enter(learner, __func__, inner(err));
	if (code)
		return code;
	code = session_label(learner->session, ticket.number, NULL, inner(err));
	api_learner_leave(learner);
	return code;
}

/*
 * A call that trains: this many iterations, or what the budget pays for. The gate is left
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
		if (!session_learns(learner->session)) {
			gate_leave(&learner->gate);
			return 0;
		}
		if (ordered && !begun)
			session_order(learner->session);
		if (ordered)
			now.total = now.done + session_left(learner->session);
		more = now.done < now.total && (ordered || !back);
		if (more)
			code = session_train(learner->session, ordered, &back, err);
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
	struct run_scores scores;
	const struct run *run;

	if (!code)
		code = api_learner_enter(learner, __func__, inner(err));
	if (code)
		return code;
	run = learner->run;
	scores = run_scores(run);
	if (run->learner)
		learner_report(run->learner, &now);
	else
		now = (struct learner_report){.rate = NAN, .slow_efficacy = NAN};
	*metrics = (struct retain_metrics){
		.steps = run->step,
		.samples = now.samples,
		.iterations = now.iteration,
		.learning_efficacy = scores.le,
		.blind = scores.blind,
		.retention = now.scored ? now.scores[now.judged].accuracy : NAN,
		.retention_plain = now.scored ? now.scores[SCORES_PLAIN].accuracy : NAN,
		.gap = now.scored && now.averages ? now.sigma : NAN,
		.learning_rate = now.rate,
		.loss = now.iteration ? now.loss : NAN,
		.learning_efficacy_ever = now.slow_efficacy,
		.accuracy_recent = scores.recent,
		.drift_alarms = run->alarm ? (double)alarm_count(run->alarm) : 0,
		.mae = scores.errors.mae,
		.rmse = scores.errors.rmse,
		.mae_last = scores.errors.last,
		.mae_mean = scores.errors.mean,
		.coverage = scores.errors.inside,
		.width = scores.errors.width,
		.balanced_accuracy = scores.uneven.balanced,
		.f1 = scores.uneven.f1,
		.f1_rare = scores.uneven.f1_rare,
		.auc = scores.uneven.auc,
		.alert_recall = scores.uneven.alert_recall,
		.alert_share = scores.uneven.alert_share,
		.same = scores.same,
		.most = scores.most,
		.chain = scores.chain,
		.kappa = scores.kappa,
	};
	api_learner_leave(learner);
	return 0;
}

/* ERR_STATE while it is not known how many numbers an input has. */
static int need_net(const struct retain_learner *learner, const char *function, struct err *err)
{
	if (session_learns(learner->session))
		return 0;
	return err_set(err, ERR_STATE,
		"%s: there is no net yet: model.input = auto takes its size from the first inputs "
		"observed",
		function);
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
	struct learner_report now;

	learner_report(learner->run->learner, &now);
	if ((unsigned)which >= sizeof(models) / sizeof(*models) || models[which] > now.averages)
		return err_set(err, ERR_INPUT,
			"retain_learner_save_weights: which = %d: there are no such weights; "
			"average.kind = %s has %d averages",
			(int)which, options_text(learner->options, "average.kind"), now.averages);
	return run_save_weights(learner->run, models[which], path, err);
}

int retain_learner_save_weights(struct retain_learner *learner, enum retain_weights which,
	const char *path, struct retain_err *err)
{
	int code = ARGS_CHECK(err, ARG(learner), ARG(path));

	if (!code)
		code = api_learner_enter(learner, __func__, inner(err));
	if (code)
		return code;
	code = need_net(learner, __func__, inner(err));
	if (!code)
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
	code = need_net(learner, __func__, inner(err));
	if (!code)
		code = learner_load(learner->run->learner, path, inner(err));
	if (!code)
		code = program_save(learner->session, inner(err));
	api_learner_leave(learner);
	return code;
}
