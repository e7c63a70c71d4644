/*
 * A part's gradient is taken at "slow weights + displacement", which is made anew for
 * every pass, since the slow weights move all the time. The pass gives the losses that
 * the part's record needs, so the record costs nothing; only nets with batch norm,
 * which compute otherwise in training, go forward once more.
 *
 * A rate is right for a net only as long as a step does not overshoot. So the step is
 * cut such that, to first order, it lowers the loss L by a share `reach` of it at most:
 * rate |g|^2 <= reach L. A net whose outputs depend strongly on its weights thus has
 * smaller steps, without anybody tuning them.
 *
 * Sweeps over the parameters are cut into slices at fixed places, so the bits do not
 * depend on the number of threads.
 */
#include "learn/fast.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "learn/learner_impl.h"
#include "nn/kernels.h"
#include "nn/rank.h"

enum {
	SLICE = 1 << 14,
	NEWEST = 300, /* recent samples are drawn from so many */
};

struct fast {
	struct fast_config config;
	struct mix mix;
	size_t first, floats;     /* of the parameters: those that are displaced */
	float *delta[FAST_PARTS]; /* displacements */
	float *point;             /* slow weights + displacement */
	float *stats;             /* batch norm's; a gradient's are thrown away */
	float *squares;           /* of a gradient, by slices */
	int room;                 /* samples of the buffers below: a chunk and recent ones */
	float *inputs, *losses, *weights;
	float *logits; /* [FAST_CHUNK][classes] */
	int64_t *ids;
	int32_t *labels;
	int64_t steps;    /* time steps, */
	double slow_hits; /* and the sum of their shares that the slow net had right */
	bool ready[FAST_CHUNK + 1];
};

/* The last layer's are the last dense tensor's and those behind it. */
static size_t head_begins(const struct param_table *table)
{
	int row = table->count - 1;

	while (row > 0 && table->rows[row].kind != PARAM_DENSE)
		row--;
	return table->rows[row].offset;
}

static bool make_buffers(struct fast *fast, const struct learner *learner)
{
	const struct param_table *table = net_params(learner->net);
	const size_t stats = net_stats(learner->net)->floats, room = (size_t)fast->room;
	const size_t classes = (size_t)net_spec(learner->net)->classes;

	for (int i = 0; i < fast->config.count; i++)
		if (!(fast->delta[i] = mem_new(fast->floats, sizeof(float))))
			return false;
	return (fast->point = mem_new(table->floats, sizeof(float))) &&
	       (!stats || (fast->stats = mem_new(stats, sizeof(float)))) &&
	       (fast->squares = mem_new(fast->floats / SLICE + 1, sizeof(float))) &&
	       (fast->inputs = mem_new(room * learner->floats, sizeof(float))) &&
	       (fast->losses = mem_new(room, sizeof(float))) &&
	       (fast->weights = mem_new(room, sizeof(float))) &&
	       (fast->logits = mem_new(room * classes, sizeof(float))) &&
	       (fast->ids = mem_new(room, sizeof(*fast->ids))) &&
	       (fast->labels = mem_new(room, sizeof(*fast->labels)));
}

int fast_new(struct fast **fast, const struct fast_config *config, struct learner *learner,
	struct err *err)
{
	const struct param_table *table = net_params(learner->net);
	struct fast *made = mem_new(1, sizeof(*made));
	int code;

	*fast = NULL;
	if (!made)
		return err_memory(err, "fast weights", sizeof(*made));
	made->config = *config;
	made->first = config->head ? head_begins(table) : 0;
	made->floats = table->floats - made->first;
	made->room = FAST_CHUNK;
	for (int i = 0; i < config->count; i++)
		if (made->room < FAST_CHUNK + config->parts[i].recent)
			made->room = FAST_CHUNK + config->parts[i].recent;
	code = mix_init(&made->mix, &config->mix, net_spec(learner->net)->classes, err);
	if (!code && !make_buffers(made, learner))
		code = err_memory(err, "fast weights",
			(unsigned long long)config->count * made->floats * sizeof(float));
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
	for (int i = 0; i < FAST_PARTS; i++)
		mem_free(fast->delta[i]);
	mem_free(fast->point);
	mem_free(fast->stats);
	mem_free(fast->squares);
	mem_free(fast->inputs);
	mem_free(fast->losses);
	mem_free(fast->weights);
	mem_free(fast->logits);
	mem_free(fast->ids);
	mem_free(fast->labels);
	mix_release(&fast->mix);
	mem_free(fast);
}

