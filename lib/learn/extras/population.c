/*
 * A model whose rate is too high may reach a NaN loss. Then it predicts nothing correctly, so it
 * is not the best and will be replaced at the next selection. That is not an error as long as one
 * model is finite.
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

static bool wanted(const struct options *options)
{
	return population_type_find(options_text(options, "learn.population"))->count > 0;
}

static int check(const struct learner_config *config, struct err *err)
{
	const struct options *o = config->options;
	const char *why = NULL, *key = NULL;

	if (average_traits(options_text(o, "average.kind")).count)
		key = "average.kind", why = "averages are of one model; set it to none";
	else if (schedule_traits(options_text(o, "schedule.kind")).scores)
		key = "schedule.kind", why = "the population finds its rates; set it to constant";
	else if (optimizer_traits(options_text(o, "optimizer.kind")).averages)
		key = "optimizer.kind", why = "a population starts its steps again and again";
	else if (objective_traits(options_text(o, "replay.objective")).chooses)
		key = "replay.objective", why = "it chooses for one model, and all share a batch";
	else if (options_bool(o, "learn.retrain"))
		return err_set(err, ERR_INPUT,
			"learn.retrain = on: does not go with learn.population = %s, which starts "
			"by itself",
			options_text(o, "learn.population"));
	if (!key)
		return 0;
	return err_set(err, ERR_INPUT, "%s = %s: does not go with learn.population = %s: %s", key,
		options_text(o, key), options_text(o, "learn.population"), why);
}

static void end(void *extra)
{
	struct population *population = extra;

	for (int i = 1; i < population->type->count; i++) {
		vector_free(population->engine, population->members[i].params);
		mem_free(population->members[i].stats);
		optimizer_free(population->members[i].optimizer);
	}
	mem_free(population);
}

/* All go on from one of them, whose scale theirs become multiples of. */
static void spread(struct population *population, const struct net *net, int from, double scale)
{
	const size_t params = net_params(net)->floats;
	const size_t stats = net_stats(net)->floats * sizeof(float);
	const struct population_member source = population->members[from];

	for (int i = 0; i < population->type->count; i++) {
		struct population_member *member = &population->members[i];

		if (i != from)
			vector_copy(population->engine, member->params, source.params, params);
		if (i != from && stats)
			memcpy(member->stats, source.stats, stats);
		optimizer_restart(member->optimizer);
		member->scale = scale * population->type->scales[i];
		member->hits = 0;
	}
	population->seen = 0;
}

static int make_member(
	struct population_member *member, const struct learner *learner, struct err *err)
{
	const size_t params = net_params(learner->net)->floats;
	const size_t stats = net_stats(learner->net)->floats;

	const int code = vector_new(&member->params, learner->engine, params, "a population", err);

	if (!code && stats && !(member->stats = mem_new(stats, sizeof(float))))
		return err_memory(err, "a population", stats * sizeof(float));
	return code ? code : learner_make_optimizer(learner, &member->optimizer, err);
}

/* The first member borrows what the learner has. */
static int make(void **extra, struct learner *learner, struct err *err)
{
	const struct options *o = learner->config.options;
	struct population *made = mem_new(1, sizeof(*made));
	int code = 0;

	if (!made)
		return err_memory(err, "a population", sizeof(*made));
	made->type = population_type_find(options_text(o, "learn.population"));
	made->engine = learner->engine;
	made->select_every = options_int(o, "learn.select_every");
	made->members[0] = (struct population_member){.params = learner->params,
		.stats = learner->stats[0],
		.optimizer = learner->optimizer};
	for (int i = 1; i < made->type->count && !code; i++)
		code = make_member(&made->members[i], learner, err);
	if (code) {
		end(made);
		return code;
	}
	spread(made, learner->net, 0, 1);
	*extra = made;
	return 0;
}

int population_best(const struct population *population)
{
	int best = 0;

	for (int i = 1; i < population->type->count; i++)
		if (population->members[i].hits > population->members[best].hits)
			best = i;
	return best;
}

static void restart(void *extra, struct learner *learner)
{
	spread(extra, learner->net, 0, 1);
}

/* For as many samples as the buffers have room for. */
static int predict_some(const struct population *population, struct learner *learner,
	const float *inputs, const union target *labels, int n, int64_t hits[LEARNER_POPULATION],
	struct err *err)
{
	const int classes = net_spec(learner->net)->classes;
	int code = 0;

	for (int i = 0; i < (population ? population->type->count : 1) && !code; i++) {
		const float *params = population ? population->members[i].params
						 : learner_weights(learner, LEARNER_INFERENCE);
		const float *stats = population ? population->members[i].stats
						: learner_stats(learner, LEARNER_INFERENCE);

		code = runner_infer(
			learner->runner, params, stats, inputs, n, learner->room.logits, err);
		if (!code) {
			hits[i] +=
				rank_hits(learner->room.logits, classes, target_classes(labels), n);
			learner_tell(learner, LEARNER_VALIDATE, n);
		}
	}
	return code;
}

