/* What rank 0 tells the others, and what they tell each other when they meet. */
#include "learn/learner_ranks.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "learn/learner_impl.h"
#include "nn/ranks/shared.h"

void learner_wire(void *ranks, void *bytes, size_t size)
{
	((struct ranks *)ranks)->type->share(ranks, 0, bytes, size);
}

void learner_call(struct ranks *ranks, const struct learner_told *told)
{
	struct learner_told copy = *told;

	if (!ranks_alone(ranks) && ranks->rank == 0 && !ranks->lost)
		ranks->type->hear(ranks, &copy, sizeof(copy));
}

int learner_called(struct learner *learner, int code)
{
	if (learner->ranks && code && !learner->diverged)
		learner->ranks->lost = true;
	return code;
}

void learner_call_new(const struct learner_config *config)
{
	struct learner_config copy = *config;

	if (ranks_alone(config->ranks) || config->ranks->rank)
		return;
	learner_call(config->ranks, &(struct learner_told){LEARNER_CALL_NEW});
	config->ranks->type->share(config->ranks, 0, &copy, sizeof(copy));
}

/* What ranks tell each other of themselves: what must be alike, and what went wrong. */
struct identity {
	char host[RANKS_HOST], isa[16], data[64];
	int64_t params;
	int32_t code;
	char message[sizeof(((struct err *)0)->message)];
};

static void put(char *out, size_t size, const char *text)
{
	snprintf(out, size, "%s", text ? text : "");
}

static struct identity introduce(
	const struct ranks *ranks, const struct learner *learner, int code, const struct err *err)
{
	struct identity me = {.code = code};

	put(me.host, sizeof(me.host), ranks->host);
	if (code) {
		put(me.message, sizeof(me.message), err->message);
		return me;
	}
	put(me.data, sizeof(me.data), learner->config.data);
	put(me.isa, sizeof(me.isa), engine_isa(learner->engine));
	me.params = (int64_t)net_params(learner->net)->floats;
	return me;
}

/* Whether a rank can work with rank 0. */
static int compare(
	const struct identity *first, const struct identity *other, int rank, struct err *err)
{
	if (other->code)
		return rank ? err_set(err, other->code, "rank %d on %s: %s", rank, other->host,
				      other->message)
			    : other->code;
	if (strcmp(first->isa, other->isa))
		return err_set(err, ERR_INPUT,
			"rank %d on %s computes with %s, and rank 0 on %s with %s, which makes "
			"other bits; set engine.isa to what both have",
			rank, other->host, other->isa, first->host, first->isa);
	if (strcmp(first->data, other->data))
		return err_set(err, ERR_INPUT,
			"rank %d on %s has other data than rank 0 on %s: %s, not %s", rank,
			other->host, first->host, other->data, first->data);
	if (first->params != other->params)
		return err_set(err, ERR_INPUT,
			"rank %d on %s has a net of %lld parameters, and rank 0 on %s one of %lld",
			rank, other->host, (long long)other->params, first->host,
			(long long)first->params);
	return 0;
}

int learner_meet(struct ranks *ranks, const struct learner *learner, int code, struct err *err)
{
	struct identity *all;
	size_t begins[RANKS_MOST + 1];

	if (ranks_alone(ranks))
		return code;
	all = mem_new((size_t)ranks->count, sizeof(*all));
	if (!all) {
		ranks->lost = true;
		return err_memory(err, "what ranks are", (size_t)ranks->count * sizeof(*all));
	}
	for (int r = 0; r <= ranks->count; r++)
		begins[r] = (size_t)r;
	all[ranks->rank] = introduce(ranks, learner, code, err);
	ranks->type->gather(ranks, all, sizeof(*all), begins);
	for (int r = 0; r < ranks->count && !code; r++)
		code = compare(&all[0], &all[r], r, err);
	mem_free(all);
	return code;
}

int learner_share_weights(struct learner *learner, int code)
{
	struct ranks *ranks = learner->ranks;
	const size_t stats = net_stats(learner->net)->floats;
	int32_t told = code;

	if (!ranks)
		return code;
	ranks->type->share(ranks, 0, &told, sizeof(told));
	if (told)
		return told;
	ranks->type->share(
		ranks, 0, learner->params, net_params(learner->net)->floats * sizeof(float));
	if (stats)
		ranks->type->share(ranks, 0, learner->stats[0], stats * sizeof(float));
	if (learner->scale.scaling)
		scaling_share(learner->scale.scaling, ranks);
	return 0;
}

