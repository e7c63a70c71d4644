/*
 * How fast weights learn. A pass of a part gives the losses that its record needs, so the
 * record costs nothing; only nets with batch norm, which compute otherwise in training, go
 * forward once more.
 *
 * A rate is right for a net only as long as a step does not overshoot. So the step is
 * cut such that, to first order, it lowers the loss L by a share `reach` of it at most:
 * rate |g|^2 <= reach L, of several terms the sum of their rates. A net whose outputs depend
 * strongly on its weights thus has smaller steps, without anybody tuning them.
 */
#include <math.h>
#include <string.h>

#include "learn/parts/fast_impl.h"
#include "nn/rank.h"

enum { NEWEST = 300 }; /* recent samples are drawn from so many */

/* One step of a part at its point. A gradient that is no number clears the displacement. */
static void move(struct learner *learner, int part, double loss, bool forgets)
{
	const struct fast_part *row = &learner->fast->config.parts[part];
	const double square = fast_square(learner);
	const double most = learner->fast->config.reach * loss / square;
	double rate = 0;

	for (int t = 0; t < row->count; t++)
		rate += row->terms[t].rate;
	if (isfinite(square) && isfinite(loss))
		fast_move(learner, part, most < rate ? most / rate : 1, forgets);
	else
		fast_clear(learner->fast, part);
}

/* Forward and backward at a part's point, which does not touch the slow net's statistics. */
static int gradient_at(struct learner *learner, int part, const struct runner_batch *batch,
	float *loss, struct err *err)
{
	struct fast *fast = learner->fast;
	const float *params = fast_point(learner, part);

	if (fast->stats)
		memcpy(fast->stats, learner_stats(learner, LEARNER_INFERENCE),
			net_stats(learner->net)->floats * sizeof(float));
	return runner_gradient(fast->runner, params, fast->stats, batch, fast_grad(learner), loss,
		fast->losses, fast->mixed ? fast->logits : NULL, err);
}

/* What a head sees of recent samples, which stand behind the n of a chunk. */
static int look_recent(struct learner *learner, int n, int recent, struct err *err)
{
	struct fast *fast = learner->fast;

	return runner_features(learner->runner, learner_weights(learner, LEARNER_INFERENCE),
		learner_stats(learner, LEARNER_INFERENCE),
		fast->inputs + (size_t)n * learner->floats, recent, fast->logits,
		fast->features + (size_t)n * fast->width, err);
}

/*
 * Recent samples join the n of a chunk that stand in the buffers; returns how many there
 * are. Of their features the slow net's pass is counted as one for its record.
 */
static int add_recent(struct learner *learner, int part, int n, struct err *err)
{
	struct fast *fast = learner->fast;
	const int recent = fast->config.parts[part].recent;
	const int64_t oldest = pool_seen(learner->pool) - NEWEST;
	float *inputs = fast->inputs + (size_t)n * learner->floats;
	int code;

	if (!pool_draw(learner->pool, (uint64_t)learner->steps, POOL_POSITIONS - recent,
		    oldest > 0 ? oldest : 0, fast->ids, recent))
		return n;
	code = learner_fetch_all(learner, fast->ids, recent, inputs, fast->labels + n, err);
	if (!code && fast->head) {
		learner_tell(learner, LEARNER_FAST_FORWARD, recent);
		code = look_recent(learner, n, recent, err);
	}
	return code ? code : n + recent;
}

/* Two sweeps for each term. */
static void tell_step(const struct learner *learner, const struct fast_part *row, int n)
{
	const struct fast *fast = learner->fast;
	const double sweeps = 2 * (double)fast->floats;

	if (fast->head)
		learner_tell_macs(learner, n * 3 * net_macs(fast->head) + row->count * sweeps);
	else
		learner_tell(learner, LEARNER_FAST_STEP, n);
	if (!fast->head && row->count > 1)
		learner_tell_macs(learner, (row->count - 1) * sweeps);
}