void fast_restart(struct fast *fast)
{
	for (int i = 0; i < fast->config.count; i++)
		memset(fast->delta[i], 0, fast->floats * sizeof(float));
	mix_restart(&fast->mix);
}

/* out = a x + b y over many floats; and, where squares are wanted, |y|^2 instead. */
struct sweep {
	const struct kernels *kernels;
	const float *x, *y;
	float *out, *squares;
	size_t floats;
	float a, b;
};

static void sweep_task(void *context, int task, int worker)
{
	const struct sweep *s = context;
	const size_t at = (size_t)task * SLICE, left = s->floats - at;
	const size_t count = left < SLICE ? left : SLICE;
	float sum;

	(void)worker;
	if (s->squares)
		s->kernels->row_products(s->y + at, s->y + at, 0, count, &sum, &s->squares[task]);
	else
		s->kernels->row_combine(s->x + at, s->y + at, s->out + at, count, s->a, s->b, 0);
}

static void sweep(const struct learner *learner, struct sweep *s)
{
	s->kernels = learner->engine->kernels;
	s->floats = learner->fast->floats;
	team_run(learner->engine->team, (int)((s->floats + SLICE - 1) / SLICE), sweep_task, s);
}

static double gradient_square(const struct learner *learner)
{
	const struct fast *fast = learner->fast;
	struct sweep s = {.y = learner->grad + fast->first, .squares = fast->squares};
	double sum = 0;

	sweep(learner, &s);
	for (size_t i = 0; i < (fast->floats + SLICE - 1) / SLICE; i++)
		sum += (double)fast->squares[i];
	return sum;
}

/* The weights of a model of the mixture: the slow ones, or with a part's displacement. */
static const float *weights_of(const struct learner *learner, int model)
{
	const float *slow = learner_params(learner, LEARNER_INFERENCE);
	struct fast *fast = learner->fast;

	if (!model)
		return slow;
	if (fast->first)
		memcpy(fast->point, slow, fast->first * sizeof(float));
	sweep(learner, &(struct sweep){.x = slow + fast->first,
			       .y = fast->delta[model - 1],
			       .out = fast->point + fast->first,
			       .a = 1,
			       .b = 1});
	return fast->point;
}

/* Makes probabilities of logits, in place; and losses. */
static void softmax(const struct learner *learner, float *logits, const int32_t *labels, int n)
{
	const struct fast *fast = learner->fast;
	const size_t classes = (size_t)fast->mix.classes;

	/* The kernel's gradient is the probabilities but for the label's, which is less by 1. */
	for (int i = 0; i < n; i++)
		fast->weights[i] = 1;
	learner->engine->kernels->softmax_loss(
		logits, fast->mix.classes, labels, fast->weights, n, fast->losses, logits);
	for (int i = 0; i < n; i++)
		logits[(size_t)i * classes + (size_t)labels[i]] += 1;
}

static int forward(struct learner *learner, const float *params, const float *inputs, int n,
	float *logits, struct err *err)
{
	return runner_infer(learner->runner, params, learner_stats(learner, LEARNER_INFERENCE),
		inputs, n, logits, err);
}

/* Adds to `sum` what a model, and the prior by it, say of n samples. */
static int add_answers(struct learner *learner, int model, const double weights[2],
	const float *inputs, int n, float *sum, struct err *err)
{
	struct fast *fast = learner->fast;
	const size_t classes = (size_t)fast->mix.classes;
	const float *params = weights_of(learner, model);
	int code = 0;

	memset(fast->labels, 0, FAST_CHUNK * sizeof(*fast->labels));
	for (int at = 0; at < n && !code; at += FAST_CHUNK) {
		const int count = n - at < FAST_CHUNK ? n - at : FAST_CHUNK;

		code = forward(learner, params, inputs + (size_t)at * learner->floats, count,
			fast->logits, err);
		if (code)
			return code;
		softmax(learner, fast->logits, fast->labels, count);
		mix_add(&fast->mix, weights[0], weights[1], fast->logits, count,
			sum + (size_t)at * classes);
	}
	return code;
}

/* Who weighs nothing is not asked; who weighs all is asked alone, and needs no mixing. */
int fast_predict(
	struct learner *learner, const float *inputs, int n, float *logits, struct err *err)
{
	struct fast *fast = learner->fast;
	const bool prior = fast->config.mix.prior > 0;
	double weights[MIX_MODELS];
	int code = 0;

