/* What batches are made of: where samples come from, how much they count, and what is refused. */
#include "check.h"

#include "base/options.h"
#include "replay/objective.h"

enum { SEEN = 4000, MOST = 300 };

static int64_t ids[MOST];
static float weights[MOST];
static bool held[SEEN];

static struct objective *objective_of(
	const struct objective_config *config, const struct pool *pool)
{
	struct objective *objective;
	struct err err;

	assert_ok(objective_new(&objective, config, pool, &err), err);
	return objective;
}

static struct pool *filled(const char *kind, int64_t limit, int64_t seen)
{
	const struct pool_config config = {kind, limit, 10, 3, {4, 0.05}, false};
	struct pool *pool = pool_of(&config);

	memset(held, 0, sizeof(held));
	pool_fill(pool, seen, held);
	return pool;
}

static bool held_out(int64_t id)
{
	return holdout_has(&(struct holdout){4, 0.05}, id);
}

static void assert_sum(int first, int end, double expected)
{
	double sum = 0;

	for (int i = first; i < end; i++)
		sum += weights[i];
	if (fabs(sum - expected) > 1e-5)
		fail_msg("weights %d to %d sum to %g", first, end, sum);
}

static void pure_is_the_pool(void **state)
{
	(void)state;
	for (size_t k = 0; pool_types[k]; k++) {
		struct pool *pool = filled(pool_types[k]->name, 500, SEEN);
		const struct objective_config config = {"pure", 0, 0, 0.1, 3};
		struct objective *objective = objective_of(&config, pool);
		int64_t drawn[MOST];

		objective_step(objective, SEEN - 32, SEEN);
		for (uint64_t i = 1; i < 20; i++) {
			assert_true(objective_batch(objective, i, 65, ids, weights));
			assert_true(pool_draw(pool, i, 0, 0, drawn, 65));
			assert_memory_equal(ids, drawn, 65 * sizeof(*ids));
			assert_sum(0, 65, 1);
			assert_true(weights[0] == weights[64]);
		}
		objective_free(objective);
		pool_free(pool);
	}
}

static void mixed_halves(void **state)
{
	static const int sizes[] = {2, 3, 64, 65, 256};

	(void)state;
	for (size_t k = 0; pool_types[k]; k++)
		for (int64_t history = 0; history <= 1000; history += 500)
			for (size_t s = 0; s < COUNT(sizes); s++) {
				struct pool *pool = filled(pool_types[k]->name, 700, SEEN);
				const struct objective_config config = {
					"mixed", history, 0, 0.1, 3};
				struct objective *objective = objective_of(&config, pool);
				const int n = sizes[s], fresh = n - n / 2;

				objective_step(objective, SEEN - 100, SEEN - 40);
				for (uint64_t k2 = 1; k2 < 20; k2++) {
					assert_true(
						objective_batch(objective, k2, n, ids, weights));
					for (int i = 0; i < fresh; i++)
						assert_true(ids[i] >= SEEN - 100 &&
							    ids[i] < SEEN - 40 &&
							    !held_out(ids[i]));
					for (int i = fresh; i < n; i++)
						assert_true(held[ids[i]] &&
							    (!history || ids[i] >= SEEN - history));
					assert_sum(0, fresh, 0.5);
					assert_sum(fresh, n, 0.5);
				}
				objective_free(objective);
				pool_free(pool);
			}
}

/* 60 samples, some of them held out: each comes once before any comes twice, first in any order. */
static void mixed_takes_turns(void **state)
{
	struct pool *pool = filled("unlimited", 0, SEEN);
	const struct objective_config config = {"mixed", 0, 0, 0.1, 3};
	struct objective *objective = objective_of(&config, pool);
	int64_t first = 0;
	int firsts[60] = {0}, cells = 0, usable = 0;

	(void)state;
	while (!held_out(first + 5))
		first++;
	objective_step(objective, first, first + 60);
	for (int64_t id = first; id < first + 60; id++)
		usable += !held_out(id);
	assert_true(usable < 60);
	for (uint64_t k = 1; k <= 20000; k++) {
		int counts[60] = {0};

		assert_true(objective_batch(objective, k, 256, ids, weights));
		for (int i = 0; i < 128; i++)
			counts[ids[i] - first]++;
		for (int i = 0; i < 60; i++)
			if (held_out(first + i)
					? counts[i] != 0
					: counts[i] < 128 / usable || counts[i] > 128 / usable + 1)
				fail_msg("sample %d of the step came %d times", i, counts[i]);
		firsts[ids[0] - first]++;
	}
	for (int i = 0; i < 60; i++)
		if (!held_out(first + i))
			firsts[cells++] = firsts[i];
	assert_even(firsts, cells, "who comes first");
	objective_free(objective);
	pool_free(pool);
}