/*
 * A chunk that is learned from: what it is, what parts see of it, and what they weigh in
 * answers.
 */
struct lesson {
	const float *inputs, *seen;
	const int32_t *labels;
	int n;
	double weights[MIX_MODELS];
};

/* Of a model's probabilities, for the guard. */
static void add_mixed(struct fast *fast, const struct lesson *lesson, int model, double prior)
{
	if (fast->mixed && fast->config.mix.by_class)
		mix_add_by_class(&fast->mix, model, fast->logits, lesson->n, fast->mixed);
	else if (fast->mixed)
		mix_add(&fast->mix, lesson->weights[model], prior, fast->logits, lesson->n,
			fast->mixed);
}

static int learn_part(
	struct learner *learner, int part, const struct lesson *lesson, struct err *err)
{
	struct fast *fast = learner->fast;
	const struct fast_part *row = &fast->config.parts[part];
	const struct runner_batch own = {
		.input = lesson->seen, .labels = lesson->labels, .n = lesson->n};
	struct runner_batch batch = own;
	float loss;
	int code = 0;

	if (row->recent) {
		batch.n = add_recent(learner, part, own.n, err);
		batch.input = fast->head ? fast->features : fast->inputs;
		batch.labels = fast->labels;
		code = batch.n < 0 ? batch.n : 0;
	}
	for (int pass = 0; pass < row->passes && !code; pass++) {
		code = gradient_at(learner, part, &batch, &loss, err);
		if (!code && !pass && fast->stats)
			code = runner_score(fast->runner, fast->point,
				learner_stats(learner, LEARNER_INFERENCE), &own, fast->losses,
				fast->logits, err);
		if (code)
			return code;
		if (!pass)
			mix_score(&fast->mix, 1 + part, fast->losses, own.n);
		if (!pass && fast->mixed) {
			fast_softmax(learner, fast->logits, own.labels, own.n);
			add_mixed(fast, lesson, 1 + part, 0);
		}
		move(learner, part, (double)loss, pass + 1 == row->passes);
		tell_step(learner, row, batch.n);
	}
	return code;
}

/* Heads' records; and, with the slow net's probabilities, the answer about ever. */
static int score_heads(struct learner *learner, const struct lesson *lesson)
{
	struct fast *fast = learner->fast;
	const int classes = fast->mix.classes, n = lesson->n;
	double weights[MIX_MODELS];

	fast_ever_weights(fast, weights);
	memset(fast->answer, 0, (size_t)n * (size_t)classes * sizeof(float));
	mix_add(&fast->mix, weights[0], 0, fast->logits, n, fast->answer);
	for (int i = 0; i < fast->config.heads.count; i++) {
		const int model = 1 + fast->config.count + i;

		heads_predict(
			fast->heads, learner->engine->team, i, lesson->inputs, n, fast->logits);
		for (int k = 0; k < n; k++)
			fast->losses[k] = -logf(fast->logits[k * classes + lesson->labels[k]]);
		mix_score(&fast->mix, model, fast->losses, n);
		mix_add(&fast->mix, weights[model], 0, fast->logits, n, fast->answer);
		add_mixed(fast, lesson, model, 0);
	}
	learner_tell_macs(learner, heads_macs(fast->heads, n));
	return rank_hits(fast->answer, classes, lesson->labels, n);
}

