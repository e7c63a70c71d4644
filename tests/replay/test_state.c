/*
 * Saved, loaded into a fresh object and continued: the same as one that went
 * straight on, for every row of both tables; and files that belong elsewhere.
 */
#include "check.h"
#include "../base/folder.h"

#include "replay/objective.h"

static int64_t ids[2][64];
static float weights[2][64];

static void visit_pool(void *object, struct state *state)
{
	pool_state(object, state);
}

static void visit_objective(void *object, struct state *state)
{
	objective_state(object, state);
}

/* Both go on alike: the same evictions, the same draws. */
static void compare_pools(struct pool *one, struct pool *other, int64_t until)
{
	assert_int_equal(pool_seen(one), pool_seen(other));
	for (int64_t id = pool_seen(one); id < until; id++) {
		int64_t a, b;
		struct err err;

		assert_ok(pool_add(one, id, label_of(id, 7), &a, &err), err);
		assert_ok(pool_add(other, id, label_of(id, 7), &b, &err), err);
		assert_int_equal(a, b);
		if (id % 10 == 0 && pool_draw(one, (uint64_t)id, 0, id / 2, ids[0], 64)) {
			assert_true(pool_draw(other, (uint64_t)id, 0, id / 2, ids[1], 64));
			assert_memory_equal(ids[0], ids[1], sizeof(ids[0]));
		}
	}
	assert_int_equal(pool_count(one), pool_count(other));
	assert_int_equal(one->offered, other->offered);
}

static void pools_go_on(void **state)
{
	/* Empty, growing, full, gone round. */
	static const int64_t stops[] = {0, 100, 1300, 5000};

	(void)state;
	for (size_t k = 0; pool_types[k]; k++)
		for (size_t s = 0; s < COUNT(stops); s++)
			for (int validation = 0; validation < 2; validation++) {
				const struct pool_config config = {pool_types[k]->name,
					validation ? 50 : 1200, 7, 3, {4, 0.1}, validation};
				struct pool *one = pool_of(&config), *other = pool_of(&config);
				struct err err;

				pool_fill(one, stops[s], NULL);
				assert_ok(
					state_save(in_folder("pool"), visit_pool, one, &err), err);
				assert_ok(state_load(in_folder("pool"), visit_pool, other, &err),
					err);
				compare_pools(one, other, stops[s] + 3000);
				pool_free(one);
				pool_free(other);
			}
}

/* An object that holds something else already is filled as a fresh one is. */
static void used_pools_are_overwritten(void **state)
{
	(void)state;
	for (size_t k = 0; pool_types[k]; k++) {
		const struct pool_config config = {
			pool_types[k]->name, 1200, 7, 3, {4, 0.1}, false};
		struct pool *one = pool_of(&config), *other = pool_of(&config);
		struct err err;

		pool_fill(one, 700, NULL);
		pool_fill(other, 4000, NULL);
		assert_ok(state_save(in_folder("pool"), visit_pool, one, &err), err);
		assert_ok(state_load(in_folder("pool"), visit_pool, other, &err), err);
		compare_pools(one, other, 3000);
		pool_free(one);
		pool_free(other);
	}
}

static void other_configs_are_refused(void **state)
{
	static const struct {
		struct pool_config config;
		const char *words;
	} rows[] = {
		{{"fifo", 100, 7, 3, {4, 0.1}, false}, "kind"},
		{{"balanced", 100, 7, 3, {4, 0.1}, true}, "side"},
		{{"balanced", 100, 7, 2, {4, 0.1}, false}, "seed was 3 and is 2"},
		{{"balanced", 100, 7, 3, {5, 0.1}, false}, "holdout seed was 4 and is 5"},
		{{"balanced", 100, 7, 3, {4, 0.2}, false}, "holdout share was 0.1 and is 0.2"},
		{{"balanced", 99, 7, 3, {4, 0.1}, false}, "limit was 100 and is 99"},
		{{"balanced", 100, 8, 3, {4, 0.1}, false}, "had 7 classes and has 8"},
	};
	const struct pool_config config = {"balanced", 100, 7, 3, {4, 0.1}, false};
	struct pool *pool = pool_of(&config);
	struct err err;

	(void)state;
	pool_fill(pool, 500, NULL);
	assert_ok(state_save(in_folder("pool"), visit_pool, pool, &err), err);
	pool_free(pool);
	for (size_t i = 0; i < COUNT(rows); i++) {
		pool = pool_of(&rows[i].config);
		assert_true(state_load(in_folder("pool"), visit_pool, pool, &err) < 0);
		assert_says(err, rows[i].words);
		assert_says(err, "pool");
		pool_free(pool);
	}
}