static void mixed_with_one_side_empty(void **state)
{
	const struct pool_config empty = {"unlimited", 0, 0, 3, {4, 0.05}, false};
	const struct objective_config config = {"mixed", 10, 0.5, 0.1, 3};
	struct pool *pool = filled("unlimited", 0, SEEN), *none = pool_of(&empty);
	struct objective *objective = objective_of(&config, pool), *early;
	int64_t out = 0;

	(void)state;
	/* No step yet, an empty one, one whose only sample is held out. */
	while (!held_out(out))
		out++;
	for (int i = 0; i < 3; i++) {
		if (i > 0)
			objective_step(objective, out, out + i - 1);
		assert_true(objective_batch(objective, 5, 33, ids, weights));
		for (int j = 0; j < 33; j++)
			assert_true(held[ids[j]] && ids[j] >= SEEN - 10);
		assert_sum(0, 33, 1);
		assert_true(weights[0] == weights[32]);
	}
	early = objective_of(&config, none);
	assert_false(objective_batch(early, 5, 33, ids, weights));
	objective_step(early, 0, out + 1);
	assert_true(objective_batch(early, 5, 33, ids, weights));
	for (int j = 0; j < 33; j++)
		assert_true(ids[j] >= 0 && ids[j] < out);
	assert_sum(0, 33, 1);
	assert_true(weights[0] == weights[32]);
	/* A batch of one has no second half. */
	assert_true(objective_batch(early, 5, 1, ids, weights));
	assert_true(weights[0] == 1);
	objective_free(objective);
	objective_free(early);
	pool_free(pool);
	pool_free(none);
}

/* Epochs over a pool that does not grow: all once, in another order each time, batches across. */
static void epochs_show_each_once(void **state)
{
	static const int sizes[] = {1, 7, 64, 300};

	(void)state;
	for (size_t s = 0; s < COUNT(sizes); s++) {
		struct pool *pool = filled("unlimited", 0, 500);
		const struct objective_config config = {"epochs", 0, 0, 0.1, 3};
		struct objective *objective = objective_of(&config, pool);
		const int per_epoch = (int)pool_count(pool);
		int64_t orders[5][500];
		int taken = 0;

		while (taken < 5 * per_epoch) {
			assert_true(objective_batch(objective, 1, sizes[s], ids, weights));
			assert_sum(0, sizes[s], 1);
			for (int i = 0; i < sizes[s] && taken < 5 * per_epoch; i++, taken++)
				orders[taken / per_epoch][taken % per_epoch] = ids[i];
		}
		for (int e = 0; e < 5; e++) {
			int counts[500] = {0}, fixed = 0;

			for (int i = 0; i < per_epoch; i++) {
				counts[orders[e][i]]++;
				fixed += e > 0 && orders[e][i] == orders[e - 1][i];
			}
			for (int i = 0; i < 500; i++)
				if (counts[i] != held[i])
					fail_msg("sample %d came %d times", i, counts[i]);
			assert_true(fixed < 12);
		}
		objective_free(objective);
		pool_free(pool);
	}
}

static void epochs_of_a_growing_pool(void **state)
{
	struct pool *pool = filled("unlimited", 0, 0);
	const struct objective_config config = {"epochs", 0, 0, 0.1, 3};
	struct objective *objective = objective_of(&config, pool);
	int first, counts[300] = {0};

	(void)state;
	assert_false(objective_batch(objective, 1, 10, ids, weights));
	pool_fill(pool, 100, held);
	first = (int)pool_count(pool);
	assert_true(objective_batch(objective, 1, 10, ids, weights));
	/* The rest of the first epoch knows nothing of what comes now, the second does. */
	pool_fill(pool, 300, held);
	assert_true(objective_batch(objective, 1, first - 10, ids, weights));
	for (int i = 0; i < first - 10; i++)
		assert_true(ids[i] < 100);
	assert_true(objective_batch(objective, 1, (int)pool_count(pool), ids, weights));
	for (int i = 0; i < (int)pool_count(pool); i++)
		counts[ids[i]]++;
	for (int i = 0; i < 300; i++)
		assert_int_equal(counts[i], held[i]);
	objective_free(objective);
	pool_free(pool);
}