/* The record of the slow net and of all that does not learn by steps; what parts see. */
static int score(struct learner *learner, struct lesson *lesson, int *hits, struct err *err)
{
	struct fast *fast = learner->fast;
	const int n = lesson->n;
	const int code = fast_look(learner, lesson->inputs, n, &lesson->seen, fast->logits, err);

	if (code)
		return code;
	learner_tell(learner, LEARNER_FAST_FORWARD, n);
	if (!fast->heads)
		*hits += rank_hits(fast->logits, fast->mix.classes, lesson->labels, n);
	fast_softmax(learner, fast->logits, lesson->labels, n);
	mix_look(&fast->mix, fast->logits, n);
	mix_score(&fast->mix, 0, fast->losses, n);
	mix_score_prior(&fast->mix, fast->logits, lesson->labels, n);
	if (fast->mixed) {
		memset(fast->mixed, 0, (size_t)n * (size_t)fast->mix.classes * sizeof(float));
		fast_now_weights(fast, lesson->weights);
		add_mixed(fast, lesson, 0, fast_prior_weight(fast, lesson->weights));
	}
	if (fast->heads)
		*hits += score_heads(learner, lesson);
	return 0;
}

static void tell_lead(const struct learner *learner)
{
	const struct fast *fast = learner->fast;
	const struct mix *mix = &fast->mix;
	struct learner_lead lead = {.iteration = learner->iteration,
		.step = learner->steps,
		.models = mix->count,
		.lead = mix->lead};

	for (int i = 0; i < fast->config.heads.count; i++)
		lead.names[1 + fast->config.count + i] = head_name(fast->config.heads.kinds[i]);
	if (mix->config.prior > 0)
		lead.names[mix->count - 1] = "prior";
	mix_weights(mix, lead.weights);
	if (learner->watch.lead)
		learner->watch.lead(learner->watch.context, &lead);
}

static int learn_chunk(struct learner *learner, struct lesson *lesson, int *hits, struct err *err)
{
	struct fast *fast = learner->fast;
	int code = score(learner, lesson, hits, err);

	for (int i = 0; i < fast->config.count && !code; i++)
		code = learn_part(learner, i, lesson, err);
	if (code)
		return code;
	if (fast->heads)
		heads_learn(fast->heads, lesson->inputs, lesson->labels, lesson->n);
	if (fast->mixed)
		mix_score_guesses(&fast->mix, fast->mixed, lesson->labels, lesson->n);
	if (mix_reveal(&fast->mix, lesson->labels, lesson->n))
		tell_lead(learner);
	return 0;
}

/* A chunk must be in the buffers if its inputs are in the store, or if recent ones join it. */
static int fill_chunk(struct learner *learner, int64_t first, const float *inputs,
	const int32_t *labels, int n, struct err *err)
{
	struct fast *fast = learner->fast;

	for (int i = 0; i < n; i++)
		fast->ids[i] = first + i;
	if (!inputs)
		return learner_fetch_all(learner, fast->ids, n, fast->inputs, fast->labels, err);
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
			code = learn_chunk(learner,
				&(struct lesson){.inputs = copies ? fast->inputs : some,
					.labels = labels + at,
					.n = count},
				&hits, err);
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
	const float *seen;
	int code;

	if (fast->ready[n])
		return 0;
	memset(fast->inputs, 0, (size_t)fast->room * learner->floats * sizeof(float));
	memset(fast->labels, 0, (size_t)fast->room * sizeof(*fast->labels));
	code = fast_look(learner, fast->inputs, n, &seen, fast->logits, err);
	for (int i = 0; i < fast->config.count && !code; i++) {
		const int recent = fast->config.parts[i].recent;
		const struct runner_batch batch = {
			.input = fast->head ? fast->features : fast->inputs,
			.labels = fast->labels,
			.n = n + recent};

		code = gradient_at(learner, i, &batch, NULL, err);
		if (!code && recent && fast->head)
			code = look_recent(learner, n, recent, err);
	}
	fast->ready[n] = !code;
	return code;
}

int fast_ready(struct learner *learner, int n, struct err *err)
{
	int code = n >= FAST_CHUNK ? make_ready(learner, FAST_CHUNK, err) : 0;

	if (!code && n % FAST_CHUNK)
		code = make_ready(learner, n % FAST_CHUNK, err);
	return code || !learner->fast->heads ? code : heads_reserve(learner->fast->heads, n, err);
}
