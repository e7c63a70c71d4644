/*
 * Training: iteration k of the paper's Alg. 2, and the decisions at the end of a window.
 * The order is part of the method: step, averages, validation (learner_validate.c),
 * schedule, then the weights of the averages.
 */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "learn/learner_impl.h"
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

void learner_tell_lead(const struct learner *learner, struct learner_lead *lead)
{
	lead->iteration = learner->iteration;
	lead->step = learner->steps.count;
	if (learner->watch.lead)
		learner->watch.lead(learner->watch.context, lead);
}

double learner_worth(
	const struct learner *learner, const float *outputs, const union target *labels, int n)
{
	const struct target_type *type = learner_target(learner);
	const int classes = net_spec(learner->net)->classes;

	return type->worth ? type->worth(outputs, learner->target.width, labels, n)
			   : (double)rank_hits(outputs, classes, target_classes(labels), n) / n;
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
	struct scoring_window window;

	learner_validated(learner);
	if (!scoring_end(&learner->window, learner->iteration, learner->schedule, learner->average,
		    &window))
		return;
	copy_stats(learner, window.best);
	learner_stale(learner);
	if (learner->watch.window)
		learner->watch.window(learner->watch.context, &window);
}

/*
 * Batch norm: the statistics of averaged weights move as these do, towards the plain model's. They
 * would be right if they depended on weights linearly; passes correct them. By passes alone,
 * weights that move fast would predict with statistics of weights long past.
 */
static void move_stats(struct learner *learner, const struct average_step *averages)
{
	const size_t floats = net_stats(learner->net)->floats;
	const float *plain = learner->stats[0];
	const bool own = optimizer_inference(learner->optimizer) != NULL;
	const int models = own ? 1 : averages ? averages->count : 0;

	for (int i = 0; plain && i < models; i++) {
		const float keep = own ? (float)(1 - optimizer_approach(learner->optimizer))
				       : averages->keep[i];
		float *stats = learner->stats[SCORES_AVERAGE + i];

		for (size_t j = 0; j < floats; j++)
			stats[j] = plain[j] + keep * (stats[j] - plain[j]);
	}
}

/* Averaged weights need batch norm statistics of their own: forward passes in training mode. */
static int accumulate_stats(
	struct learner *learner, const struct runner_batch *batch, struct err *err)
{
	static const float momentum = 0.1f;
	const float *inference = optimizer_inference(learner->optimizer);
	const int models = inference ? 1 : average_count(learner->average);
	int code = 0;

	if (!learner->stats[0] || learner->iteration % learner->set.statistics_every)
		return 0;
	for (int i = learner->unsettled.corrected; i < models && !code; i++) {
		code = runner_losses(learner->runner,
			learner_weights(
				learner, inference ? LEARNER_INFERENCE : LEARNER_AVERAGE + i),
			learner->stats[SCORES_AVERAGE + i], momentum, batch, learner->room.losses,
			NULL, err);
		learner_tell(learner, LEARNER_STATISTICS, batch->n);
		learner->version++;
		learner->unsettled.corrected += !code;
	}
	return code;
}

/*
 * What follows a step. Its passes may fail where a program computes the net; the step is made then,
 * and the next call goes on from here. Without a batch, averages' statistics are as they are.
 */
static int settle(struct learner *learner, const struct runner_batch *batch, struct err *err)
{
	int code = batch ? accumulate_stats(learner, batch, err) : 0;

	if (!code && learner->iteration % learner->set.validate_every == 0)
		code = learner_validate(learner, err);
	if (code)
		return code;
	if (learner->iteration == learner->window.end)
		end_window(learner);
	learner_tell(learner, LEARNER_ITERATION, learner->set.batch);
	learner->unsettled = (struct learner_unsettled){0};
	return 0;
}

/* A step of the plain model, slice by slice. */
static bool begin_stride(void *context, float loss)
{
	struct learner_stride *stride = context;
	struct learner *learner = stride->learner;
	const struct loss_view view = learner_loss_view(learner);

	stride->loss = loss + (float)loss_held(learner->loss, &view);
	learner->latest.diverged = !isfinite(stride->loss) && !learner_population(learner);
	if (learner->latest.diverged)
		return false;
	stride->rate = (float)learner_rate(learner, stride->k);
	stride->averages = average_due(learner->average, stride->k);
	optimizer_samples(learner->optimizer, pool_count(learner->pool));
	optimizer_begin(learner->optimizer);
	return true;
}

static void step_slice(void *context, const struct slice *slice)
{
	const struct learner_stride *stride = context;
	struct learner *learner = stride->learner;

	loss_hold(learner->loss, learner->params, learner->grad, slice);
	optimizer_step_slice(learner->optimizer, learner->params, learner->grad, stride->rate,
		stride->averages, slice);
}

