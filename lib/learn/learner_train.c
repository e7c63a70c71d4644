/*
 * Training: iteration k of the paper's Alg. 2, validation, and the decisions at the end
 * of a window. The order is part of the method: step, averages, validation, schedule,
 * then the weights of the averages.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "learn/learner_impl.h"
#include "nn/kernels.h"
#include "nn/rank.h"

void learner_tell(const struct learner *learner, enum learner_work work, int samples)
{
	if (learner->watch.work)
		learner->watch.work(learner->watch.context, work, samples);
}

void learner_tell_macs(const struct learner *learner, double macs)
{
	if (learner->watch.macs)
		learner->watch.macs(learner->watch.context, (int64_t)macs);
}

int learner_reserve_leaving(struct learner *learner, int64_t count, struct err *err)
{
	int64_t *more;

	if (count <= learner->leaving_room)
		return 0;
	more = mem_resize(learner->leaving, (size_t)count, sizeof(*more));
	if (!more)
		return err_memory(
			err, "samples that leave", (unsigned long long)count * sizeof(*more));
	learner->leaving = more;
	learner->leaving_room = count;
	return 0;
}

/* What a bounded pool lets go of leaves the store with the next time step. */
static int offer(struct learner *learner, int64_t id, int32_t label, struct err *err)
{
	int64_t evicted = -1, held = id;
	int code = pool_add(learner->pool, id, label, &evicted, err);

	if (!code && learner->validation)
		code = pool_add(learner->validation, id, label, &held, err);
	if (code)
		return code;
	/* One pool's side is not the other's, so at most one sample leaves: a former one of either
	 * pool, or the new one that both leave alone. */
	if (evicted == id)
		evicted = held;
	if (evicted >= 0)
		learner->leaving[learner->leaving_count++] = evicted;
	return 0;
}

static void forget_leaving(struct learner *learner)
{
	for (int64_t i = 0; i < learner->leaving_count; i++) {
		store_forget(learner->store, learner->leaving[i]);
		loss_forget(learner->loss, learner->leaving[i]);
	}
	learner->leaving_count = 0;
}

static int ready_parts(struct learner *learner, int n, struct err *err)
{
	const struct part_view view = learner_view(learner);

	return parts_ready(learner->parts, &view, n, err);
}

static int learn_parts(struct learner *learner, int64_t first, const float *inputs,
	const int32_t *labels, int n, struct err *err)
{
	const struct part_view view = learner_view(learner);

	return parts_learn(learner->parts, &view, first, inputs, labels, n, err);
}

/* The net has all classes that the step has. */
static int take_step(
	struct learner *learner, const float *inputs, const int32_t *labels, int n, struct err *err)
{
	const int64_t first = store_count(learner->store);
	const bool task = learner_task_due(learner);
	const bool looks = learner->population || learner->adapt;
	const int64_t ended = learner->task_first;
	int64_t hits[LEARNER_POPULATION];
	int code;

	/* All that may run out of memory comes before the store takes the step for good. */
	code = learner_reserve_leaving(
		learner, n + (task ? pool_task_room(learner->pool) : 0), err);
	if (!code)
		code = pool_reserve(learner->pool, n, err);
	if (!code && learner->validation)
		code = pool_reserve(learner->validation, n, err);
	if (!code && learner->parts)
		code = ready_parts(learner, n, err);
	if (!code)
		code = loss_ready(learner, n, err);
	if (!code && looks && inputs)
		code = population_predict(learner, first, inputs, labels, n, hits, err);
	if (!code)
		code = store_add(learner->store, inputs, labels, n, err);
	if (!code && looks && !inputs)
		code = population_predict(learner, first, NULL, labels, n, hits, err);
	if (code)
		return code;
	if (task && first > 0)
		code = loss_end_task(learner, ended, first, err);
	forget_leaving(learner);
	if (task)
		learner_begin_task(learner, first);
	for (int i = 0; i < n && !code; i++)
		code = offer(learner, first + i, labels[i], err);
	if (!code)
		code = loss_revealed(learner, first, inputs, n, err);
	if (code)
		return code;
	objective_step(learner->objective, first, first + n);
	objective_task(learner->objective, learner->task_first);
	if (learner->adapt)
		adapt_fresh_hits(learner->adapt, n,
			hits[learner->population ? population_best(learner->population) : 0]);
	if (learner->population)
		population_score(learner->population, hits, n);
	if (learner->parts)
		code = learn_parts(learner, first, inputs, labels, n, err);
	if (!code && learner->scaling)
		code = learner_count_inputs(learner, first, inputs, n, err);
	if (code)
		return code;
	learner->steps++;
	learner->new_step = true;
	learner_end_part(learner);
	/* Another may be the best now, and the mixture is another one. */
	learner->version += learner->population || learner->parts;
	return 0;
}

