/*
 * What is this now, and ever: the slow net, parts and heads are asked, and what they say is mixed by
 * their weights.
 */
#include <string.h>

#include "learn/parts/fast_impl.h"
#include "nn/kernels.h"

void fast_softmax(const struct learner *learner, float *logits, const int32_t *labels, int n)
{
	const struct fast *fast = learner->fast;

	for (int i = 0; i < n; i++)
		fast->weights[i] = 1;
	fast_probabilities(learner->engine->kernels, fast->mix.classes, logits, labels,
		fast->weights, n, fast->losses);
}

/* The kernel's gradient is the probabilities but for the label's, which is less by 1. */
void fast_probabilities(const struct kernels *kernels, int classes, float *logits,
	const int32_t *labels, const float *ones, int n, float *losses)
{
	kernels->softmax_loss(logits, classes, labels, ones, n, losses, logits);
	for (int i = 0; i < n; i++)
		logits[(size_t)i * (size_t)classes + (size_t)labels[i]] += 1;
}

int fast_look(struct learner *learner, const float *inputs, int n, const float **seen,
	float *logits, struct err *err)
{
	float *features = learner->fast->features;

	*seen = features ? features : inputs;
	return runner_features(learner->runner, learner_weights(learner, LEARNER_INFERENCE),
		learner_stats(learner, LEARNER_INFERENCE), inputs, n, logits, features, err);
}

/* A chunk that is asked about: by which weights, and where the answer is gathered. */
struct asking {
	const double *weights;
	bool by_class; /* in their place */
	const float *inputs, *seen;
	int n;
	float *sum;
};

/* What batch norm needs when nothing is learned; the last layer needs nothing. */
static const float *quiet_stats(const struct learner *learner)
{
	return learner->fast->head ? NULL : learner_stats(learner, LEARNER_INFERENCE);
}

/* What a model gave, in the buffer of logits, goes into the answer. */
static void gather(const struct fast *fast, const struct asking *a, int model, double prior)
{
	if (a->by_class)
		mix_add_by_class(&fast->mix, model, fast->logits, a->n, a->sum);
	else
		mix_add(&fast->mix, a->weights[model], prior, fast->logits, a->n, a->sum);
}

double fast_prior_weight(const struct fast *fast, const double weights[MIX_MODELS])
{
	return fast->mix.config.prior > 0 ? weights[fast->mix.count - 1] : 0;
}

/* Model 0 and the prior by it. */
static int ask_slow(struct learner *learner, struct asking *a, struct err *err)
{
	struct fast *fast = learner->fast;
	const double prior = fast_prior_weight(fast, a->weights);
	int code;

	a->seen = a->inputs;
	if (a->weights[0] + prior <= 0 && !fast->head && !a->by_class)
		return 0;
	learner_tell(learner, LEARNER_PREDICT, a->n);
	code = fast_look(learner, a->inputs, a->n, &a->seen, fast->logits, err);
	if (code)
		return code;
	fast_softmax(learner, fast->logits, fast->labels, a->n);
	mix_look(&fast->mix, fast->logits, a->n);
	gather(fast, a, 0, prior);
	return 0;
}

/* Models without a weight are not computed. */
static int ask_part(struct learner *learner, const struct asking *a, int part, struct err *err)
{
	struct fast *fast = learner->fast;
	int code;

	if (a->weights[1 + part] <= 0 && !a->by_class)
		return 0;
	if (!fast->head)
		learner_tell(learner, LEARNER_PREDICT, a->n);
	code = runner_infer(fast->runner, fast_point(learner, part), quiet_stats(learner), a->seen,
		a->n, fast->logits, err);
	if (code)
		return code;
	fast_softmax(learner, fast->logits, fast->labels, a->n);
	gather(fast, a, 1 + part, 0);
	return 0;
}

/* If one model has all the weight, its logits are the answer: nothing is mixed. */
static int ask_alone(struct learner *learner, struct asking *a, int model, struct err *err)
{
	struct fast *fast = learner->fast;
	int code = 0;

	a->seen = a->inputs;
	learner_tell(learner, LEARNER_PREDICT, a->n);
	if (!model || fast->head)
		code = fast_look(learner, a->inputs, a->n, &a->seen, a->sum, err);
	if (!code && model)
		code = runner_infer(fast->runner, fast_point(learner, model - 1),
			quiet_stats(learner), a->seen, a->n, a->sum, err);
	if (!code)
		mix_sound(&fast->mix, a->sum, a->n);
	return code;
}

static int ask_chunk(struct learner *learner, struct asking *a, struct err *err)
{
	struct fast *fast = learner->fast;
	int code;

	memset(fast->labels, 0, FAST_CHUNK * sizeof(*fast->labels));
	code = ask_slow(learner, a, err);
	for (int i = 0; i < fast->config.count && !code; i++)
		code = ask_part(learner, a, i, err);
	for (int i = 0; i < fast->config.heads.count && !code; i++) {
		const int model = 1 + fast->config.count + i;

		if (a->weights[model] <= 0 && !a->by_class)
			continue;
		heads_predict(fast->heads, learner->engine->team, i, a->inputs, a->n, fast->logits);
		gather(fast, a, model, 0);
	}
	return code;
}

void fast_ever_weights(const struct fast *fast, double weights[MIX_MODELS])
{
	const struct heads_config *heads = &fast->config.heads;
	double sum = head_share_net();

	for (int i = 0; i < heads->count; i++)
		sum += head_share(heads->kinds[i]);
	for (int i = 0; i < MIX_MODELS; i++)
		weights[i] = 0;
	weights[0] = head_share_net() / sum;
	for (int i = 0; i < heads->count; i++)
		weights[1 + fast->config.count + i] = head_share(heads->kinds[i]) / sum;
}

void fast_now_weights(const struct fast *fast, double weights[MIX_MODELS])
{
	mix_weights(&fast->mix, weights);
	for (int i = 0; i < fast->mix.count && fast->config.alone; i++)
		weights[i] = i == fast->config.alone;
}

int fast_predict(struct learner *learner, bool ever, const float *inputs, int n, float *logits,
	struct err *err)
{
	struct fast *fast = learner->fast;
	const size_t classes = (size_t)fast->mix.classes;
	const bool by_class = fast->config.mix.by_class && !ever;
	double weights[MIX_MODELS];
	int alone, code = 0;

	if (ever)
		fast_ever_weights(fast, weights);
	else
		fast_now_weights(fast, weights);
	alone = ever || by_class ? -1 : mix_alone(&fast->mix, weights);
	if (alone > fast->config.count)
		alone = -1; /* heads have no logits */
	memset(logits, 0, (size_t)n * classes * sizeof(*logits));
	for (int at = 0; at < n && !code; at += FAST_CHUNK) {
		struct asking asking = {.weights = weights,
			.by_class = by_class,
			.inputs = inputs + (size_t)at * learner->floats,
			.n = n - at < FAST_CHUNK ? n - at : FAST_CHUNK,
			.sum = logits + (size_t)at * classes};

		code = alone < 0 ? ask_chunk(learner, &asking, err)
				 : ask_alone(learner, &asking, alone, err);
	}
	if (code || alone >= 0)
		return code;
	if (!ever)
		mix_guard(&fast->mix, n, logits);
	mix_log(&fast->mix, logits, n);
	return 0;
}