/* Inputs that this rank has room for. */
static int make_room(struct learner *learner, int n, struct err *err)
{
	const size_t floats = (size_t)n * learner->floats;
	float *more;

	if (floats <= learner->heard_room)
		return 0;
	more = mem_resize(learner->heard, floats, sizeof(*more));
	if (!more)
		return err_memory(err, "inputs", floats * sizeof(*more));
	learner->heard = more;
	learner->heard_room = floats;
	return 0;
}

/* Whether what is revealed is used beyond the store, and so must be where every rank is. */
static bool uses_revealed(const struct learner *learner)
{
	EXTRAS_EACH (learner, foresee)
		return true;
	return learner->parts || learner->scale.scaling || loss_sees(learner->loss);
}

void learner_call_reveal(struct learner *learner, const float *inputs, const int32_t *labels, int n)
{
	struct ranks *ranks = learner->ranks;
	const bool all = inputs && learner->ranks && uses_revealed(learner);

	learner_call(ranks, &(struct learner_told){LEARNER_CALL_REVEAL, n, .flag = all});
	if (!ranks || ranks->rank || ranks->lost)
		return;
	ranks->type->share(ranks, 0, (void *)labels, (size_t)n * sizeof(*labels));
	if (all)
		ranks->type->share(
			ranks, 0, (void *)inputs, (size_t)n * learner->floats * sizeof(*inputs));
}

/* Rank 0 sends inputs: to each what it needs, or all to all. */
static void send_inputs(struct learner *learner, float *inputs, int n, bool all)
{
	struct ranks *ranks = learner->ranks;

	if (all)
		ranks->type->share(ranks, 0, inputs, (size_t)n * learner->floats * sizeof(*inputs));
	else
		learner_deal(learner, inputs, n);
}

int learner_hear_inputs(struct learner *learner, int n, bool all, struct err *err)
{
	const int code = make_room(learner, n, err);

	if (!code)
		send_inputs(learner, learner->heard, n, all);
	return code;
}

/*
 * Predicting alone, where a batch is not cut and the weights are at hand, needs nobody. With
 * a mixture, chunks of the inputs are asked about, so everyone needs all of them.
 */
static int predict(struct learner *learner, int model, const float *inputs, int n, bool seen,
	float *logits, struct err *err)
{
	const bool asks = model == LEARNER_NOW || model == LEARNER_EVER;
	const bool all = learner_mixes(learner, model);

	if (!learner->ranks || !shared_cuts(learner->runner, n)) {
		learner_params(learner, asks ? LEARNER_INFERENCE : model);
		return learner_predict_here(learner, model, inputs, n, logits, err);
	}
	learner_call(learner->ranks,
		&(struct learner_told){LEARNER_CALL_PREDICT, n, model, .flag = seen});
	if (!seen)
		send_inputs(learner, (float *)inputs, n, all);
	return learner_called(
		learner, learner_predict_here(learner, model, inputs, n, logits, err));
}

int learner_predict(struct learner *learner, int model, const float *inputs, int n, float *logits,
	struct err *err)
{
	return predict(learner, model, inputs, n, false, logits, err);
}

int learner_predict_seen(struct learner *learner, int model, const float *inputs, int n,
	float *logits, struct err *err)
{
	return predict(learner, model, inputs, n, true, logits, err);
}

/* A mixture needs all inputs, and whether one will be asked is not known yet. */
static int look_here(struct learner *learner, int kind, const int64_t *ids, int n, float *inputs,
	struct err *err)
{
	int first = 0, count = n;

	if (learner->ranks && !learner->parts)
		runner_reads(learner->runner, n, &first, &count);
	return learner->config.load(learner->config.load_context, kind, ids + first, count,
		inputs + (size_t)first * learner->floats, err);
}

int learner_look(struct learner *learner, int kind, const int64_t *ids, int n, float *inputs,
	struct err *err)
{
	struct ranks *ranks = learner->ranks;

	if (!ranks || !shared_cuts(learner->runner, n))
		return look_here(learner, kind, ids, n, inputs, err);
	learner_call(ranks, &(struct learner_told){LEARNER_CALL_LOOK, n, kind});
	ranks->type->share(ranks, 0, (void *)ids, (size_t)n * sizeof(*ids));
	return learner_called(learner, look_here(learner, kind, ids, n, inputs, err));
}

int learner_hear_look(struct learner *learner, int kind, int n, struct err *err)
{
	struct ranks *ranks = learner->ranks;
	int64_t *ids = mem_new((size_t)n, sizeof(*ids));
	int code =
		ids ? make_room(learner, n, err) : err_memory(err, "ids", (size_t)n * sizeof(*ids));

	if (!code) {
		ranks->type->share(ranks, 0, ids, (size_t)n * sizeof(*ids));
		code = look_here(learner, kind, ids, n, learner->heard, err);
	}
	mem_free(ids);
	return code;
}
