/* Rank 0's calls to the others, the distribution of samples, and the handshake. */
#include "peers.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "nn/ranks/shared.h"
#include "store/store.h"

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

int peers_meet(struct ranks *ranks, const struct learner *learner, const char *data, int code,
	struct err *err)
{
	struct identity *all = mem_new((size_t)ranks->count, sizeof(*all)), *me;
	size_t begins[RANKS_MOST + 1];

	if (!all) {
		ranks->lost = true;
		return err_memory(err, "what ranks are", (size_t)ranks->count * sizeof(*all));
	}
	me = &all[ranks->rank];
	me->code = code;
	put(me->host, sizeof(me->host), ranks->host);
	put(me->message, sizeof(me->message), code ? err->message : "");
	put(me->data, sizeof(me->data), data);
	put(me->isa, sizeof(me->isa), code ? "" : learner_isa(learner));
	me->params = code ? 0 : (int64_t)net_params(learner_net(learner))->floats;
	for (int r = 0; r <= ranks->count; r++)
		begins[r] = (size_t)r;
	ranks->type->gather(ranks, all, sizeof(*all), begins);
	for (int r = 0; r < ranks->count && !code; r++)
		code = compare(&all[0], &all[r], r, err);
	mem_free(all);
	return code;
}

static void tell(struct ranks *ranks, const struct peers_told *told)
{
	struct peers_told copy = *told;

	ranks->type->hear(ranks, &copy, sizeof(copy));
}

void peers_dismiss(struct ranks *ranks)
{
	if (!ranks->lost)
		tell(ranks, &(struct peers_told){-1});
}

/* What others need before they can make the call. Weights have all of a model. */
static void send(struct peers *peers, struct learner *learner, const struct learner_call *call)
{
	struct ranks *ranks = peers->as.ranks;
	const struct net_spec *spec;
	const size_t n = (size_t)call->n;

	if (call->kind == LEARNER_CALL_NEW) {
		ranks->type->share(ranks, 0, (void *)call->config, sizeof(*call->config));
		return;
	}
	spec = net_spec(learner_net(learner));
	if (call->ids)
		ranks->type->share(ranks, 0, (void *)call->ids, n * sizeof(*call->ids));
	if (call->labels)
		ranks->type->share(ranks, 0, (void *)call->labels,
			n * (size_t)learner_width(learner) * sizeof(*call->labels));
	if (call->guesses)
		ranks->type->share(ranks, 0, (void *)call->guesses,
			n * target_guess(learner_width(learner)) * sizeof(*call->guesses));
	if (call->weights)
		ranks->type->share(ranks, 0, (void *)call->weights, n * sizeof(*call->weights));
	if (call->inputs)
		ranks->type->share(ranks, 0, (void *)call->inputs,
			n * (size_t)spec->channels * (size_t)spec->height * (size_t)spec->width *
				sizeof(*call->inputs));
	if (call->kind == LEARNER_CALL_WEIGHTS)
		state_say(&peers->wire, learner_weights_state, learner, NULL);
	if (call->state && state_reading(call->state))
		state_tap(call->state, &peers->wire);
}

/* Predicting an unshared batch with a gathered model needs no other rank. */
static void begin(
	struct learner_peers *as, struct learner *learner, const struct learner_call *call)
{
	const bool asks = call->kind == LEARNER_CALL_LOOK || call->kind == LEARNER_CALL_PREDICT;
	struct ranks *ranks = as->ranks;

	if (ranks->rank || ranks->lost || (asks && !shared_cuts(learner_runner(learner), call->n)))
		return;
	tell(ranks, &(struct peers_told){call->kind, call->n, call->model,
			    .flag = call->state ? state_reading(call->state) : !!call->inputs,
			    .version = call->state ? state_version(call->state) : STATE_VERSION,
			    .count = call->weights ? 1 : call->count, .factor = call->factor});
	send((struct peers *)as, learner, call);
}