/* A file that is whole but nonsense: saved from a pool whose insides were bent. */
static void bent_pools_are_refused(void **state)
{
	(void)state;
	for (size_t k = 0; pool_types[k]; k++)
		for (int bend = 0; bend < 4; bend++) {
			const struct pool_config config = {
				pool_types[k]->name, 100, 7, 3, {4, 0.1}, false};
			struct pool *one = pool_of(&config), *other = pool_of(&config);
			int64_t out = 0;
			struct err err;

			pool_fill(one, 500, NULL);
			while (!holdout_has(&config.holdout, out))
				out++;
			if (!one->ids && bend > 1) {
				pool_free(one);
				pool_free(other);
				continue;
			}
			switch (bend) {
			case 0:
				one->offered = one->seen + 1;
				break;
			case 1:
				one->offered = one->count - 1;
				break;
			case 2:
				one->ids[5] = 500;
				break;
			case 3:
				one->ids[5] = out;
				break;
			}
			assert_ok(state_save(in_folder("pool"), visit_pool, one, &err), err);
			assert_int_equal(
				state_load(in_folder("pool"), visit_pool, other, &err), ERR_FORMAT);
			assert_says(err, "hold");
			pool_free(one);
			pool_free(other);
		}
}

static int load_attempt(void *context, struct err *err)
{
	const struct pool_config config = {"reservoir", 3000, 7, 3, {4, 0.1}, false};
	struct pool *pool;
	int code = pool_new(&pool, &config, err);

	if (!code)
		code = state_load(context, visit_pool, pool, err);
	pool_free(pool);
	return code;
}

static void loading_runs_out_of_memory(void **state)
{
	const struct pool_config config = {"reservoir", 3000, 7, 3, {4, 0.1}, false};
	struct pool *pool = pool_of(&config);
	char path[400];
	struct err err;

	(void)state;
	pool_fill(pool, 5000, NULL);
	strcpy(path, in_folder("pool"));
	assert_ok(state_save(path, visit_pool, pool, &err), err);
	assert_true(each_allocation_fails(load_attempt, path) >= 2);
	pool_free(pool);
}

static struct objective *objective_of(const char *kind, const struct pool *pool)
{
	const struct objective_config config = {kind, 500, 0, 0.1, 9};
	struct objective *objective;
	struct err err;

	assert_ok(objective_new(&objective, &config, pool, &err), err);
	return objective;
}

static void objectives_go_on(void **state)
{
	const struct pool_config config = {"unlimited", 0, 0, 3, {4, 0.1}, false};

	(void)state;
	for (size_t k = 0; objective_types[k]; k++)
		for (uint64_t stop = 1; stop <= 41; stop += 10) {
			const char *kind = objective_type_name(objective_types[k]);
			struct pool *pool = pool_of(&config);
			struct objective *one = objective_of(kind, pool),
					 *other = objective_of(kind, pool);
			struct err err;

			for (uint64_t i = 1; i < 80; i++) {
				/* Two iterations a step, so that some stops are within one. */
				if (i % 2) {
					const int64_t seen = pool_seen(pool);

					pool_fill(pool, seen + 32, NULL);
					objective_step(one, seen, seen + 32);
					if (i > stop)
						objective_step(other, seen, seen + 32);
				}
				if (i == stop) {
					assert_ok(state_save(in_folder("objective"),
							  visit_objective, one, &err),
						err);
					assert_ok(state_load(in_folder("objective"),
							  visit_objective, other, &err),
						err);
				}
				assert_true(objective_batch(one, i, 64, ids[0], weights[0]));
				if (i < stop)
					continue;
				assert_true(objective_batch(other, i, 64, ids[1], weights[1]));
				assert_memory_equal(ids[0], ids[1], sizeof(ids[0]));
				assert_memory_equal(weights[0], weights[1], sizeof(weights[0]));
			}
			objective_free(one);
			objective_free(other);
			pool_free(pool);
		}
}

static void other_objectives_are_refused(void **state)
{
	const struct pool_config config = {"unlimited", 0, 0, 3, {4, 0.1}, false};
	struct pool *pool = pool_of(&config);

	(void)state;
	for (size_t k = 0; objective_types[k]; k++) {
		const size_t next = objective_types[k + 1] ? k + 1 : 0;
		struct objective *one = objective_of(objective_type_name(objective_types[k]), pool);
		struct objective *other =
			objective_of(objective_type_name(objective_types[next]), pool);
		struct err err;

		assert_ok(state_save(in_folder("objective"), visit_objective, one, &err), err);
		assert_true(state_load(in_folder("objective"), visit_objective, other, &err) < 0);
		assert_says(err, objective_type_name(objective_types[k]));
		objective_free(one);
		objective_free(other);
	}
	pool_free(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		folder_test(pools_go_on),
		folder_test(used_pools_are_overwritten),
		folder_test(other_configs_are_refused),
		folder_test(bent_pools_are_refused),
		folder_test(loading_runs_out_of_memory),
		folder_test(objectives_go_on),
		folder_test(other_objectives_are_refused),
	};

	return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}
