/*
 * What fast weights are, and what they answer. Learning is in fast_learn.c, sweeps over the
 * parameters are in fast_sweep.c.
 */
#include "learn/fast.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "learn/fast_impl.h"
#include "nn/kernels.h"

/* The last layer's are the last dense tensor's and those behind it. */
static size_t head_begins(const struct param_table *table)
{
	int row = table->count - 1;

	while (row > 0 && table->rows[row].kind != PARAM_DENSE)
		row--;
	return table->rows[row].offset;
}

/* Which net is displaced, and which of the learner's parameters are its. */
static int choose_net(struct fast *fast, const struct learner *learner, struct err *err)
{
	const struct param_table *table = net_params(learner->net);
	const struct net_spec spec = {.arch = "linear",
		.classes = net_spec(learner->net)->classes,
		.channels = net_features(learner->net),
		.height = 1,
		.width = 1};
	int code;

	fast->runner = learner->runner;
	fast->width = learner->floats;
	fast->floats = table->floats;
	if (!fast->config.head)
		return 0;
	fast->width = (size_t)spec.channels;
	fast->first = head_begins(table);
	fast->floats = table->floats - fast->first;
	fast->runner = NULL;
	code = net_new(&fast->head, &spec, err);
	return code ? code : runner_new(&fast->runner, fast->head, learner->engine, 0, err);
}

static bool make_buffers(struct fast *fast, const struct learner *learner)
{
	const size_t stats = fast->head ? 0 : net_stats(learner->net)->floats;
	const size_t classes = (size_t)net_spec(learner->net)->classes, room = (size_t)fast->room;

	for (int i = 0; i < fast->config.count; i++)
		for (int t = 0; t < fast->config.parts[i].count; t++)
			if (!(fast->delta[i][t] = mem_new(fast->floats, sizeof(float))))
				return false;
	return (fast->point = mem_new(fast->floats, sizeof(float))) &&
	       (!fast->head || (fast->grad = mem_new(fast->floats, sizeof(float)))) &&
	       (!stats || (fast->stats = mem_new(stats, sizeof(float)))) &&
	       (fast->squares = mem_new(fast->floats / FAST_SLICE + 1, sizeof(float))) &&
	       (fast->looked.inputs = mem_new(FAST_CHUNK * learner->floats, sizeof(float))) &&
	       (fast->looked.logits = mem_new(FAST_CHUNK * classes, sizeof(float))) &&
	       (fast->inputs = mem_new(room * learner->floats, sizeof(float))) &&
	       (!fast->head || (fast->features = mem_new(room * fast->width, sizeof(float)))) &&
	       (fast->losses = mem_new(room, sizeof(float))) &&
	       (fast->weights = mem_new(room, sizeof(float))) &&
	       (fast->logits = mem_new(room * classes, sizeof(float))) &&
	       (!fast->config.heads.count ||
		       (fast->answer = mem_new(FAST_CHUNK * classes, sizeof(float)))) &&
	       (!fast->config.mix.guard ||
		       (fast->mixed = mem_new(FAST_CHUNK * classes, sizeof(float)))) &&
	       (fast->ids = mem_new(room, sizeof(*fast->ids))) &&
	       (fast->labels = mem_new(room, sizeof(*fast->labels)));
}

/* Of all displacements. */
static int terms(const struct fast_config *config)
{
	int count = 0;

	for (int i = 0; i < config->count; i++)
		count += config->parts[i].count;
	return count;
}

static int make(struct fast *fast, const struct learner *learner, struct err *err)
{
	const struct fast_config *config = &fast->config;
	int code = choose_net(fast, learner, err);

	fast->room = FAST_CHUNK;
	for (int i = 0; i < config->count; i++)
		if (fast->room < FAST_CHUNK + config->parts[i].recent)
			fast->room = FAST_CHUNK + config->parts[i].recent;
	if (!code)
		code = mix_init(&fast->mix, &config->mix, net_spec(learner->net)->classes, err);
	if (!code && config->heads.count)
		code = heads_new(&fast->heads, &config->heads, (int)learner->floats,
			net_spec(learner->net)->classes, config->seed, err);
	if (!code && !make_buffers(fast, learner))
		code = err_memory(err, "fast weights",
			(unsigned long long)terms(config) * fast->floats * sizeof(float));
	return code;
}

int fast_new(struct fast **fast, const struct fast_config *config, struct learner *learner,
	struct err *err)
{
	struct fast *made = mem_new(1, sizeof(*made));
	int code;

