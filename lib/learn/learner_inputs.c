/*
 * How inputs reach the net: the store keeps them as they came, and here they are
 * scaled by the statistics of the moment.
 */
#include "base/mem.h"
#include "learn/learner_impl.h"
#include "nn/ranks/shared.h"

static void scale_here(const struct learner *learner, float *inputs, int n)
{
	if (learner->scale.scaling)
		scale_apply(scaling_scale(learner->scale.scaling), inputs, n, inputs);
}

void learner_share_labels(struct learner *learner, int n, int32_t *labels)
{
	struct ranks *ranks = learner->ranks;
	size_t begins[RANKS_MOST + 1];

	if (!shared_cuts(learner->runner, n))
		return;
	for (int r = 0; r < ranks->count; r++) {
		int first, count;

		shared_part(learner->runner, n, r, &first, &count);
		begins[r] = (size_t)first;
	}
	begins[ranks->count] = (size_t)n;
	ranks->type->gather(ranks, labels, sizeof(*labels), begins);
}

void learner_deal(struct learner *learner, float *inputs, int n)
{
	struct ranks *ranks = learner->ranks;
	struct ranks_message send[RANKS_MOST], receive;
	int sends = 0;

	for (int r = 1; r < ranks->count; r++) {
		int first, count;

		shared_part(learner->runner, n, r, &first, &count);
		const struct ranks_message part = {r, inputs + (size_t)first * learner->floats,
			(size_t)count * learner->floats * sizeof(*inputs)};
		if (ranks->rank == 0)
			send[sends++] = part;
		else if (ranks->rank == r)
			receive = part;
	}
	receive.rank = 0;
	ranks_trade(ranks, send, sends, &receive, ranks->rank != 0);
}

/* How a batch comes to the rank that needs it; iteration 0: as it is. */
static int bring(struct learner *learner, const int64_t *ids, int n, uint64_t iteration,
	float *inputs, int32_t *labels, struct err *err)
{
	const bool lone = learner->ranks && learner->config.lone;
	int first = 0, count = n, code = 0;

	if (learner->ranks && !lone)
		runner_reads(learner->runner, n, &first, &count);
	float *some = inputs + (size_t)first * learner->floats;
	if (lone && !ranks_first(learner->ranks))
		count = 0;
	else if (iteration)
		code = store_draw(learner->store, ids + first, count, iteration, first, some,
			labels + first, err);
	else
		code = store_fetch(learner->store, ids + first, count, some, labels + first, err);
	if (code)
		return code;
	if (lone) {
		learner->ranks->type->share(learner->ranks, 0, labels, (size_t)n * sizeof(*labels));
		learner_deal(learner, inputs, n);
		runner_reads(learner->runner, n, &first, &count);
	} else if (learner->ranks) {
		learner_share_labels(learner, n, labels);
	}
	scale_here(learner, inputs + (size_t)first * learner->floats, count);
	return 0;
}

int learner_fetch(struct learner *learner, const int64_t *ids, int n, float *inputs,
	int32_t *labels, struct err *err)
{
	return bring(learner, ids, n, 0, inputs, labels, err);
}

int learner_draw(struct learner *learner, const int64_t *ids, int n, uint64_t iteration,
	float *inputs, int32_t *labels, struct err *err)
{
	return bring(learner, ids, n, iteration, inputs, labels, err);
}

int learner_fetch_all(struct learner *learner, const int64_t *ids, int n, float *inputs,
	int32_t *labels, struct err *err)
{
	struct ranks *ranks = learner->ranks;
	const bool lone = ranks && learner->config.lone;
	const int code =
		lone && ranks->rank ? 0 : store_fetch(learner->store, ids, n, inputs, labels, err);

	if (code)
		return code;
	if (lone) {
		ranks->type->share(ranks, 0, inputs, (size_t)n * learner->floats * sizeof(*inputs));
		ranks->type->share(ranks, 0, labels, (size_t)n * sizeof(*labels));
	}
	scale_here(learner, inputs, n);
	return 0;
}