	mix_weights(&fast->mix, weights);
	memset(logits, 0, (size_t)n * (size_t)fast->mix.classes * sizeof(*logits));
	for (int model = 0; model <= fast->config.count && !code; model++) {
		const double by_prior = prior && !model ? weights[fast->mix.count - 1] : 0;

		if (weights[model] + by_prior <= 0)
			continue;
		learner_tell(learner, LEARNER_PREDICT, n);
		if (weights[model] >= 1)
			return forward(learner, weights_of(learner, model), inputs, n, logits, err);
		code = add_answers(learner, model, (const double[]){weights[model], by_prior},
			inputs, n, logits, err);
	}
	if (!code)
		mix_log(&fast->mix, logits, n);
	return code;
}

/* How long a step may be, by `reach`. */
static double step_rate(const struct learner *learner, double rate, double loss)
{
	const double square = gradient_square(learner);
	const double most = learner->fast->config.reach * loss / square;

	if (!isfinite(square) || !isfinite(loss))
		return NAN;
	return most < rate ? most : rate;
}

/* One step of a part at its point, then `keep` of the displacement is left. A gradient that is no
 * number clears it. */
static void move(struct learner *learner, int part, double rate, double loss, double keep)
{
	struct fast *fast = learner->fast;
	const double step = step_rate(learner, rate, loss);
	float *delta = fast->delta[part];

	if (isnan(step)) {
		memset(delta, 0, fast->floats * sizeof(float));
		return;
	}
	sweep(learner, &(struct sweep){.x = delta,
			       .y = learner->grad + fast->first,
			       .out = delta,
			       .a = (float)keep,
			       .b = (float)(-keep * step)});
}

/* Forward and backward at a part's point, which does not touch the slow net's statistics. */
static int gradient(struct learner *learner, int part, const struct runner_batch *batch,
	float *loss, struct err *err)
{
	struct fast *fast = learner->fast;
	const float *params = weights_of(learner, 1 + part);

	if (fast->stats)
		memcpy(fast->stats, learner_stats(learner, LEARNER_INFERENCE),
			net_stats(learner->net)->floats * sizeof(float));
	return runner_gradient(learner->runner, params, fast->stats, batch, learner->grad, loss,
		fast->losses, NULL, err);
}

/* Recent samples join the n of a chunk that stand in the buffers; returns how many there are. */
static int add_recent(struct learner *learner, int part, int n, struct err *err)
{
	struct fast *fast = learner->fast;
	const int recent = fast->config.parts[part].recent;
	const int64_t oldest = pool_seen(learner->pool) - NEWEST;
	int code;

	if (!recent || !pool_draw(learner->pool, (uint64_t)learner->steps, POOL_POSITIONS - recent,
			       oldest > 0 ? oldest : 0, fast->ids, recent))
		return n;
	code = learner_fetch(learner, fast->ids, recent, fast->inputs + (size_t)n * learner->floats,
		fast->labels + n, err);
	return code ? code : n + recent;
}

/* A chunk's n samples stand first in the batch. */
static int learn_part(struct learner *learner, int part, const float *inputs, const int32_t *labels,
	int n, struct err *err)
{
	struct fast *fast = learner->fast;
	const struct fast_part *row = &fast->config.parts[part];
	struct runner_batch batch = {.input = inputs, .labels = labels, .n = n};
	float loss;
	int code = 0;

	if (row->recent) {
		batch.n = add_recent(learner, part, n, err);
		batch.input = fast->inputs;
		batch.labels = fast->labels;
		code = batch.n < 0 ? batch.n : 0;
	}
	for (int pass = 0; pass < row->passes && !code; pass++) {
		code = gradient(learner, part, &batch, &loss, err);
		if (!code && !pass && fast->stats)
			code = runner_score(learner->runner, fast->point,
				learner_stats(learner, LEARNER_INFERENCE),
				&(struct runner_batch){.input = inputs, .labels = labels, .n = n},
				fast->losses, fast->logits, err);
		if (code)
			return code;
		if (!pass)
			mix_score(&fast->mix, 1 + part, fast->losses, n);
		move(learner, part, row->rate, (double)loss,
			pass + 1 < row->passes ? 1 : row->keep);
		learner_tell(learner, LEARNER_FAST_STEP, batch.n);
	}
	return code;
}