/* Refuses labels that cannot be; and how many classes there are with these. */
static int check_labels(
	const struct learner *learner, const int32_t *labels, int n, int *classes, struct err *err)
{
	const int most = learner->config.classes_most;
	const long long first = store_count(learner->store);

	*classes = net_spec(learner->net)->classes;
	for (int i = 0; i < n; i++) {
		if (labels[i] >= 0 && labels[i] < *classes)
			continue;
		if (labels[i] < 0 || !most)
			return err_set(err, ERR_INPUT,
				"label %d of sample %lld: there are %d classes", labels[i],
				first + i, *classes);
		if (labels[i] >= most)
			return err_set(err, ERR_INPUT,
				"label %d of sample %lld: model.classes_most = %d allows labels up "
				"to %d; if there are more classes, set it higher",
				labels[i], first + i, most, most - 1);
		*classes = labels[i] + 1;
	}
	return 0;
}

static int reveal(
	struct learner *learner, const float *inputs, const int32_t *labels, int n, struct err *err)
{
	const int64_t first = store_count(learner->store);
	struct learner *former = NULL;
	int classes, code = check_labels(learner, labels, n, &classes, err);

	if (!code && classes > net_spec(learner->net)->classes)
		code = learner_grow(learner, classes, &former, err);
	if (!code)
		code = take_step(learner, inputs, labels, n, err);
	/* What the store has taken needs its class, whatever failed later. */
	learner_grown(learner, former, store_count(learner->store) == first ? code : 0);
	return code;
}

/*
 * The mean loss and accuracy of a model on the validation batch in hand. Without averages
 * the only model that is scored is the one that serves inference. It need not be the plain
 * one: an optimizer may average by itself, and a population has others.
 */
static int score_model(struct learner *learner, int model, struct score *score, struct err *err)
{
	const int n = learner->validation_batch, classes = net_spec(learner->net)->classes;
	const int which = learner->scores.models == 1 ? LEARNER_INFERENCE : model;
	const struct runner_batch batch = {
		.input = learner->inputs, .labels = learner->labels, .n = n};
	double loss = 0;
	int code;

	code = runner_score(learner->runner, learner_weights(learner, which),
		learner_stats(learner, which), &batch, learner->losses, learner->logits, err);
	if (code)
		return code;
	learner_tell(learner, LEARNER_VALIDATE, n);
	for (int i = 0; i < n; i++)
		loss += learner->losses[i];
	*score = (struct score){
		loss / n, (double)rank_hits(learner->logits, classes, learner->labels, n) / n};
	return 0;
}

/* One batch of held-out samples, shared by all models. */
static int validate(struct learner *learner, struct err *err)
{
	struct score round[SCORES_MODELS] = {0};
	const int n = learner->validation_batch, served = learner_served(learner);
	int code;

	if (!learner->validation || !pool_draw(learner->validation, (uint64_t)learner->iteration, 0,
					    0, learner->ids, n))
		return 0;
	code = learner_fetch(learner, learner->ids, n, learner->inputs, learner->labels, err);
	for (int i = 0; i < learner->scores.models && !code; i++)
		code = score_model(learner, i, &round[i], err);
	if (!code)
		scores_add(&learner->scores, round);
	learner->version += learner_served(learner) != served;
	return code;
}

/* The better average was copied over the other one; its statistics follow. */
static void copy_stats(struct learner *learner, int best)
{
	const size_t size = net_stats(learner->net)->floats * sizeof(float);
	const int other = 1 - best;

	if (size && best >= 0 && average_count(learner->average) == 2)
		memcpy(learner->stats[SCORES_AVERAGE + other],
			learner->stats[SCORES_AVERAGE + best], size);
}

