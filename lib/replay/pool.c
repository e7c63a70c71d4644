/*
 * The table of pools and their common part. Samples come as ids 0, 1, 2, ... without gaps, so
 * `seen` is also the next id. Memory grows by doubling up to the limit: a large limit costs
 * nothing before it is used.
 *
 * Invariant: 0 <= count <= offered <= seen, count <= limit if there is one, and every id held is
 * below seen and on the pool's side of the holdout.
 */
#include "replay/pool.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "replay/pool_impl.h"

enum { ROOM_LEAST = 1024 };

const struct pool_type *const pool_types[] = {
	&pool_unlimited, &pool_reservoir, &pool_fifo, &pool_balanced, &pool_halves, NULL};

const struct option_row pool_options[] = {
	{"replay", "pool", OPTION_CHOICE, "unlimited",
		"unlimited | reservoir | fifo | balanced | halves",
		"samples to remember: all, a uniform sample, the newest, equally many of each "
		"class, or half past tasks and half the current one"},
	{"replay", "limit", OPTION_INT64, "1000000", "[1, inf)",
		"most samples in a pool other than unlimited"},
	{"replay", "holdout", OPTION_FLOAT, "0.05", "[0, 1)",
		"share of samples held out for validation and never trained on"},
	{"replay", "validation_limit", OPTION_INT64, "0", "[0, inf)",
		"most validation samples to keep, a uniform sample; 0 keeps all"},
	{0},
};

/* Validation keeps all that is held out, or a uniform sample of it. */
void pool_config(
	struct pool_config *config, const struct options *options, int classes, bool validation)
{
	const uint64_t seed = (uint64_t)options_int64(options, "run.seed");
	const int64_t kept = options_int64(options, "replay.validation_limit");

	*config = (struct pool_config){
		.kind = options_text(options, "replay.pool"),
		.limit = options_int64(options, "replay.limit"),
		.classes = classes,
		.seed = seed,
		.holdout = {seed, options_float(options, "replay.holdout")},
		.validation = validation,
	};
	if (validation) {
		config->kind = kept ? pool_reservoir.name : pool_unlimited.name;
		config->limit = kept;
	}
}

static const struct pool_type *type_find(const char *kind)
{
	for (size_t i = 0; pool_types[i]; i++)
		if (!strcmp(pool_types[i]->name, kind))
			return pool_types[i];
	return NULL;
}

static int config_check(
	const struct pool_config *config, const struct pool_type *type, struct err *err)
{
	if (!type)
		return err_set(err, ERR_INPUT, "replay.pool = %.100s: not one of %s", config->kind,
			pool_options[0].allowed);
	if (type->limited && config->limit < 1)
		return err_set(err, ERR_INPUT,
			"replay.%s = %" PRId64 ": a %s pool needs at least 1",
			config->validation ? "validation_limit" : "limit", config->limit,
			type->name);
	if (!(config->holdout.share >= 0 && config->holdout.share < 1))
		return err_set(err, ERR_INPUT, "replay.holdout = %g: must be in [0, 1)",
			config->holdout.share);
	return 0;
}

int pool_new(struct pool **pool, const struct pool_config *config, struct err *err)
{
	const struct pool_type *type = type_find(config->kind);
	struct pool *made;
	uint32_t bits[4];
	int code;

	*pool = NULL;
	code = config_check(config, type, err);
	if (code)
		return code;
	made = mem_new(1, type->size);
	if (!made)
		return err_memory(err, "a pool", type->size);
	made->type = type;
	made->config = *config;
	made->config.kind = type->name;
	sieve_init(&made->sieve, &config->holdout);
	/* Seeds of their own, lest training and validation, or draws and choices, share numbers. */
	rng_bits((struct rng){config->seed, RNG_POOL}, config->validation, bits);
	made->draws = (struct rng){(uint64_t)bits[1] << 32 | bits[0], RNG_POOL};
	made->choices = (struct rng){(uint64_t)bits[3] << 32 | bits[2], RNG_POOL};
	code = type->open ? type->open(made, err) : 0;
	if (code) {
		pool_free(made);
		return code;
	}
	*pool = made;
	return 0;
}

void pool_free(struct pool *pool)
{
	if (!pool)
		return;
	if (pool->type->close)
		pool->type->close(pool);
	mem_free(pool->ids);
	mem_free(pool);
}