/* Which seed, and nothing else, makes the order. */
static void epochs_have_seeds(void **state)
{
	struct pool *pool = filled("unlimited", 0, 500);
	int64_t orders[3][100];

	(void)state;
	for (int i = 0; i < 3; i++) {
		const struct objective_config config = {"epochs", 0, 0, 0.1, 3 + i / 2};
		struct objective *objective = objective_of(&config, pool);

		assert_true(objective_batch(objective, 1, 100, orders[i], weights));
		objective_free(objective);
	}
	assert_memory_equal(orders[0], orders[1], sizeof(orders[0]));
	assert_memory_not_equal(orders[0], orders[2], sizeof(orders[0]));
	pool_free(pool);
}

static void recency(void **state)
{
	static const struct {
		int n;
		double share;
		int recent;
	} rows[] = {
		{64, 0.1, 6}, {65, 0.1, 7}, {256, 0.1, 26}, {10, 0.05, 1}, {9, 0.05, 0}, {7, 1, 7}};

	(void)state;
	for (size_t k = 0; pool_types[k]; k++)
		for (size_t r = 0; r < COUNT(rows); r++) {
			struct pool *pool = filled(pool_types[k]->name, 500, SEEN);
			const int64_t newest = pool_newest(pool, 0.02);
			const struct objective_config config = {"pure", 0, rows[r].share, 0.02, 3};
			struct objective *objective = objective_of(&config, pool);
			double older = 0, draws = 0;

			for (uint64_t i = 0; i < 200; i++) {
				assert_true(objective_batch(objective, i, rows[r].n, ids, weights));
				for (int j = 0; j < rows[r].recent; j++)
					assert_true(ids[j] >= newest && held[ids[j]]);
				for (int j = rows[r].recent; j < rows[r].n; j++, draws++)
					older += ids[j] < newest;
			}
			/* The others are as old as any. */
			if (older < 0.9 * draws)
				fail_msg("%g of %g are old", older, draws);
			assert_sum(0, rows[r].n, 1);
			objective_free(objective);
			pool_free(pool);
		}
}

/* The replay half of mixed has its share, too, within its history. */
static void recency_in_mixed(void **state)
{
	struct pool *pool = filled("unlimited", 0, SEEN);
	const struct objective_config config = {"mixed", 2000, 0.25, 0.01, 3};
	struct objective *objective = objective_of(&config, pool);

	(void)state;
	objective_step(objective, 0, 32);
	for (uint64_t k = 0; k < 100; k++) {
		assert_true(objective_batch(objective, k, 80, ids, weights));
		for (int i = 0; i < 80; i++)
			assert_true(i < 40 ? ids[i] < 32
					   : ids[i] >= (i < 50 ? SEEN - SEEN / 100 : SEEN - 2000));
	}
	objective_free(objective);
	pool_free(pool);
}

/* Where the newest are all held out, the share comes from the rest. */
static void recency_without_new_samples(void **state)
{
	const struct objective_config config = {"pure", 0, 0.5, 1e-6, 3};
	struct pool *pool;
	struct objective *objective;
	int64_t out = 10;

	(void)state;
	while (!held_out(out))
		out++;
	pool = filled("unlimited", 0, out + 1);
	objective = objective_of(&config, pool);
	assert_int_equal(pool_newest(pool, 1e-6), out);
	assert_true(objective_batch(objective, 1, 64, ids, weights));
	for (int i = 0; i < 64; i++)
		assert_true(held[ids[i]]);
	objective_free(objective);
	pool_free(pool);
}

