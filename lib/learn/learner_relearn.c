/*
 * What answers beside the slow net has memories of its own: windows, trees, sums, fast weights. When
 * a sample must leave them, they are made anew and shown again all samples that the store has. The
 * slow net has trained on these by now, so its record in the mixture begins better than it was.
 */
#include "base/mem.h"
#include "learn/learner_impl.h"

/* As many samples with ids one after another as there are, from *id on, and as teach something. */
static int fetch_next(struct learner *learner, int64_t *id, float *inputs, union target *labels,
	int *n, struct err *err)
{
	const size_t width = (size_t)learner->target.width;
	const int64_t count = store_count(learner->store);
	struct err why = {0};

	*n = 0;
	for (; *id < count && *n < PART_CHUNK; ++*id) {
		int code = store_fetch(learner->store, id, 1,
			inputs + (size_t)*n * learner->inputs.floats, labels + (size_t)*n * width,
			&why);

		if (!code && !(loss_weight(learner->loss, *id) > 0))
			code = ERR_INPUT;

		if (code && code != ERR_INPUT)
			return err_set(err, code, "%s", why.message);
		if (code && *n)
			return 0;
		*n += !code;
	}
	return 0;
}

static int show(struct learner *learner, float *inputs, union target *labels, struct err *err)
{
	int64_t id = 0;
	int n, code = 0;

	do {
		code = fetch_next(learner, &id, inputs, labels, &n, err);
		if (!code && n)
			code = learner_teach_beside(learner,
				&(struct learner_step){.first = id - n,
					.inputs = inputs,
					.labels = labels,
					.n = n},
				err);
	} while (!code && id < store_count(learner->store));
	return code;
}

int learner_relearn(struct learner *learner, const int64_t *ids, size_t n, struct err *err)
{
	float *inputs;
	union target *labels;
	int code;

	if (learner->config.peers)
		return err_set(err, ERR_STATE,
			"a learner of several ranks cannot learn its parts again; retrain it");
	for (size_t i = 0; i < n; i++)
		loss_forget(learner->loss, ids[i]);
	if (!learner->beside)
		return 0;
	inputs = mem_new(PART_CHUNK * learner->inputs.floats, sizeof(*inputs));
	labels = mem_new(PART_CHUNK * (size_t)learner->target.width, sizeof(*labels));
	code = inputs && labels ? learner_make_beside(learner, err)
				: err_memory(err, "samples", PART_CHUNK * learner->inputs.floats);
	if (!code)
		code = show(learner, inputs, labels, err);
	mem_free(inputs);
	mem_free(labels);
	learner->version++;
	return code;
}