static int room_for(struct pool *pool, int64_t count, struct err *err)
{
	const int64_t limit = pool->config.limit;
	int64_t room = pool->room, *ids;

	if (count <= room)
		return 0;
	if (room == 0)
		room = ROOM_LEAST;
	while (room < count && room < limit)
		room = room <= INT64_MAX / 2 ? 2 * room : limit;
	if (room > limit)
		room = limit;
	ids = mem_resize(pool->ids, (size_t)room, sizeof(*ids));
	if (!ids)
		return err_memory(err, "a pool", (unsigned long long)room * sizeof(*ids));
	pool->ids = ids;
	pool->room = room;
	return 0;
}

int pool_classes(struct pool *pool, int classes, struct err *err)
{
	return pool->type->classes ? pool->type->classes(pool, classes, err) : 0;
}

int pool_reserve(struct pool *pool, int64_t n, struct err *err)
{
	const int64_t left = pool->config.limit - pool->count;

	if (!pool->type->limited)
		return 0;
	return room_for(pool, pool->count + (n < left ? n : left), err);
}

int pool_append(struct pool *pool, int64_t id, int64_t *evicted, struct err *err)
{
	const int code = pool_reserve(pool, 1, err);

	if (code)
		return code;
	pool->ids[pool->count++] = id;
	*evicted = -1;
	return 0;
}

int pool_add(struct pool *pool, int64_t id, int32_t stratum, int64_t *evicted, struct err *err)
{
	*evicted = id;
	if (id != pool->seen)
		return err_set(err, ERR_STATE,
			"sample %" PRId64 " was offered to a pool whose next one is %" PRId64, id,
			pool->seen);
	if (pool_takes(pool, id)) {
		const int code = pool->type->take(pool, id, stratum, evicted, err);

		if (code)
			return code;
		pool->offered++;
	}
	pool->seen++;
	return 0;
}

/* One pool's side is not the other's, so at most one sample leaves: a former one of either pool, or
 * the new one that both leave alone. */
int pool_offer(struct pool *training, struct pool *validation, int64_t id, int32_t stratum,
	int64_t *gone, struct err *err)
{
	int64_t held = id;
	int code = pool_add(training, id, stratum, gone, err);

	if (!code && validation)
		code = pool_add(validation, id, stratum, &held, err);
	if (!code && *gone == id)
		*gone = held;
	return code;
}

bool pool_kind_stratified(const char *kind)
{
	const struct pool_type *type = type_find(kind);

	assert(type);
	return type->classes != NULL;
}

bool pool_kind_limited(const char *kind)
{
	const struct pool_type *type = type_find(kind);

	assert(type);
	return type->limited;
}

bool pool_wants(const struct pool *pool, int64_t id)
{
	return pool_takes(pool, id);
}

int64_t pool_seen(const struct pool *pool)
{
	return pool->seen;
}

int64_t pool_count(const struct pool *pool)
{
	return pool->count;
}

bool pool_draw(
	const struct pool *pool, uint64_t iteration, int first, int64_t oldest, int64_t *ids, int n)
{
	return pool_draw_range(pool, iteration, first, oldest, pool->seen, ids, n);
}

bool pool_draw_range(const struct pool *pool, uint64_t iteration, int first, int64_t oldest,
	int64_t end, int64_t *ids, int n)
{
	assert(iteration >> 48 == 0 && n >= 1 && first >= 0 && n <= POOL_POSITIONS - first);
	if (oldest < 0)
		oldest = 0;
	if (end > pool->seen)
		end = pool->seen;
	return pool->count > 0 && oldest < end &&
	       pool->type->draw(pool, iteration, first, oldest, end, ids, n);
}

int64_t pool_task_room(const struct pool *pool)
{
	return pool->type->task ? pool->count : 0;
}

int64_t pool_task(struct pool *pool, int64_t *evicted)
{
	return pool->type->task ? pool->type->task(pool, evicted) : 0;
}

int64_t pool_newest(const struct pool *pool, double share)
{
	const int64_t start = pool->count > 0 && pool->type->start ? pool->type->start(pool) : 0;

	assert(share > 0 && share <= 1);
	return pool->seen - (int64_t)ceil(share * (double)(pool->seen - start));
}

/*
 * Slots are in no order, so a draw tries random slots until one holds a sample of the
 * range. If there are hardly any, the tries run out, and a scan counts them and takes
 * one; it costs about as much as the tries before it.
 */