static void refusals(void **state)
{
	static const struct {
		const char *pool;
		struct objective_config config;
		const char *words;
	} rows[] = {
		{"unlimited", {"mixd", 0, 0, 0.1, 1},
			"replay.objective = mixd: not one of pure | mixed"},
		{"unlimited", {"mixed", -1, 0, 0.1, 1}, "replay.history = -1"},
		{"unlimited", {"pure", 0, 1.5, 0.1, 1}, "replay.recency_share = 1.5"},
		{"unlimited", {"pure", 0, (double)NAN, 0.1, 1}, "replay.recency_share = nan"},
		{"unlimited", {"pure", 0, 0, 0, 1}, "replay.recency_window = 0"},
		{"unlimited", {"pure", 0, 0, 1.1, 1}, "replay.recency_window = 1.1"},
		{"reservoir", {"epochs", 0, 0, 0.1, 1},
			"needs replay.pool = unlimited, not reservoir"},
		{"fifo", {"epochs", 0, 0, 0.1, 1}, "not fifo"},
		{"balanced", {"epochs", 0, 0, 0.1, 1}, "not balanced"},
		{"unlimited", {"epochs", 0, 0.1, 0.1, 1}, "replay.recency_share = 0.1"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct pool *pool = filled(rows[i].pool, 10, 0);
		struct objective *objective;
		struct err err;

		assert_int_equal(objective_new(&objective, &rows[i].config, pool, &err), ERR_INPUT);
		assert_says(err, rows[i].words);
		assert_null(objective);
		pool_free(pool);
	}
	objective_free(NULL);
}

static int attempt(void *context, struct err *err)
{
	const struct objective_config config = {"mixed", 0, 0, 0.1, 1};
	struct objective *objective;
	const int code = objective_new(&objective, &config, context, err);

	objective_free(objective);
	return code;
}

static void out_of_memory(void **state)
{
	struct pool *pool = filled("unlimited", 0, SEEN);

	(void)state;
	assert_int_equal(each_allocation_fails(attempt, pool), 2);
	pool_free(pool);
}

/* Half of the current task, half of what came before it, by whatever pool holds them. */
static void er_is_half_current_half_past(void **state)
{
	static const char *const kinds[] = {"er", "mir"};

	(void)state;
	for (size_t k = 0; pool_types[k]; k++)
		for (size_t o = 0; o < COUNT(kinds); o++) {
			struct pool *pool = filled(pool_types[k]->name, 2000, SEEN);
			const struct objective_config config = {kinds[o], 0, 0, 0.1, 3};
			struct objective *objective = objective_of(&config, pool);
			const int64_t task = SEEN - 600;
			int64_t drawn[MOST];

			objective_step(objective, SEEN - 32, SEEN);
			objective_task(objective, task);
			for (uint64_t i = 1; i < 20; i++) {
				assert_true(objective_batch(objective, i, 65, ids, weights));
				for (int s = 0; s < 65; s++) {
					assert_true((ids[s] >= task) == (s < 33));
					assert_true(held[ids[s]]);
				}
				assert_sum(0, 33, 0.5);
				assert_sum(33, 65, 0.5);
				assert_true(objective_candidates(objective, i, 65, drawn));
				for (int s = 0; s < 65; s++)
					assert_true(drawn[s] < task && held[drawn[s]]);
				assert_memory_not_equal(drawn + 33, ids + 33, 32 * sizeof(*ids));
			}
			assert_int_equal(objective_traits(kinds[o]).chooses, o == 1);
			objective_free(objective);
			pool_free(pool);
		}
}

/* A step that is a task is given out evenly; without a past all is current. */
static void er_of_single_steps(void **state)
{
	struct pool *pool = filled("unlimited", 0, 32);
	const struct objective_config config = {"er", 0, 0, 0.1, 3};
	struct objective *objective = objective_of(&config, pool);
	int times[64] = {0}, fit = 0;

	(void)state;
	objective_step(objective, 0, 32);
	assert_true(objective_batch(objective, 1, 64, ids, weights));
	assert_false(objective_candidates(objective, 1, 64, ids));
	assert_sum(0, 64, 1);
	pool_fill(pool, 64, NULL);
	objective_step(objective, 32, 64);
	assert_true(objective_batch(objective, 2, 64, ids, weights));
	for (int i = 0; i < 64; i++) {
		assert_true((ids[i] >= 32) == (i < 32));
		times[ids[i]]++;
	}
	for (int id = 32; id < 64; id++) {
		assert_int_equal(times[id] > 0, !held_out(id));
		assert_true(times[id] <= 2);
		fit += !held_out(id);
	}
	assert_true(fit > 25);
	objective_free(objective);
	pool_free(pool);
}

/* What mixed replay reaches back to can be moved. */
static void the_reach_moves(void **state)
{
	struct pool *pool = filled("unlimited", 0, SEEN);
	const struct objective_config config = {"mixed", 1000, 0, 0.1, 3};
	struct objective *objective = objective_of(&config, pool);
	static const int64_t reaches[] = {1000, 100, 0};

	(void)state;
	objective_step(objective, SEEN - 32, SEEN);
	for (size_t r = 0; r < COUNT(reaches); r++) {
		int64_t oldest = SEEN;

		if (r)
			objective_reach(objective, reaches[r]);
		for (uint64_t i = 1; i < 50; i++) {
			assert_true(objective_batch(objective, i, 64, ids, weights));
			for (int s = 32; s < 64; s++)
				oldest = ids[s] < oldest ? ids[s] : oldest;
		}
		assert_true(oldest >= (reaches[r] ? SEEN - reaches[r] : 0));
		assert_true(oldest < (reaches[r] ? SEEN - reaches[r] * 9 / 10 : 100));
	}
	objective_free(objective);
	pool_free(pool);
}

static void batches_allocate_nothing(void **state)
{
	struct pool *pool = filled("unlimited", 0, SEEN);

	(void)state;
	for (size_t k = 0; objective_types[k]; k++) {
		const struct objective_config config = {
			objective_type_name(objective_types[k]), 0, 0, 0.1, 1};
		struct objective *objective = objective_of(&config, pool);
		const uint64_t before = mem_count();

		for (uint64_t i = 0; i < 100; i++) {
			objective_step(objective, 32 * (int64_t)i, 32 * (int64_t)i + 32);
			assert_true(objective_batch(objective, i, 64, ids, weights));
		}
		assert_int_equal(mem_count(), before);
		objective_free(objective);
	}
	pool_free(pool);
}

static void options_name_all_kinds(void **state)
{
	const struct option_row *const tables[] = {pool_options, objective_options, NULL};
	struct options *options;
	struct err err;
	char words[256] = "";

	(void)state;
	assert_ok(options_new(&options, tables, &err), err);
	for (size_t k = 0; objective_types[k]; k++) {
		const char *name = objective_type_name(objective_types[k]);

		strcat(strcat(words, k ? " | " : ""), name);
		assert_true(objective_traits(name).chooses == !strcmp(name, "mir"));
		assert_true(objective_traits(name).reaches == !strcmp(name, "mixed"));
		assert_true(objective_traits(name).whole == !strcmp(name, "epochs"));
		assert_true(strlen(objective_type_help(objective_types[k])) > 0);
	}
	assert_string_equal(words, objective_options[0].allowed);
	assert_int_equal(
		options_set(options, "replay.recency_window", "0", "test", &err), ERR_INPUT);
	assert_int_equal(
		options_set(options, "replay.recency_share", "1.1", "test", &err), ERR_INPUT);
	assert_int_equal(options_set(options, "replay.history", "-1", "test", &err), ERR_INPUT);
	options_free(options);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pure_is_the_pool),
		cmocka_unit_test(mixed_halves),
		cmocka_unit_test(mixed_takes_turns),
		cmocka_unit_test(mixed_with_one_side_empty),
		cmocka_unit_test(epochs_show_each_once),
		cmocka_unit_test(epochs_of_a_growing_pool),
		cmocka_unit_test(epochs_have_seeds),
		cmocka_unit_test(recency),
		cmocka_unit_test(recency_in_mixed),
		cmocka_unit_test(recency_without_new_samples),
		cmocka_unit_test(refusals),
		cmocka_unit_test(out_of_memory),
		cmocka_unit_test(er_is_half_current_half_past),
		cmocka_unit_test(er_of_single_steps),
		cmocka_unit_test(the_reach_moves),
		cmocka_unit_test(batches_allocate_nothing),
		cmocka_unit_test(options_name_all_kinds),
	};

	return cmocka_run_group_tests_name("objective", tests, NULL, NULL);
}
