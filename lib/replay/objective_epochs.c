/*
 * Supervised learning: epoch after epoch, each a fresh permutation of the ids seen when it began.
 * It is a function of (seed, epoch), so the position in it is the only state.
 */
#include <inttypes.h>

#include "replay/objective_impl.h"
#include "replay/shuffle.h"

struct epochs {
	struct objective objective;
	int64_t epoch;        /* from 1; 0 before the first */
	int64_t size, cursor; /* ids that take part, and how many have had their turn */
};

static int check(const struct objective_config *config, const struct pool *pool, struct err *err)
{
	if (pool->type->limited)
		return err_set(err, ERR_INPUT,
			"replay.objective = epochs: needs replay.pool = unlimited, not %s",
			pool->type->name);
	if (config->recency_share > 0)
		return err_set(err, ERR_INPUT,
			"replay.recency_share = %g: replay.objective = epochs has no use for it",
			config->recency_share);
	return 0;
}

static void order(const struct epochs *epochs, struct shuffle *shuffle)
{
	shuffle_init(
		shuffle, epochs->objective.orders, (uint64_t)epochs->epoch, (uint64_t)epochs->size);
}

static bool batch(
	struct objective *objective, uint64_t iteration, int n, int64_t *ids, float *weights)
{
	struct epochs *epochs = (struct epochs *)objective;
	struct shuffle shuffle;
	int taken = 0;

	(void)iteration;
	if (pool_count(objective->pool) == 0)
		return false;
	order(epochs, &shuffle);
	while (taken < n) {
		int64_t id;

		if (epochs->cursor == epochs->size) {
			epochs->epoch++;
			epochs->cursor = 0;
			epochs->size = pool_seen(objective->pool);
			order(epochs, &shuffle);
		}
		id = (int64_t)shuffle_at(&shuffle, (uint64_t)epochs->cursor++);
		if (pool_takes(objective->pool, id))
			ids[taken++] = id;
	}
	objective_weigh(weights, n, 1);
	return true;
}

/* Nobody trains so long; beyond it counts could overflow. */
static const int64_t EPOCHS_MOST = INT64_MAX / 2;

static void visit(struct objective *objective, struct state *state)
{
	struct epochs *epochs = (struct epochs *)objective;

	state_int64(state, "epoch", &epochs->epoch);
	state_int64(state, "size", &epochs->size);
	state_int64(state, "cursor", &epochs->cursor);
	if (!state_failed(state) && (epochs->epoch < 0 || epochs->epoch > EPOCHS_MOST ||
					    epochs->cursor < 0 || epochs->cursor > epochs->size ||
					    epochs->size > pool_seen(objective->pool))) {
		state_refuse(state, ERR_FORMAT,
			"place %" PRId64 " of epoch %" PRId64 " cannot be: it has %" PRId64
			" places, and %" PRId64 " samples were seen",
			epochs->cursor, epochs->epoch, epochs->size, pool_seen(objective->pool));
		epochs->epoch = epochs->cursor = epochs->size = 0;
	}
}

const struct objective_type objective_epochs = {
	.name = "epochs",
	.help = "every sample once per epoch, in a new random order each time",
	.size = sizeof(struct epochs),
	.check = check,
	.batch = batch,
	.traits = {.whole = true},
	.state = visit,
};
