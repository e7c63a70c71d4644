/*
 * How a learner of numbers asks and teaches the mixture that answers NOW: the slow net looks at
 * samples first, chunk by chunk, for its value and for what its last layer sees.
 */
#include <string.h>

#include "base/mem.h"
#include "learn/learner_impl.h"
#include "learn/numbers/several.h"

enum { CHUNK = SEVERAL_MOST };

struct beside_numbers {
	struct several *mixture;
	float *features;       /* [CHUNK][net_features] */
	float *outputs;        /* [CHUNK][width][NUMBER_OUTPUTS] */
	float *raw;            /* [CHUNK][floats]: samples of the store */
	float *slow;           /* [CHUNK][width] */
	union target *labels;  /* [CHUNK][width] */
	bool ready[CHUNK + 1]; /* the runner has plans for so many samples */
};

int learner_numbers_new(struct learner *learner, struct err *err)
{
	const struct options *o = learner->config.options;
	const size_t features = (size_t)net_features(learner->net);
	const size_t width = (size_t)learner->target.width;
	const struct numbers_config config = {.floats = learner->inputs.floats,
		.features = features,
		.seed = (uint64_t)options_int64(o, "run.seed"),
		.coverage = options_float(o, "model.coverage"),
		.ops = learner->engine->ops};
	struct beside_numbers *made = mem_new(1, sizeof(*made));
	int code = made ? several_new(&made->mixture, &config, learner->target.width, err)
			: err_memory(err, "a mixture of numbers", sizeof(*made));

	learner->numbers = made;
	if (code)
		return code;
	made->features = mem_new(CHUNK * features, sizeof(float));
	made->outputs = mem_new(CHUNK * width * NUMBER_OUTPUTS, sizeof(float));
	made->raw = mem_new(CHUNK * learner->inputs.floats, sizeof(float));
	made->slow = mem_new(CHUNK * width, sizeof(float));
	made->labels = mem_new(CHUNK * width, sizeof(*made->labels));
	return made->features && made->outputs && made->raw && made->slow && made->labels
		       ? 0
		       : err_memory(err, "a mixture of numbers", CHUNK * features * sizeof(float));
}

void learner_numbers_free(struct beside_numbers *numbers)
{
	if (!numbers)
		return;
	several_free(numbers->mixture);
	mem_free(numbers->features);
	mem_free(numbers->outputs);
	mem_free(numbers->raw);
	mem_free(numbers->slow);
	mem_free(numbers->labels);
	mem_free(numbers);
}

struct several *learner_mixture(const struct learner *learner)
{
	return learner->numbers ? learner->numbers->mixture : NULL;
}

/* What the slow net makes of at most a chunk of inputs, unscaled and scaled. */
static int look(struct learner *learner, const float *raw, const float *inputs, int n,
	struct numbers_samples *samples, struct err *err)
{
	struct beside_numbers *mine = learner->numbers;
	struct number_scales scales;
	const int code =
		runner_features(learner->runner, learner_weights(learner, LEARNER_INFERENCE),
			learner_stats(learner, LEARNER_INFERENCE), inputs, n, mine->outputs,
			mine->features, err);

	if (code)
		return code;
	learner_number_scales(learner, &scales);
	number_unscale(&scales, mine->outputs, n);
	for (int i = 0; i < n * scales.width; i++)
		mine->slow[i] = mine->outputs[i * NUMBER_OUTPUTS + NUMBER_VALUE];
	*samples = (struct numbers_samples){inputs, raw, mine->features, mine->slow, n};
	return 0;
}

int learner_numbers_predict(struct learner *learner, const float *raw, const float *inputs, int n,
	float *answers, struct err *err)
{
	struct numbers_samples samples;
	int code = 0;

	for (int at = 0; at < n && !code; at += CHUNK) {
		const int count = n - at < CHUNK ? n - at : CHUNK;
		const size_t first = (size_t)at * learner->inputs.floats;

		learner_tell(learner, LEARNER_PREDICT, count);
		code = look(learner, raw + first, inputs + first, count, &samples, err);
		if (!code)
			several_ask(learner->numbers->mixture, &samples,
				answers + (size_t)at * (size_t)learner->target.width *
						  NUMBER_OUTPUTS);
	}
	return code;
}

/* A runner makes its plans for a size when it first sees it: so it is shown some zeros, once. */
int learner_numbers_ready(struct learner *learner, int n, struct err *err)
{
	struct beside_numbers *mine = learner->numbers;
	const int sizes[] = {n < CHUNK ? n : CHUNK, n > CHUNK ? n % CHUNK : 0};
	struct numbers_samples samples;
	int code = several_reserve(mine->mixture, sizes[0], err);

	mine->ready[0] = true;
	for (int i = 0; i < 2 && !code; i++)
		if (!mine->ready[sizes[i]]) {
			memset(mine->raw, 0, CHUNK * learner->inputs.floats * sizeof(float));
			code = look(learner, mine->raw, mine->raw, sizes[i], &samples, err);
			mine->ready[sizes[i]] = !code;
		}
	return code;
}

/* Inputs of the store come as they are kept; those of other processes only scaled. */
static int fetch(struct learner *learner, int64_t first, int n, const float **raw,
	const float **inputs, struct err *err)
{
	struct beside_numbers *mine = learner->numbers;
	int64_t ids[CHUNK];
	int code;

	for (int i = 0; i < n; i++)
		ids[i] = first + i;
	*raw = learner->config.peers ? NULL : mine->raw;
	*inputs = mine->raw;
	if (!*raw)
		return learner_fetch_all(learner, ids, n, mine->raw, mine->labels, err);
	code = store_fetch(learner->store, ids, n, mine->raw, mine->labels, err);
	return code ? code : learner_scaled(learner, inputs, n, err);
}

int learner_numbers_learn(struct learner *learner, const struct learner_step *step, struct err *err)
{
	struct several *mixture = learner->numbers->mixture;
	struct numbers_samples samples;
	int code = 0;

	for (int at = 0; at < step->n && !code; at += CHUNK) {
		const int count = step->n - at < CHUNK ? step->n - at : CHUNK;
		const float *raw =
			step->inputs ? step->inputs + (size_t)at * learner->inputs.floats : NULL;
		const float *inputs = raw;

		code = raw ? learner_scaled(learner, &inputs, count, err)
			   : fetch(learner, step->first + at, count, &raw, &inputs, err);
		if (!code)
			code = look(learner, raw, inputs, count, &samples, err);
		if (code)
			return code;
		samples.late = step->late_by;
		samples.stride = target_guess(learner->target.width);
		if (step->late_by)
			samples.said = &step->guesses[(size_t)at * samples.stride].number;
		learner_tell(learner, LEARNER_FAST_FORWARD, count);
		learner_tell_macs(learner, count * several_macs(mixture));
		several_learn(mixture, &samples,
			step->labels + (size_t)at * (size_t)learner->target.width);
	}
	return code;
}