static void tell_step(struct learner *learner, const struct average_step *averages)
{
	if (averages || optimizer_inference(learner->optimizer))
		learner_stale(learner);
	learner->version += averages || learner_served_so_far(learner) == LEARNER_PLAIN;
	learner_tell(learner, LEARNER_TRAIN, learner->set.batch);
	learner_tell(learner, LEARNER_UPDATE, 0);
	for (int i = 0; averages && i < averages->count; i++)
		learner_tell(learner, LEARNER_MOVE, 0);
}

/* Masks of iteration k: the same however often it is tried. */
static uint64_t mask_seed(const struct learner *learner, int64_t k)
{
	uint32_t bits[4];

	rng_bits((struct rng){learner->set.seed, RNG_MASK}, (uint64_t)k, bits);
	return (uint64_t)bits[0] << 32 | bits[1];
}

/* Reads the batch of iteration k, whose numbers are in hand. */
static int read_batch(
	struct learner *learner, int64_t k, struct runner_batch *batch, struct err *err)
{
	const struct loss_view view = learner_loss_view(learner);
	const int n = learner->set.batch;
	const int code = learner_draw(learner, learner->room.ids, n, (uint64_t)k,
		learner->room.inputs, learner->room.labels, err);

	*batch = (struct runner_batch){.input = learner->room.inputs,
		.labels = learner->room.labels,
		.weights = learner->room.weights,
		.n = n,
		.seed = mask_seed(learner, k)};
	return code ? code : loss_batch(learner->loss, &view, learner->room.ids, batch, err);
}

static int iterate(struct learner *learner, struct err *err)
{
	const int64_t k = learner->iteration + 1;
	struct runner_batch batch;
	struct learner_stride stride = {.learner = learner, .k = k, .batch = &batch};
	const struct runner_descent descent = {
		learner->params, learner->grad, &stride, begin_stride, step_slice};
	int code;

	loss_weigh(learner->loss, learner->room.ids, learner->room.weights, learner->set.batch);
	learner->latest.diverged = false;
	EXTRAS_EACH (learner, logits)
		stride.logits = learner->steps.fresh ? learner->room.logits : NULL;
	code = read_batch(learner, k, &batch, err);
	if (!code)
		code = runner_descend(
			learner->runner, &descent, learner->stats[0], &batch, stride.logits, err);
	if (code)
		return code;
	if (learner->latest.diverged)
		return err_set(err, ERR_STATE, "iteration %lld: the loss is %f at learning rate %g",
			(long long)k, fabs((double)stride.loss), learner_rate(learner, k));
	tell_step(learner, stride.averages);
	EXTRAS_EACH (learner, stepped)
		if (!code)
			code = extra_types[e]->stepped(learner->extras[e], learner, &stride, err);
	if (code)
		return code;
	learner->latest.loss = (double)stride.loss;
	learner->iteration = k;
	learner->steps.fresh = false;
	learner->unsettled.due = true;
	move_stats(learner, stride.averages);
	return settle(learner, &batch, err);
}

/* The end of an iteration whose step was made. A batch that is gone is not waited for. */
static int finish(struct learner *learner, struct err *err)
{
	struct runner_batch batch;
	struct err gone;
	const bool read = !learner->unsettled.loaded &&
			  !read_batch(learner, learner->iteration, &batch, &gone);

	return settle(learner, read ? &batch : NULL, err);
}

void learner_expect(struct learner *learner, int64_t iterations)
{
	learner->ahead.coming = iterations;
}

/* The next batches can be read while this one is computed. */
static void expect_batches(struct learner *learner)
{
	const uint64_t k = (uint64_t)learner->iteration + 1;
	int first, count;

	runner_reads(learner->runner, learner->set.batch, &first, &count);
	for (int ahead = 1; ahead <= LEARNER_AHEAD && ahead <= learner->ahead.coming; ahead++)
		if (objective_guess(learner->objective, k + (uint64_t)ahead, learner->set.batch,
			    learner->ahead.ids, learner->ahead.weights))
			store_expect(learner->store, learner->ahead.ids + first, count,
				k + (uint64_t)ahead, first);
}

static int train(struct learner *learner, int iterations, struct err *err)
{
	int code = 0;

	if (learner->ahead.coming < iterations)
		learner->ahead.coming = iterations;
	for (int i = 0; i < iterations && !code; i++) {
		if (learner->unsettled.due) {
			code = finish(learner, err);
			continue;
		}
		if (!objective_batch(learner->objective, (uint64_t)learner->iteration + 1,
			    learner->set.batch, learner->room.ids, learner->room.weights))
			return 0;
		learner->ahead.coming--;
		if (learner->ahead.ids)
			expect_batches(learner);
		EXTRAS_EACH (learner, choose)
			code = code ? code
				    : extra_types[e]->choose(learner->extras[e], learner,
					      learner->iteration + 1, err);
		if (!code)
			code = iterate(learner, err);
	}
	return code;
}

int learner_train(struct learner *learner, int iterations, struct err *err)
{
	const struct learner_call call = {
		LEARNER_CALL_TRAIN, iterations, .count = learner->ahead.coming};

	learner_begin(learner, &call);
	return learner_end(learner, &call, train(learner, iterations, err), err);
}