static void end_window(struct learner *learner)
{
	struct learner_window window = {.iteration = learner->iteration,
		.rounds = learner->scores.rounds,
		.averages = average_count(learner->average)};
	const int best = learner_best(learner);

	learner->window_end = schedule_window_end(learner->schedule, learner->iteration + 1);
	if (!learner->scores.rounds)
		return;
	for (int i = 0; i < learner->scores.models; i++)
		window.scores[i] = learner->last[i] = scores_mean(&learner->scores, i);
	learner->sigma = learner->last[best].accuracy - learner->last[SCORES_PLAIN].accuracy;
	learner->judged = best;
	learner->scored = true;
	window.verdict =
		schedule_window(learner->schedule, learner->iteration, &learner->scores, best);
	for (int i = 0; i < window.averages; i++)
		window.gamma_before[i] = average_gamma(learner->average, i);
	window.best = average_window(learner->average, &learner->scores);
	copy_stats(learner, window.best);
	learner_stale(learner);
	for (int i = 0; i < window.averages; i++)
		window.gamma_after[i] = average_gamma(learner->average, i);
	scores_clear(&learner->scores);
	if (learner->watch.window)
		learner->watch.window(learner->watch.context, &window);
}

/* Averaged weights need batch norm statistics of their own: forward passes in training mode. */
static int accumulate_stats(
	struct learner *learner, const struct runner_batch *batch, struct err *err)
{
	static const float momentum = 0.1f;
	const float *inference = optimizer_inference(learner->optimizer);
	const int models = inference ? 1 : average_count(learner->average);
	int code = 0;

	if (!learner->stats[0] || learner->iteration % learner->statistics_every)
		return 0;
	for (int i = 0; i < models && !code; i++) {
		code = runner_losses(learner->runner,
			learner_weights(
				learner, inference ? LEARNER_INFERENCE : LEARNER_AVERAGE + i),
			learner->stats[SCORES_AVERAGE + i], momentum, batch, learner->losses, NULL,
			err);
		learner_tell(learner, LEARNER_STATISTICS, batch->n);
		learner->version++;
	}
	return code;
}

/* ADRep looks at the logits of a step's first iteration: replayed samples come after new ones. */
static void look_at_replayed(struct learner *learner)
{
	const int n = learner->batch, classes = net_spec(learner->net)->classes;

	for (int i = n - n / 2; i < n; i++)
		adapt_replay_hit(
			learner->adapt, rank_hits(learner->logits + (size_t)i * (size_t)classes,
						classes, learner->labels + i, 1) == 1);
}

/* Steps of a population's other models. It has diverged only if no loss is a number. */
static int step_others(struct learner *learner, const struct runner_batch *batch, int64_t k,
	float *logits, float loss, struct err *err)
{
	int sound = isfinite(loss) != 0;
	const int code = population_step(
		learner, batch, schedule_rate(learner->schedule, k), logits, &sound, err);

	learner->diverged = !code && !sound;
	if (learner->diverged)
		return err_set(err, ERR_STATE,
			"iteration %lld: the losses of all %d models are no numbers, at learning "
			"rate %g and around it",
			(long long)k, learner->population->type->count, learner_rate(learner, k));
	return code;
}

/* A step of the plain model, slice by slice. */
struct stride {
	struct learner *learner;
	int64_t k;
	float loss, rate;
	const struct average_step *averages;
};

static bool begin_stride(void *context, float loss)
{
	struct stride *stride = context;
	struct learner *learner = stride->learner;

	stride->loss = loss + (float)loss_held(learner);
	learner->diverged = !isfinite(stride->loss) && !learner->population;
	if (learner->diverged)
		return false;
	stride->rate = (float)learner_rate(learner, stride->k);
	stride->averages = average_due(learner->average, stride->k);
	optimizer_samples(learner->optimizer, pool_count(learner->pool));
	optimizer_begin(learner->optimizer);
	return true;
}