int learner_scaled(struct learner *learner, const float **inputs, int n, struct err *err)
{
	const size_t floats = (size_t)n * learner->floats;

	if (!learner->scale.scaling)
		return 0;
	if (floats > learner->scale.room) {
		float *more = mem_resize(learner->scale.inputs, floats, sizeof(*more));

		if (!more)
			return err_memory(err, "scaled inputs", floats * sizeof(*more));
		learner->scale.inputs = more;
		learner->scale.room = floats;
	}
	scale_apply(scaling_scale(learner->scale.scaling), *inputs, n, learner->scale.inputs);
	*inputs = learner->scale.inputs;
	return 0;
}

int learner_new_inputs(struct learner *learner, int64_t first, const float *inputs, int n,
	const float **scaled, struct err *err)
{
	*scaled = inputs ? inputs : learner->room.inputs;
	if (inputs)
		return learner_scaled(learner, scaled, n, err);
	for (int i = 0; i < n; i++)
		learner->room.ids[i] = first + i;
	return learner_fetch(
		learner, learner->room.ids, n, learner->room.inputs, learner->room.labels, err);
}

struct loss_view learner_loss_view(const struct learner *learner)
{
	return (struct loss_view){.learner = (struct learner *)learner,
		.options = learner->config.options,
		.net = learner->net,
		.runner = learner->runner,
		.params = learner->params,
		.stats = learner->stats[0],
		.pool = learner->pool,
		.objective = learner->objective,
		.iteration = learner->iteration,
		.floats = learner->floats,
		.batch = learner->batch,
		.inputs = learner->room.inputs,
		.logits = learner->room.logits,
		.grad = learner->grad,
		.labels = learner->room.labels};
}

enum { NEWEST = 300 }; /* recent samples are drawn from so many */

/* A draw of its own for every number of samples, behind those of batches. */
static bool draw_recent(struct learner *learner, int n, int64_t *ids)
{
	const int64_t oldest = pool_seen(learner->pool) - NEWEST;

	return pool_draw(learner->pool, (uint64_t)learner->steps, POOL_POSITIONS - n,
		oldest > 0 ? oldest : 0, ids, n);
}

struct part_view learner_view(struct learner *learner)
{
	static const struct part_source source = {learner_scaled, learner_fetch_all, draw_recent};

	return (struct part_view){.learner = learner,
		.source = &source,
		.watch = &learner->watch,
		.options = learner->config.options,
		.iteration = learner->iteration,
		.step = learner->steps,
		.engine = learner->engine,
		.floats = learner->floats,
		.net = learner->net,
		.runner = learner->runner,
		.params = learner_weights(learner, LEARNER_INFERENCE),
		.stats = learner_stats(learner, LEARNER_INFERENCE),
		.version = learner->version,
		.grad = learner->grad};
}

/* Samples of the store come in parts, for which the buffers of a batch have room. */
int learner_count_inputs(
	struct learner *learner, int64_t first, const float *inputs, int n, struct err *err)
{
	int code = 0;

	if (inputs)
		scaling_see(learner->scale.scaling, inputs, n);
	for (int at = 0; at < n && !inputs && !code; at += learner->batch) {
		const int count = n - at < learner->batch ? n - at : learner->batch;

		for (int i = 0; i < count; i++)
			learner->room.ids[i] = first + at + i;
		code = store_fetch(learner->store, learner->room.ids, count, learner->room.inputs,
			learner->room.labels, err);
		if (!code)
			scaling_see(learner->scale.scaling, learner->room.inputs, count);
	}
	learner->version++;
	return code;
}

const struct scale *learner_scale(const struct learner *learner)
{
	return learner->scale.scaling ? scaling_scale(learner->scale.scaling) : NULL;
}

const int64_t *learner_scale_seen(const struct learner *learner)
{
	return learner->scale.scaling ? scaling_seen(learner->scale.scaling) : NULL;
}