/*
 * After a failure nobody knows where others are. But a file that cannot be written is no reason
 * to lose them: all visit all fields.
 */
static int end(struct learner_peers *as, struct learner *learner, const struct learner_call *call,
	int code, struct err *err)
{
	struct ranks *ranks = as->ranks;

	if (call->kind == LEARNER_CALL_NEW) {
		code = peers_meet(ranks, learner, call->config->data, code, err);
		return code ? code
			    : shared_worth(learner_runner(learner),
				      learner_params(learner, LEARNER_PLAIN),
				      options_int(call->config->options, "run.batch"), err);
	}
	if (call->state && state_reading(call->state)) {
		ranks->lost |= state_failed(call->state);
		if (!ranks->rank)
			state_tap(call->state, NULL);
	}
	ranks->lost |= code && !learner_diverged(learner);
	return code;
}

static int fetch_part(const struct learner_batch *batch, int first, int count, struct err *err)
{
	float *inputs = batch->inputs + (size_t)first * batch->floats;
	union target *labels = batch->labels + (size_t)first * (size_t)batch->width;

	if (!batch->iteration)
		return store_fetch(batch->store, batch->ids + first, count, inputs, labels, err);
	return store_draw(batch->store, batch->ids + first, count, batch->iteration, first, inputs,
		labels, err);
}

/* Each rank has the labels of its part. */
static void share_labels(struct ranks *ranks, const struct learner_batch *batch)
{
	size_t begins[RANKS_MOST + 1];
	int first, count;

	if (!shared_cuts(batch->runner, batch->n))
		return;
	for (int r = 0; r < ranks->count; r++) {
		shared_part(batch->runner, batch->n, r, &first, &count);
		begins[r] = (size_t)first;
	}
	begins[ranks->count] = (size_t)batch->n;
	ranks->type->gather(
		ranks, batch->labels, (size_t)batch->width * sizeof(*batch->labels), begins);
}

/* Inputs that rank 0 has go to the ranks that read them. */
static void deal(struct ranks *ranks, const struct learner_batch *batch)
{
	struct ranks_message send[RANKS_MOST], receive = {0};
	int sends = 0, first, count;

	for (int r = 1; r < ranks->count; r++) {
		shared_part(batch->runner, batch->n, r, &first, &count);
		const struct ranks_message part = {r, batch->inputs + (size_t)first * batch->floats,
			(size_t)count * batch->floats * sizeof(*batch->inputs)};
		if (ranks->rank == 0)
			send[sends++] = part;
		else if (ranks->rank == r)
			receive = part;
	}
	receive.rank = 0;
	ranks_trade(ranks, send, sends, &receive, ranks->rank != 0);
}

static int fetch(struct learner_peers *as, const struct learner_batch *batch, struct err *err)
{
	struct peers *peers = (struct peers *)as;
	struct ranks *ranks = as->ranks;
	int first = 0, count = batch->n, code = 0;

	if (!peers->lone && !batch->all)
		runner_reads(batch->runner, batch->n, &first, &count);
	if (!peers->lone || !ranks->rank)
		code = fetch_part(batch, first, count, err);
	if (code)
		return code;
	if (peers->lone) {
		ranks->type->share(ranks, 0, batch->labels,
			(size_t)batch->n * (size_t)batch->width * sizeof(*batch->labels));
		if (batch->all)
			ranks->type->share(ranks, 0, batch->inputs,
				(size_t)batch->n * batch->floats * sizeof(*batch->inputs));
		else
			deal(ranks, batch);
	} else if (!batch->all) {
		share_labels(ranks, batch);
	}
	return 0;
}

static void wire(void *ranks, void *bytes, size_t size)
{
	((struct ranks *)ranks)->type->share(ranks, 0, bytes, size);
}

void peers_open(struct peers *peers, struct ranks *ranks, bool lone)
{
	*peers = (struct peers){{ranks, begin, end, fetch}, {wire, ranks}, lone};
}
