/*
 * Experience replay: half the current task, half past ones. The current half is the larger one if
 * n is odd; both have the same weight. MIR is ER whose past half the learner chooses; if it
 * cannot, what was drawn here is used.
 */
#include "replay/objective_impl.h"

static int check(const struct objective_config *config, const struct pool *pool, struct err *err)
{
	(void)pool;
	if (config->recency_share > 0)
		return err_set(err, ERR_INPUT,
			"replay.recency_share = %g: replay.objective = %s draws one half from the "
			"current task already",
			config->recency_share, config->kind);
	return 0;
}

/* A task of one step gives its samples evenly; from a longer one they are drawn. */
static bool take_current(const struct objective *objective, uint64_t iteration, int64_t *ids, int n)
{
	if (objective->task < objective->first &&
		pool_draw(objective->pool, iteration, 0, objective->task, ids, n))
		return true;
	return objective_new_samples(objective, iteration, ids, n);
}

static bool batch(
	struct objective *objective, uint64_t iteration, int n, int64_t *ids, float *weights)
{
	const int current = n - n / 2, past = n / 2;
	const bool some = take_current(objective, iteration, ids, current);

	if (some && past &&
		pool_draw_range(objective->pool, iteration, current, 0, objective->task,
			ids + current, past)) {
		objective_weigh(weights, current, 0.5);
		objective_weigh(weights + current, past, 0.5);
		return true;
	}
	if (!(some ? take_current(objective, iteration, ids, n)
		   : pool_draw(objective->pool, iteration, 0, 0, ids, n)))
		return false;
	objective_weigh(weights, n, 1);
	return true;
}

const struct objective_type objective_er = {
	.name = "er",
	.help = "experience replay: half from the current task, half from past ones",
	.size = sizeof(struct objective),
	.check = check,
	.batch = batch,
};

const struct objective_type objective_mir = {
	.name = "mir",
	.help = "as er, but with the past samples that a step on the current ones would harm most",
	.size = sizeof(struct objective),
	.check = check,
	.batch = batch,
	.traits = {.chooses = true},
};