static bool scan_slots(const int64_t *slots, int64_t count, struct dice *dice, int64_t oldest,
	int64_t end, int64_t *id)
{
	uint64_t inside = 0, pick;
	int64_t slot = 0;

	for (int64_t i = 0; i < count; i++)
		inside += slots[i] >= oldest && slots[i] < end;
	if (inside == 0)
		return false;
	pick = dice_below(dice, inside);
	for (;; slot++)
		if (slots[slot] >= oldest && slots[slot] < end && pick-- == 0)
			break;
	*id = slots[slot];
	return true;
}

bool pool_draw_part(const struct pool *pool, const int64_t *slots, int64_t count,
	uint64_t iteration, int first, int64_t oldest, int64_t end, int64_t *ids, int n)
{
	const uint64_t tries = 64 + (uint64_t)count / 8;
	struct dice_row row;

	dice_start(&row, pool->draws, iteration, first, n);
	for (int i = 0; i < n; i++) {
		struct dice dice = dice_next(&row);
		uint64_t slot;
		bool found = false;

		while (!found && dice.thrown < tries)
			found = dice_throw(&dice, (uint64_t)count, &slot) &&
				slots[slot] >= oldest && slots[slot] < end;
		if (found)
			ids[i] = slots[slot];
		else if (!scan_slots(slots, count, &dice, oldest, end, &ids[i]))
			return false;
	}
	return true;
}

bool pool_draw_slots(const struct pool *pool, uint64_t iteration, int first, int64_t oldest,
	int64_t end, int64_t *ids, int n)
{
	return pool_draw_part(pool, pool->ids, pool->count, iteration, first, oldest, end, ids, n);
}

static void same_share(struct state *state, const char *name, double value)
{
	double saved = value;

	state_double(state, name, &saved);
	if (!state_failed(state) && saved != value)
		state_refuse(
			state, ERR_INPUT, "a pool's %s was %g and is %g now", name, saved, value);
}

static void same_number(struct state *state, const char *name, uint64_t value)
{
	uint64_t saved = value;

	state_uint64(state, name, &saved);
	if (!state_failed(state) && saved != value)
		state_refuse(state, ERR_INPUT, "a pool's %s was %" PRIu64 " and is %" PRIu64 " now",
			name, saved, value);
}

static void state_config(const struct pool *pool, struct state *state)
{
	const struct pool_config *config = &pool->config;

	state_same(state, "kind", pool->type->name);
	state_same(state, "side", config->validation ? "validation" : "training");
	same_number(state, "seed", config->seed);
	same_number(state, "holdout seed", config->holdout.seed);
	same_share(state, "holdout share", config->holdout.share);
	if (pool->type->limited)
		same_number(state, "limit", (uint64_t)config->limit);
}

static void check_ids(const struct pool *pool, struct state *state)
{
	for (int64_t i = 0; i < pool->count; i++) {
		const int64_t id = pool->ids[i];

		if (id < 0 || id >= pool->seen || !pool_takes(pool, id)) {
			state_refuse(state, ERR_FORMAT,
				"a pool of %" PRId64 " samples seen cannot hold sample %" PRId64,
				pool->seen, id);
			return;
		}
	}
}

void pool_state(struct pool *pool, struct state *state)
{
	const int64_t limit = pool->type->limited ? pool->config.limit : INT64_MAX;
	struct err err;

	state_config(pool, state);
	state_int64(state, "seen", &pool->seen);
	state_int64(state, "offered", &pool->offered);
	state_int64(state, "count", &pool->count);
	if (state_failed(state))
		return;
	if (state_reading(state) &&
		(pool->count < 0 || pool->count > limit || pool->count > pool->offered ||
			pool->offered > pool->seen)) {
		state_refuse(state, ERR_FORMAT,
			"a pool cannot hold %" PRId64 " of %" PRId64 " samples, %" PRId64 " seen",
			pool->count, pool->offered, pool->seen);
		pool->count = 0;
		return;
	}
	if (pool->type->limited && pool->count > 0) {
		if (room_for(pool, pool->count, &err)) {
			pool->count = 0;
			state_refuse(state, ERR_MEMORY, "%s", err.message);
			return;
		}
		state_int64s(state, "ids", pool->ids, (size_t)pool->count);
		if (state_reading(state) && !state_failed(state))
			check_ids(pool, state);
	}
	if (pool->type->state)
		pool->type->state(pool, state);
}

const char *pool_type_name(const struct pool_type *type)
{
	return type->name;
}

const char *pool_type_help(const struct pool_type *type)
{
	return type->help;
}
