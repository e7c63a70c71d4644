/*
 * The table of objectives and their common part: the current step, and replay with its recency
 * share. If possible a batch is a function of the iteration number, so that there is little
 * state.
 */
#include "replay/objective.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "replay/objective_impl.h"

const struct objective_type *const objective_types[] = {
	&objective_pure, &objective_mixed, &objective_er, &objective_mir, &objective_epochs, NULL};

const struct option_row objective_options[] = {
	{"replay", "objective", OPTION_CHOICE, "pure", "pure | mixed | er | mir | epochs",
		"what is in a batch: replay alone (pure), half new samples (mixed), half the "
		"current task (er; mir chooses the past half by interference), or every sample "
		"once per epoch"},
	{"replay", "history", OPTION_INT64, "0", "[0, inf)",
		"mixed: how many samples back replay reaches; 0 reaches to the start"},
	{"replay", "recency_share", OPTION_FLOAT, "0", "[0, 1]",
		"share of replayed samples drawn from the newest of the pool"},
	{"replay", "recency_window", OPTION_FLOAT, "0.1", "(0, 1]",
		"share of the pool that counts as its newest", OPTION_RETIRED},
	{0},
};

void objective_config(struct objective_config *config, const struct options *options)
{
	*config = (struct objective_config){
		.kind = options_text(options, "replay.objective"),
		.history = options_int64(options, "replay.history"),
		.recency_share = options_float(options, "replay.recency_share"),
		.recency_window = options_float(options, "replay.recency_window"),
		.seed = (uint64_t)options_int64(options, "run.seed"),
	};
}

static const struct objective_type *type_find(const char *kind)
{
	for (size_t i = 0; objective_types[i]; i++)
		if (!strcmp(objective_types[i]->name, kind))
			return objective_types[i];
	return NULL;
}

struct objective_traits objective_traits(const char *kind)
{
	const struct objective_type *type = type_find(kind);

	assert(type);
	return type->traits;
}

static int config_check(const struct objective_config *config, const struct objective_type *type,
	const struct pool *pool, struct err *err)
{
	if (!type)
		return err_set(err, ERR_INPUT, "replay.objective = %.100s: not one of %s",
			config->kind, objective_options[0].allowed);
	if (config->history < 0)
		return err_set(err, ERR_INPUT, "replay.history = %" PRId64 ": must be at least 0",
			config->history);
	if (!(config->recency_share >= 0 && config->recency_share <= 1))
		return err_set(err, ERR_INPUT, "replay.recency_share = %g: must be in [0, 1]",
			config->recency_share);
	if (!(config->recency_window > 0 && config->recency_window <= 1))
		return err_set(err, ERR_INPUT, "replay.recency_window = %g: must be in (0, 1]",
			config->recency_window);
	return type->check ? type->check(config, pool, err) : 0;
}

int objective_new(struct objective **objective, const struct objective_config *config,
	const struct pool *pool, struct err *err)
{
	const struct objective_type *type = type_find(config->kind);
	struct objective *made;
	int code;

	*objective = NULL;
	code = config_check(config, type, pool, err);
	if (code)
		return code;
	made = mem_new(1, type->size);
	if (made)
		made->guess = mem_new(1, type->size);
	if (!made || !made->guess) {
		objective_free(made);
		return err_memory(err, "an objective", 2 * type->size);
	}
	made->type = type;
	made->config = *config;
	made->config.kind = type->name;
	made->pool = pool;
	made->reach = config->history;
	made->orders = (struct rng){config->seed, RNG_SHUFFLE};
	*objective = made;
	return 0;
}

void objective_free(struct objective *objective)
{
	if (objective)
		mem_free(objective->guess);
	mem_free(objective);
}

void objective_step(struct objective *objective, int64_t first, int64_t end)
{
	assert(0 <= first && first <= end);
	objective->first = objective->task = first;
	objective->end = end;
	objective->guess_at = 0;
}

int64_t objective_step_first(const struct objective *objective)
{
	return objective->first;
}

void objective_task(struct objective *objective, int64_t first)
{
	assert(0 <= first && first <= objective->first);
	objective->task = first;
}

void objective_reach(struct objective *objective, int64_t history)
{
	assert(history >= 0);
	objective->reach = history;
}

bool objective_candidates(
	const struct objective *objective, uint64_t iteration, int n, int64_t *ids)
{
	assert(iteration >> 48 == 0 && n >= 1 && n <= POOL_POSITIONS / 2);
	return pool_draw_range(
		objective->pool, iteration, POOL_POSITIONS / 2, 0, objective->task, ids, n);
}

bool objective_batch(
	struct objective *objective, uint64_t iteration, int n, int64_t *ids, float *weights)
{
	assert(iteration >> 48 == 0 && n >= 1 && n <= POOL_POSITIONS);
	objective->last = iteration;
	return objective->type->batch(objective, iteration, n, ids, weights);
}

bool objective_guess(
	struct objective *objective, uint64_t iteration, int n, int64_t *ids, float *weights)
{
	bool some = false;

	if (objective->guess_at < objective->last || objective->guess_at >= iteration) {
		memcpy(objective->guess, objective, objective->type->size);
		objective->guess_at = objective->last;
	}
	while (objective->guess_at < iteration)
		some = objective->type->batch(
			objective->guess, ++objective->guess_at, n, ids, weights);
	return some;
}

bool objective_replay(const struct objective *objective, uint64_t iteration, int first,
	int64_t oldest, int64_t *ids, int n)
{
	const struct pool *pool = objective->pool;
	int recent = (int)floor(objective->config.recency_share * n + 0.5);

	if (recent > 0) {
		const int64_t newest = pool_newest(pool, objective->config.recency_window);

		if (!pool_draw(
			    pool, iteration, first, newest > oldest ? newest : oldest, ids, recent))
			recent = 0;
	}
	return recent == n ||
	       pool_draw(pool, iteration, first + recent, oldest, ids + recent, n - recent);
}

void objective_weigh(float *weights, int n, double total)
{
	for (int i = 0; i < n; i++)
		weights[i] = (float)(total / n);
}

void objective_state(struct objective *objective, struct state *state)
{
	objective->guess_at = 0;
	state_same(state, "kind", objective->type->name);
	state_int64(state, "first", &objective->first);
	state_int64(state, "end", &objective->end);
	state_int64(state, "task", &objective->task);
	state_int64(state, "reach", &objective->reach);
	if (!state_failed(state) &&
		(objective->task < 0 || objective->first < objective->task ||
			objective->end < objective->first || objective->reach < 0)) {
		state_refuse(state, ERR_FORMAT,
			"samples %" PRId64 " to %" PRId64 " are no time step", objective->first,
			objective->end);
		objective->first = objective->end = objective->task = objective->reach = 0;
	}
	if (objective->type->state)
		objective->type->state(objective, state);
}

const char *objective_type_name(const struct objective_type *type)
{
	return type->name;
}

const char *objective_type_help(const struct objective_type *type)
{
	return type->help;
}