	*fast = NULL;
	if (!made)
		return err_memory(err, "fast weights", sizeof(*made));
	made->config = *config;
	code = make(made, learner, err);
	if (code)
		fast_free(made);
	else
		*fast = made;
	return code;
}

void fast_free(struct fast *fast)
{
	if (!fast)
		return;
	if (fast->head || fast->config.head)
		runner_free(fast->runner);
	net_free(fast->head);
	for (int i = 0; i < FAST_PARTS * FAST_TERMS; i++)
		mem_free(fast->delta[i / FAST_TERMS][i % FAST_TERMS]);
	mem_free(fast->point);
	mem_free(fast->looked.inputs);
	mem_free(fast->looked.logits);
	mem_free(fast->grad);
	mem_free(fast->stats);
	mem_free(fast->squares);
	heads_free(fast->heads);
	mem_free(fast->inputs);
	mem_free(fast->features);
	mem_free(fast->losses);
	mem_free(fast->weights);
	mem_free(fast->logits);
	mem_free(fast->answer);
	mem_free(fast->mixed);
	mem_free(fast->ids);
	mem_free(fast->labels);
	mix_release(&fast->mix);
	mem_free(fast);
}

void fast_restart(struct fast *fast)
{
	for (int i = 0; i < fast->config.count; i++)
		fast_clear(fast, i);
	mix_restart(&fast->mix);
}

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

static bool has_looked(const struct learner *learner, const float *inputs, int n)
{
	const struct fast_looked *looked = &learner->fast->looked;

	return looked->n == n && looked->version == learner->version &&
	       looked->slow == learner_weights(learner, LEARNER_INFERENCE) &&
	       !memcmp(looked->inputs, inputs, (size_t)n * learner->floats * sizeof(*inputs));
}

int fast_look(struct learner *learner, const float *inputs, int n, const float **seen,
	float *logits, struct err *err)
{
	struct fast *fast = learner->fast;

	*seen = fast->features ? fast->features : inputs;
	if (has_looked(learner, inputs, n)) {
		memcpy(logits, fast->looked.logits,
			(size_t)n * (size_t)fast->mix.classes * sizeof(*logits));
		return 0;
	}
	fast->looked.n = 0; /* features are of what is looked at last */
	return runner_features(learner->runner, learner_weights(learner, LEARNER_INFERENCE),
		learner_stats(learner, LEARNER_INFERENCE), inputs, n, logits, fast->features, err);
}

/* A chunk that is asked about: by which weights, and where the answer is gathered. */
struct asking {
	const double *weights;
	bool by_class; /* in their place */
	const float *inputs, *seen;
	int n;
	float *sum;
};

/* The same, and keeps what was seen for when these samples are learned from. */
static int look_and_keep(struct learner *learner, struct asking *a, float *logits, struct err *err)
{
	struct fast *fast = learner->fast;
	struct fast_looked *looked = &fast->looked;
	const int code = fast_look(learner, a->inputs, a->n, &a->seen, logits, err);

	if (code || looked->n)
		return code;
	memcpy(looked->inputs, a->inputs, (size_t)a->n * learner->floats * sizeof(*a->inputs));
	memcpy(looked->logits, logits, (size_t)a->n * (size_t)fast->mix.classes * sizeof(*logits));
	looked->n = a->n;
	looked->version = learner->version;
	looked->slow = learner_weights(learner, LEARNER_INFERENCE);
	return 0;
}

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
	code = look_and_keep(learner, a, fast->logits, err);
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
		code = look_and_keep(learner, a, a->sum, err);
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

double fast_slow_efficacy(const struct fast *fast)
{
	return fast->steps ? fast->slow_hits / (double)fast->steps : (double)NAN;
}

const struct mix *fast_mix(const struct fast *fast)
{
	return &fast->mix;
}

const struct fast_config *fast_settings(const struct fast *fast)
{
	return &fast->config;
}

double fast_bytes(const struct fast *fast)
{
	return (double)terms(&fast->config) * (double)fast->floats * sizeof(float) +
	       (fast->heads ? heads_bytes(fast->heads) : 0);
}

void fast_state(struct fast *fast, struct state *state)
{
	state_enter(state, "fast");
	state_int64(state, "steps", &fast->steps);
	state_double(state, "slow_hits", &fast->slow_hits);
	for (int i = 0; i < fast->config.count; i++)
		for (int t = 0; t < fast->config.parts[i].count; t++)
			state_params(state, "delta", fast->delta[i][t], fast->floats);
	fast->point_of = 0;
	fast->looked.n = 0;
	mix_state(&fast->mix, state);
	if (fast->heads)
		heads_state(fast->heads, state);
	state_leave(state);
}
