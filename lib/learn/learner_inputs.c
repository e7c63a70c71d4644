/*
 * How inputs reach the net: the store keeps them unscaled, and here they are scaled by the
 * current statistics.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "learn/learner_impl.h"

static void scale_here(const struct learner *learner, float *inputs, int n)
{
	if (learner->scale.scaling)
		scale_apply(scaling_scale(learner->scale.scaling), learner->engine->ops, inputs, n,
			inputs);
}

void learner_number_scales(const struct learner *learner, struct number_scales *scales)
{
	const struct scale *scale =
		learner->target.scaling ? scaling_scale(learner->target.scaling) : NULL;

	scales->width = scale ? learner->target.width : 0;
	for (int k = 0; k < scales->width; k++)
		scales->each[k] = (struct number_scale){scale->mean[k], scale->factor[k]};
}

/* Labels that are numbers, to the scale of the net. */
static void scale_labels(const struct learner *learner, union target *labels, int n)
{
	struct number_scales scales;

	learner_number_scales(learner, &scales);
	for (int i = 0; i < n; i++)
		for (int k = 0; k < scales.width; k++, labels++)
			labels->number = number_scaled(scales.each[k], labels->number);
}

/* Makes room in a buffer of inputs. */
static int reserve(struct learner_looked *buffer, size_t floats, struct err *err)
{
	float *more;

	if (floats <= buffer->room)
		return 0;
	more = mem_resize(buffer->inputs, floats, sizeof(*more));
	if (!more)
		return err_memory(err, "inputs", floats * sizeof(*more));
	buffer->inputs = more;
	buffer->room = floats;
	return 0;
}

/* Without what the net lacks: it would have weights of 0. */
static void narrow(const struct learner *learner, const float *given, int n, float *inputs)
{
	for (int i = 0; i < n; i++)
		memcpy(inputs + (size_t)i * learner->inputs.floats,
			given + (size_t)i * learner->inputs.given,
			learner->inputs.floats * sizeof(*inputs));
}

int learner_narrowed(struct learner *learner, const float **inputs, int n, struct err *err)
{
	int code;

	if (learner->inputs.given == learner->inputs.floats || !*inputs)
		return 0;
	code = reserve(&learner->inputs.narrow, (size_t)n * learner->inputs.floats, err);
	if (code)
		return code;
	narrow(learner, *inputs, n, learner->inputs.narrow.inputs);
	*inputs = learner->inputs.narrow.inputs;
	return 0;
}

size_t learner_needs(const struct learner *learner, const float *inputs, int n)
{
	size_t needs = learner->inputs.floats;

	for (int i = 0; i < n && inputs; i++)
		for (size_t j = learner->inputs.given; j > needs; j--)
			if (!isnan(inputs[(size_t)i * learner->inputs.given + j - 1]))
				needs = j;
	return needs;
}

int learner_widen(struct learner *learner, size_t floats, struct err *err)
{
	int code = 0;

	if (learner->config.peers && floats > learner->inputs.given)
		code = err_set(err, ERR_INPUT, "inputs of ranks cannot grow");
	if (!code)
		code = store_widen(learner->store, floats, err);
	if (!code)
		learner->inputs.given = floats;
	return code;
}

size_t learner_floats(const struct learner *learner)
{
	return learner->inputs.floats;
}

/* From the store; iteration 0: samples as they are. */
static int fetch(struct learner *learner, const int64_t *ids, int n, uint64_t iteration,
	float *inputs, union target *labels, struct err *err)
{
	const bool wide = learner->inputs.given > learner->inputs.floats;
	int code = wide ? reserve(&learner->inputs.fetched, (size_t)n * learner->inputs.given, err)
			: 0;
	float *to = wide ? learner->inputs.fetched.inputs : inputs;

	if (!code && iteration)
		code = store_draw(learner->store, ids, n, iteration, 0, to, labels, err);
	else if (!code)
		code = store_fetch(learner->store, ids, n, to, labels, err);
	if (!code && wide)
		narrow(learner, to, n, inputs);
	return code;
}

int learner_stored(struct learner *learner, const int64_t *ids, int n, float *inputs,
	union target *labels, struct err *err)
{
	return fetch(learner, ids, n, 0, inputs, labels, err);
}

int learner_unscaled(struct learner *learner, int64_t first, int n, float *inputs,
	const float **given, struct err *err)
{
	union target labels[PART_CHUNK * TARGET_WIDTH];
	int64_t ids[PART_CHUNK];

	*given = learner->config.peers ? NULL : inputs;
	for (int i = 0; i < n; i++)
		ids[i] = first + i;
	return *given ? fetch(learner, ids, n, 0, inputs, labels, err) : 0;
}