/* The slow net's record, and how many samples it has right. */
static int score_slow(struct learner *learner, const float *inputs, const int32_t *labels, int n,
	int *hits, struct err *err)
{
	struct fast *fast = learner->fast;
	const int classes = fast->mix.classes;
	const int code = forward(learner, weights_of(learner, 0), inputs, n, fast->logits, err);

	if (code)
		return code;
	learner_tell(learner, LEARNER_FAST_FORWARD, n);
	for (int i = 0; i < n; i++)
		*hits += rank_label(fast->logits + (size_t)i * (size_t)classes, classes,
				 labels[i]) == 1;
	softmax(learner, fast->logits, labels, n);
	mix_score(&fast->mix, 0, fast->losses, n);
	mix_score_prior(&fast->mix, fast->logits, labels, n);
	return 0;
}

static void tell_lead(const struct learner *learner)
{
	const struct mix *mix = &learner->fast->mix;
	struct learner_lead lead = {.iteration = learner->iteration,
		.step = learner->steps,
		.models = mix->count,
		.lead = mix->lead,
		.prior = mix->config.prior > 0};

	mix_weights(mix, lead.weights);
	if (learner->watch.lead)
		learner->watch.lead(learner->watch.context, &lead);
}

static int learn_chunk(struct learner *learner, const float *inputs, const int32_t *labels, int n,
	int *hits, struct err *err)
{
	struct fast *fast = learner->fast;
	int code = score_slow(learner, inputs, labels, n, hits, err);

	for (int i = 0; i < fast->config.count && !code; i++)
		code = learn_part(learner, i, inputs, labels, n, err);
	if (!code && mix_reveal(&fast->mix, labels, n))
		tell_lead(learner);
	return code;
}

/* A chunk must be in the buffers if its inputs are in the store, or if recent ones join it. */
static int fill_chunk(struct learner *learner, int64_t first, const float *inputs,
	const int32_t *labels, int n, struct err *err)
{
	struct fast *fast = learner->fast;

	for (int i = 0; i < n; i++)
		fast->ids[i] = first + i;
	if (!inputs)
		return learner_fetch(learner, fast->ids, n, fast->inputs, fast->labels, err);
	memcpy(fast->inputs, inputs, (size_t)n * learner->floats * sizeof(*inputs));
	memcpy(fast->labels, labels, (size_t)n * sizeof(*labels));
	return 0;
}

int fast_learn(struct learner *learner, int64_t first, const float *inputs, const int32_t *labels,
	int n, struct err *err)
{
	struct fast *fast = learner->fast;
	const bool copies = !inputs || fast->room > FAST_CHUNK;
	int hits = 0, code = 0;

	for (int at = 0; at < n && !code; at += FAST_CHUNK) {
		const int count = n - at < FAST_CHUNK ? n - at : FAST_CHUNK;
		const float *some = inputs ? inputs + (size_t)at * learner->floats : NULL;

		if (inputs)
			code = learner_scaled(learner, &some, count, err);
		if (copies && !code)
			code = fill_chunk(learner, first + at, some, labels + at, count, err);
		if (!code)
			code = learn_chunk(learner, copies ? fast->inputs : some, labels + at,
				count, &hits, err);
	}
	if (code)
		return code;
	fast->steps++;
	fast->slow_hits += (double)hits / n;
	return 0;
}

/* A runner makes its plans for a size when it first sees it: so it is shown some zeros. */
static int make_ready(struct learner *learner, int n, struct err *err)
{
	struct fast *fast = learner->fast;
	int code;

	if (fast->ready[n])
		return 0;
	memset(fast->inputs, 0, (size_t)fast->room * learner->floats * sizeof(float));
	memset(fast->labels, 0, (size_t)fast->room * sizeof(*fast->labels));
	code = forward(learner, weights_of(learner, 0), fast->inputs, n, fast->logits, err);
	for (int i = 0; i < fast->config.count && !code; i++) {
		const struct runner_batch batch = {.input = fast->inputs,
			.labels = fast->labels,
			.n = n + fast->config.parts[i].recent};

		code = gradient(learner, i, &batch, NULL, err);
	}
	fast->ready[n] = !code;
	return code;
}

int fast_ready(struct learner *learner, int n, struct err *err)
{
	int code = n >= FAST_CHUNK ? make_ready(learner, FAST_CHUNK, err) : 0;

	if (!code && n % FAST_CHUNK)
		code = make_ready(learner, n % FAST_CHUNK, err);
	return code;
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

void fast_state(struct fast *fast, struct state *state)
{
	state_enter(state, "fast");
	state_int64(state, "steps", &fast->steps);
	state_double(state, "slow_hits", &fast->slow_hits);
	for (int i = 0; i < fast->config.count; i++)
		state_floats(state, "delta", fast->delta[i], fast->floats);
	mix_state(&fast->mix, state);
	state_leave(state);
}
