/*
 * A model whose rate is too high may come to losses that are no numbers. Then it predicts
 * nothing right, so it is not the best and will be replaced at the next selection. That
 * is no error as long as one model is sound.
 */
#include "learn/extras/population.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "learn/learner_impl.h"
#include "nn/rank.h"

const struct population_type population_types[] = {
	{"none", 0, {0}},
	{"polrs", 3, {1, 2, 0.5}},
	{0},
};

const struct population_type *population_type_find(const char *name)
{
	const struct population_type *type = population_types;

	while (type->name && strcmp(type->name, name) != 0)
		type++;
	return type->name ? type : NULL;
}

int population_new(struct population **population, const struct population_type *type,
	struct learner *learner, const struct optimizer_config *optimizer, struct err *err)
{
	const size_t params = net_params(learner->net)->floats;
	const size_t stats = net_stats(learner->net)->floats;
	struct population *made = mem_new(1, sizeof(*made));
	int code = 0;

	*population = NULL;
	if (!made)
		return err_memory(err, "a population", sizeof(*made));
	made->type = type;
	made->members[0] = (struct population_member){.params = learner->params,
		.stats = learner->stats[0],
		.optimizer = learner->optimizer};
	for (int i = 1; i < type->count && !code; i++) {
		struct population_member *member = &made->members[i];

		if (!(member->params = mem_new(params, sizeof(float))) ||
			(stats && !(member->stats = mem_new(stats, sizeof(float)))))
			code = err_memory(err, "a population", params * sizeof(float));
		else
			code = optimizer_new(
				&member->optimizer, optimizer, params, learner->engine, err);
		if (!code)
			code = learner_segments(
				learner->net, learner->config.options, member->optimizer, err);
	}
	if (code) {
		population_free(made);
		return code;
	}
	population_restart(made, learner->net);
	*population = made;
	return 0;
}

void population_free(struct population *population)
{
	for (int i = 1; population && i < population->type->count; i++) {
		mem_free(population->members[i].params);
		mem_free(population->members[i].stats);
		optimizer_free(population->members[i].optimizer);
	}
	mem_free(population);
}

int population_best(const struct population *population)
{
	int best = 0;

	for (int i = 1; i < population->type->count; i++)
		if (population->members[i].hits > population->members[best].hits)
			best = i;
	return best;
}

/* All go on from one of them, whose scale theirs become multiples of. */
static void spread(struct population *population, const struct net *net, int from, double scale)
{
	const size_t params = net_params(net)->floats * sizeof(float);
	const size_t stats = net_stats(net)->floats * sizeof(float);
	const struct population_member source = population->members[from];

	for (int i = 0; i < population->type->count; i++) {
		struct population_member *member = &population->members[i];

		if (i != from)
			memcpy(member->params, source.params, params);
		if (i != from && stats)
			memcpy(member->stats, source.stats, stats);
		optimizer_restart(member->optimizer);
		member->scale = scale * population->type->scales[i];
		member->hits = 0;
	}
	population->seen = 0;
}

void population_restart(struct population *population, const struct net *net)
{
	spread(population, net, 0, 1);
}

void population_select(struct population *population, const struct net *net)
{
	const int best = population_best(population);

	spread(population, net, best, population->members[best].scale);
}

/* For as many samples as the buffers have room for. */
static int predict_some(struct learner *learner, const float *inputs, const int32_t *labels, int n,
	int64_t hits[LEARNER_POPULATION], struct err *err)
{
	const struct population *population = learner->population;
	const int classes = net_spec(learner->net)->classes;
	int code = 0;

	for (int i = 0; i < (population ? population->type->count : 1) && !code; i++) {
		const float *params = population ? population->members[i].params
						 : learner_weights(learner, LEARNER_INFERENCE);
		const float *stats = population ? population->members[i].stats
						: learner_stats(learner, LEARNER_INFERENCE);

		code = runner_infer(
			learner->runner, params, stats, inputs, n, learner->logits, err);
		if (!code) {
			hits[i] += rank_hits(learner->logits, classes, labels, n);
			learner_tell(learner, LEARNER_VALIDATE, n);
		}
	}
	return code;
}

/* Time steps may be longer than the buffers, which have room for a batch. */
int population_predict(struct learner *learner, int64_t first, const float *inputs,
	const int32_t *labels, int n, int64_t hits[LEARNER_POPULATION], struct err *err)
{
	int code = 0;

	memset(hits, 0, LEARNER_POPULATION * sizeof(*hits));
	for (int at = 0; at < n && !code; at += learner->batch) {
		const int count = n - at < learner->batch ? n - at : learner->batch;
		const float *some;

		code = learner_new_inputs(learner, first + at,
			inputs ? inputs + (size_t)at * learner->floats : NULL, count, &some, err);
		if (!code)
			code = predict_some(learner, some, labels + at, count, hits, err);
	}
	return code;
}

void population_score(struct population *population, const int64_t hits[LEARNER_POPULATION], int n)
{
	for (int i = 0; i < population->type->count; i++)
		population->members[i].hits += hits[i];
	population->seen += n;
}

struct stride {
	struct learner *learner;
	struct population_member *member;
	float rate, loss;
};

/* Even a step by what is no number is made: a model that goes astray will be replaced. */
static bool begin_stride(void *context, float loss)
{
	struct stride *stride = context;

	stride->loss = loss;
	optimizer_samples(stride->member->optimizer, pool_count(stride->learner->pool));
	optimizer_begin(stride->member->optimizer);
	return true;
}

static void step_slice(void *context, const struct slice *slice)
{
	const struct stride *stride = context;

	optimizer_step_slice(stride->member->optimizer, stride->member->params,
		stride->learner->grad, stride->rate, NULL, slice);
}

int population_step(struct learner *learner, const struct runner_batch *batch, double rate,
	float *logits, int *sound, struct err *err)
{
	struct population *population = learner->population;
	const int best = population_best(population);

	for (int i = 1; i < population->type->count; i++) {
		struct population_member *member = &population->members[i];
		struct stride stride = {.learner = learner,
			.member = member,
			.rate = (float)(rate * member->scale)};
		const struct runner_descent descent = {
			member->params, learner->grad, &stride, begin_stride, step_slice};
		const int code = runner_descend(learner->runner, &descent, member->stats, batch,
			i == best ? logits : NULL, err);

		if (code)
			return code;
		*sound += isfinite(stride.loss) != 0;
		learner_tell(learner, LEARNER_TRAIN, batch->n);
		learner_tell(learner, LEARNER_UPDATE, 0);
	}
	return 0;
}

void population_state(struct population *population, const struct net *net, struct state *state)
{
	const size_t params = net_params(net)->floats, stats = net_stats(net)->floats;

	state_enter(state, "population");
	state_int64(state, "seen", &population->seen);
	for (int i = 0; i < population->type->count; i++) {
		struct population_member *member = &population->members[i];

		state_double(state, "scale", &member->scale);
		state_int64(state, "hits", &member->hits);
		if (i == 0)
			continue;
		state_params(state, "params", member->params, params);
		if (stats)
			state_floats(state, "stats", member->stats, stats);
		optimizer_state(member->optimizer, state);
	}
	state_leave(state);
}