/* iteration 0: samples as they are */
static int bring(struct learner *learner, const int64_t *ids, int n, uint64_t iteration, bool all,
	float *inputs, union target *labels, struct err *err)
{
	struct learner_peers *peers = learner->config.peers;
	int first = 0, count = n, code;

	if (peers)
		code = peers->fetch(peers,
			&(struct learner_batch){learner->store, learner->runner,
				learner->inputs.floats, ids, n, iteration, all, inputs, labels,
				learner->target.width},
			err);
	else
		code = fetch(learner, ids, n, iteration, inputs, labels, err);
	if (code)
		return code;
	if (!all)
		runner_reads(learner->runner, n, &first, &count);
	scale_here(learner, inputs + (size_t)first * learner->inputs.floats, count);
	scale_labels(learner, labels, n);
	return 0;
}

int learner_fetch(struct learner *learner, const int64_t *ids, int n, float *inputs,
	union target *labels, struct err *err)
{
	return bring(learner, ids, n, 0, false, inputs, labels, err);
}

int learner_draw(struct learner *learner, const int64_t *ids, int n, uint64_t iteration,
	float *inputs, union target *labels, struct err *err)
{
	return bring(learner, ids, n, iteration, false, inputs, labels, err);
}

int learner_fetch_all(struct learner *learner, const int64_t *ids, int n, float *inputs,
	union target *labels, struct err *err)
{
	return bring(learner, ids, n, 0, true, inputs, labels, err);
}

/* A mixture asks about all inputs, and whether one will be asked is not known yet. */
static int look(struct learner *learner, int kind, const int64_t *ids, int n, const float **inputs,
	struct err *err)
{
	int first = 0, count = n;
	const int code = reserve(&learner->inputs.looked, (size_t)n * learner->inputs.floats, err);

	if (!learner->beside)
		runner_reads(learner->runner, n, &first, &count);
	if (inputs)
		*inputs = count == n ? learner->inputs.looked.inputs : NULL;
	return code ? code
		    : learner->config.load(learner->config.load_context, kind, ids + first, count,
			      learner->inputs.looked.inputs +
				      (size_t)first * learner->inputs.floats,
			      err);
}

int learner_look(struct learner *learner, int kind, const int64_t *ids, int n, const float **inputs,
	struct err *err)
{
	const struct learner_call call = {LEARNER_CALL_LOOK, n, kind, .ids = ids};

	learner_begin(learner, &call);
	return learner_end(learner, &call, look(learner, kind, ids, n, inputs, err), err);
}

int learner_scaled(struct learner *learner, const float **inputs, int n, struct err *err)
{
	int code;

	if (!learner->scale.scaling)
		return 0;
	code = reserve(&learner->scale.inputs, (size_t)n * learner->inputs.floats, err);
	if (code)
		return code;
	scale_apply(scaling_scale(learner->scale.scaling), learner->engine->ops, *inputs, n,
		learner->scale.inputs.inputs);
	*inputs = learner->scale.inputs.inputs;
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
		.floats = learner->inputs.floats,
		.batch = learner->set.batch,
		.inputs = learner->room.inputs,
		.logits = learner->room.logits,
		.grad = learner->grad,
		.labels = learner->room.labels};
}

enum { NEWEST = 300 }; /* recent samples are drawn from this many */

/* A draw of its own for every number of samples, behind those of batches. */
bool learner_recent(const struct learner *learner, int n, int64_t *ids)
{
	const int64_t oldest = pool_seen(learner->pool) - NEWEST;

	return pool_draw(learner->pool, (uint64_t)learner->steps.count, POOL_POSITIONS - n,
		oldest > 0 ? oldest : 0, ids, n);
}

struct part_view learner_view(struct learner *learner)
{
	return (struct part_view){.learner = learner,
		.options = learner->config.options,
		.engine = learner->engine,
		.floats = learner->inputs.floats,
		.first = learner->inputs.first,
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
	for (int at = 0; at < n && !inputs && !code; at += learner->set.batch) {
		const int count = n - at < learner->set.batch ? n - at : learner->set.batch;

		for (int i = 0; i < count; i++)
			learner->room.ids[i] = first + at + i;
		code = learner_stored(learner, learner->room.ids, count, learner->room.inputs,
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