/* Time steps may be longer than the buffers, which have room for a batch. */
int population_predict(struct population *population, struct learner *learner,
	const struct learner_step *step, int64_t hits[LEARNER_POPULATION], struct err *err)
{
	int code = 0;

	memset(hits, 0, LEARNER_POPULATION * sizeof(*hits));
	for (int at = 0; at < step->n && !code; at += learner->set.batch) {
		const int count =
			step->n - at < learner->set.batch ? step->n - at : learner->set.batch;
		const float *some;

		code = learner_new_inputs(learner, step->first + at,
			step->inputs ? step->inputs + (size_t)at * learner->inputs.floats : NULL,
			count, &some, err);
		if (!code)
			code = predict_some(
				population, learner, some, step->labels + at, count, hits, err);
	}
	return code;
}

static int foresee(void *extra, struct learner *learner, struct learner_step *step, struct err *err)
{
	struct population *population = extra;
	const int code = population_predict(population, learner, step, population->foreseen, err);

	step->right = population->foreseen[population_best(population)];
	return code;
}

static void revealed(void *extra, struct learner *learner, const struct learner_step *step)
{
	struct population *population = extra;

	(void)learner;
	for (int i = 0; i < population->type->count; i++)
		population->members[i].hits += population->foreseen[i];
	population->seen += step->n;
}

struct stride {
	struct learner *learner;
	struct population_member *member;
	float rate, loss;
};

/* A step by NaN is made, too: a model that diverged will be replaced. */
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

/* All but the first, on its batch. If another is the best, its logits take the place of the first
 * one's. The learner has diverged only if no loss is a number. */
static int stepped(
	void *extra, struct learner *learner, struct learner_stride *first, struct err *err)
{
	struct population *population = extra;
	const double rate = schedule_rate(learner->schedule, first->k);
	const int best = population_best(population);
	int sound = isfinite(first->loss) != 0;

	for (int i = 1; i < population->type->count; i++) {
		struct population_member *member = &population->members[i];
		struct stride stride = {.learner = learner,
			.member = member,
			.rate = (float)(rate * member->scale)};
		const struct runner_descent descent = {
			member->params, learner->grad, &stride, begin_stride, step_slice};
		const int code = runner_descend(learner->runner, &descent, member->stats,
			first->batch, i == best ? first->logits : NULL, err);

		if (code)
			return code;
		sound += isfinite(stride.loss) != 0;
		learner_tell(learner, LEARNER_TRAIN, first->batch->n);
		learner_tell(learner, LEARNER_UPDATE, 0);
	}
	learner->latest.diverged = !sound;
	return sound ? 0
		     : err_set(err, ERR_STATE,
			       "iteration %lld: the losses of all %d models are NaN, at "
			       "learning rate %g and around it",
			       (long long)first->k, population->type->count,
			       learner_rate(learner, first->k));
}

static void end_part(void *extra, struct learner *learner, struct learner_part *part)
{
	struct population *population = extra;
	const double seen = population->seen ? (double)population->seen : (double)NAN;
	const int best = population_best(population);

	part->models = population->type->count;
	part->best = best;
	for (int i = 0; i < part->models; i++)
		part->accuracy[i] = (double)population->members[i].hits / seen;
	part->selected =
		learner->steps.count / learner->plan.part_steps % population->select_every == 0;
	if (part->selected)
		spread(population, learner->net, best, population->members[best].scale);
	for (int i = 0; i < part->models; i++)
		part->rate[i] = population->members[i].scale *
				schedule_rate(learner->schedule, learner->iteration + 1);
}

static void slow(void *extra)
{
	struct population *population = extra;

	for (int i = 1; i < population->type->count; i++)
		optimizer_restart(population->members[i].optimizer);
}

static double price(const void *extra, const struct extra_costs *costs)
{
	return (((const struct population *)extra)->type->count - 1) * costs->sgd;
}

/* Everything except what the first member borrows. */
static void state(void *extra, struct learner *learner, struct state *state)
{
	struct population *population = extra;
	const size_t params = net_params(learner->net)->floats;
	const size_t stats = net_stats(learner->net)->floats;

	state_enter(state, "population");
	state_int64(state, "seen", &population->seen);
	for (int i = 0; i < population->type->count; i++) {
		struct population_member *member = &population->members[i];

		state_double(state, "scale", &member->scale);
		state_int64(state, "hits", &member->hits);
		if (i == 0)
			continue;
		vector_state(population->engine, state, "params", member->params, params);
		if (stats)
			state_floats(state, "stats", member->stats, stats);
		optimizer_state(member->optimizer, state);
	}
	state_leave(state);
}

const struct extra_type extra_population = {
	.sized = true,
	.wanted = wanted,
	.check = check,
	.make = make,
	.free = end,
	.restart = restart,
	.foresee = foresee,
	.revealed = revealed,
	.end_part = end_part,
	.stepped = stepped,
	.slow = slow,
	.price = price,
	.state = state,
};
