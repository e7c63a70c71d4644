/*
 * How inputs reach the net: the store keeps them as they came, and here they are
 * scaled by the statistics of the moment.
 */
#include "base/mem.h"
#include "learn/learner_impl.h"

static void scale_here(const struct learner *learner, float *inputs, int n)
{
	if (learner->scaling)
		scale_apply(scaling_scale(learner->scaling), inputs, n, inputs);
}

int learner_fetch(struct learner *learner, const int64_t *ids, int n, float *inputs,
	int32_t *labels, struct err *err)
{
	const int code = store_fetch(learner->store, ids, n, inputs, labels, err);

	if (!code)
		scale_here(learner, inputs, n);
	return code;
}

int learner_draw(struct learner *learner, const int64_t *ids, int n, uint64_t iteration,
	float *inputs, int32_t *labels, struct err *err)
{
	const int code = store_draw(learner->store, ids, n, iteration, inputs, labels, err);

	if (!code)
		scale_here(learner, inputs, n);
	return code;
}

int learner_scaled(struct learner *learner, const float **inputs, int n, struct err *err)
{
	const size_t floats = (size_t)n * learner->floats;

	if (!learner->scaling)
		return 0;
	if (floats > learner->scaled_room) {
		float *more = mem_resize(learner->scaled, floats, sizeof(*more));

		if (!more)
			return err_memory(err, "scaled inputs", floats * sizeof(*more));
		learner->scaled = more;
		learner->scaled_room = floats;
	}
	scale_apply(scaling_scale(learner->scaling), *inputs, n, learner->scaled);
	*inputs = learner->scaled;
	return 0;
}

/* Samples of the store come in parts, for which the buffers of a batch have room. */
int learner_count_inputs(
	struct learner *learner, int64_t first, const float *inputs, int n, struct err *err)
{
	int code = 0;

	if (inputs)
		scaling_see(learner->scaling, inputs, n);
	for (int at = 0; at < n && !inputs && !code; at += learner->batch) {
		const int count = n - at < learner->batch ? n - at : learner->batch;

		for (int i = 0; i < count; i++)
			learner->ids[i] = first + at + i;
		code = store_fetch(
			learner->store, learner->ids, count, learner->inputs, learner->labels, err);
		if (!code)
			scaling_see(learner->scaling, learner->inputs, count);
	}
	learner->version++;
	return code;
}

const struct scale *learner_scale(const struct learner *learner)
{
	return learner->scaling ? scaling_scale(learner->scaling) : NULL;
}

const int64_t *learner_scale_seen(const struct learner *learner)
{
	return learner->scaling ? scaling_seen(learner->scaling) : NULL;
}