static void step_slice(void *context, const struct slice *slice)
{
	const struct stride *stride = context;
	struct learner *learner = stride->learner;

	loss_hold(learner, learner->grad, slice);
	optimizer_step_slice(learner->optimizer, learner->params, learner->grad, stride->rate,
		stride->averages, slice);
}

static void tell_step(struct learner *learner, const struct average_step *averages)
{
	if (averages || optimizer_inference(learner->optimizer))
		learner_stale(learner);
	learner->version += averages || learner_served(learner) == LEARNER_PLAIN;
	learner_tell(learner, LEARNER_TRAIN, learner->batch);
	learner_tell(learner, LEARNER_UPDATE, 0);
	for (int i = 0; averages && i < averages->count; i++)
		learner_tell(learner, LEARNER_MOVE, 0);
}

static int iterate(struct learner *learner, struct err *err)
{
	const int n = learner->batch;
	const int64_t k = learner->iteration + 1;
	float *logits = learner->adapt && learner->new_step ? learner->logits : NULL;
	struct runner_batch batch = {.input = learner->inputs,
		.labels = learner->labels,
		.weights = learner->weights,
		.n = n};
	struct stride stride = {.learner = learner, .k = k};
	const struct runner_descent descent = {
		learner->params, learner->grad, &stride, begin_stride, step_slice};
	int code = learner_draw(
		learner, learner->ids, n, (uint64_t)k, learner->inputs, learner->labels, err);

	learner->diverged = false;
	if (!code)
		code = loss_batch(learner, learner->ids, &batch, err);
	if (!code)
		code = runner_descend(
			learner->runner, &descent, learner->stats[0], &batch, logits, err);
	if (code)
		return code;
	if (learner->diverged)
		return err_set(err, ERR_STATE, "iteration %lld: the loss is %f at learning rate %g",
			(long long)k, fabs((double)stride.loss), learner_rate(learner, k));
	tell_step(learner, stride.averages);
	if (learner->population)
		code = step_others(learner, &batch, k, logits, stride.loss, err);
	if (code)
		return code;
	if (logits)
		look_at_replayed(learner);
	learner_tell(learner, LEARNER_ITERATION, n);
	learner->last_loss = (double)stride.loss;
	learner->iteration = k;
	learner->new_step = false;
	return accumulate_stats(learner, &batch, err);
}

void learner_expect(struct learner *learner, int64_t iterations)
{
	learner->coming = iterations;
}

/* The next batches can be read while this one is computed. */
static void expect_batches(struct learner *learner)
{
	const uint64_t k = (uint64_t)learner->iteration + 1;
	int first, count;

	runner_reads(learner->runner, learner->batch, &first, &count);
	learner->coming--;
	for (int ahead = 1; ahead <= LEARNER_AHEAD && ahead <= learner->coming; ahead++)
		if (objective_guess(learner->objective, k + (uint64_t)ahead, learner->batch,
			    learner->guess, learner->guess_weights))
			store_expect(learner->store, learner->guess + first, count,
				k + (uint64_t)ahead, first);
}

static int train(struct learner *learner, int iterations, struct err *err)
{
	int code = 0;

	for (int i = 0; i < iterations && !code; i++) {
		if (!objective_batch(learner->objective, (uint64_t)learner->iteration + 1,
			    learner->batch, learner->ids, learner->weights))
			return 0;
		if (learner->guess)
			expect_batches(learner);
		if (learner->choice)
			code = choice_replace(learner, learner->iteration + 1, err);
		if (!code)
			code = iterate(learner, err);
		if (!code && learner->iteration % learner->validate_every == 0)
			code = validate(learner, err);
		if (!code && learner->iteration == learner->window_end)
			end_window(learner);
	}
	return code;
}

int learner_train(struct learner *learner, int iterations, struct err *err)
{
	learner_call(learner->ranks,
		&(struct learner_told){LEARNER_CALL_TRAIN, iterations, .wide = learner->coming});
	return learner_called(learner, train(learner, iterations, err));
}

int learner_reveal(
	struct learner *learner, const float *inputs, const int32_t *labels, int n, struct err *err)
{
	learner_call_reveal(learner, inputs, labels, n);
	return learner_called(learner, reveal(learner, inputs, labels, n, err));
}
