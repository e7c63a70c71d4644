/*
 * What pools hold: which side of the holdout, which samples of it, and what they
 * say was evicted; what they refuse; their options.
 */
#include "check.h"

#include "base/options.h"

static bool held[200000], others[200000];

static void holdout_shares(void **state)
{
	static const double shares[] = {0, 0.001, 0.05, 0.3, 0.5, 0.95};

	(void)state;
	for (size_t s = 0; s < COUNT(shares); s++) {
		const struct holdout holdout = {7 + s, shares[s]};
		struct sieve sieve;
		int blocks[50] = {0}, total = 0, pairs = 0;
		bool last = false;

		sieve_init(&sieve, &holdout);
		for (int64_t id = 0; id < 1000000; id++) {
			const bool has = sieve_has(&sieve, id);

			blocks[id / 20000] += has;
			total += has;
			pairs += has && last;
			last = has;
		}
		assert_share(total, 1000000, shares[s], "holdout");
		assert_share(pairs, 999999, shares[s] * shares[s], "neighbours held out");
		if (shares[s] > 0)
			assert_even(blocks, 50, "holdout over time");
	}
}

static void holdout_seeds_are_unlike(void **state)
{
	int both[2] = {0};

	(void)state;
	for (uint64_t seed = 0; seed < 2; seed++) {
		const uint64_t next = seed ? 1 + ((uint64_t)1 << 32) : 2;
		struct sieve a, b;

		sieve_init(&a, &(struct holdout){1, 0.2});
		sieve_init(&b, &(struct holdout){next, 0.2});
		for (int64_t id = 0; id < 200000; id++)
			both[seed] += sieve_has(&a, id) && sieve_has(&b, id);
		assert_share(both[seed], 200000, 0.04, "held out under both seeds");
	}
}

static void no_sample_is_on_both_sides(void **state)
{
	(void)state;
	for (size_t k = 0; pool_types[k]; k++)
		for (size_t v = 0; pool_types[v]; v++) {
			struct pool_config config = {
				pool_types[k]->name, 30000, 10, 3, {5, 0.05}, false};
			struct pool *training = pool_of(&config), *validation;
			const int64_t seen = 100000;
			int64_t counts[2] = {0};

			config.kind = pool_types[v]->name;
			config.limit = 2000;
			config.validation = true;
			validation = pool_of(&config);
			pool_fill(training, seen, held);
			pool_fill(validation, seen, others);
			for (int64_t id = 0; id < seen; id++) {
				const bool out = holdout_has(&config.holdout, id);

				if (held[id] && (others[id] || out))
					fail_msg("sample %d is in %s's training pool", (int)id,
						pool_types[k]->name);
				if (others[id] && !out)
					fail_msg("sample %d is in %s's validation pool", (int)id,
						pool_types[v]->name);
				counts[0] += held[id];
				counts[1] += others[id];
			}
			assert_int_equal(pool_count(training), counts[0]);
			assert_int_equal(pool_count(validation), counts[1]);
			assert_int_equal(pool_seen(training), seen);
			pool_free(training);
			pool_free(validation);
		}
}

static void without_holdout_all_are_taken(void **state)
{
	(void)state;
	for (size_t k = 0; pool_types[k]; k++) {
		struct pool_config config = {pool_types[k]->name, 50000, 1, 3, {5, 0}, false};
		struct pool *pool;

		/* The other half waits for past tasks. */
		config.limit *= pool_types[k] == &pool_halves ? 2 : 1;
		pool = pool_of(&config);
		pool_fill(pool, 50000, NULL);
		assert_int_equal(pool_count(pool), 50000);
		pool_free(pool);
	}
}

/* Six places: three for past tasks, three for the current one. */
static void halves_by_hand(void **state)
{
	const struct pool_config config = {"halves", 6, 1, 3, {5, 0}, false};
	struct pool *pool = pool_of(&config);
	bool there[20] = {0};
	int64_t ids[64], evicted[6], gone;

	(void)state;
	/* A first task of two samples: both are there, and then both are past. */
	pool_fill(pool, 2, there);
	assert_int_equal(pool_count(pool), 2);
	assert_false(pool_draw_range(pool, 1, 0, 0, 0, ids, 8));
	assert_int_equal(pool_task_room(pool), 2);
	assert_int_equal(pool_task(pool, evicted), 0);
	assert_int_equal(pool_count(pool), 2);
	assert_false(pool_draw(pool, 1, 0, 2, ids, 8));
	/* A second one of three: with the past's two that is one too many when it ends. */
	pool_fill(pool, 5, there);
	assert_int_equal(pool_count(pool), 5);
	for (int part = 0; part < 2; part++) {
		assert_true(pool_draw_range(
			pool, 1, 0, part ? 2 : 0, part ? 5 : 2, ids, (int)COUNT(ids)));
		for (size_t i = 0; i < COUNT(ids); i++)
			assert_true((ids[i] >= 2) == part);
	}
	gone = pool_task(pool, evicted);
	assert_int_equal(gone, 2);
	assert_int_equal(pool_count(pool), 3);
	for (int i = 0; i < gone; i++) {
		assert_true(there[evicted[i]]);
		there[evicted[i]] = false;
	}
	/* A third of ten: three of them at a time, and three of all fifteen when it ends. */
	pool_fill(pool, 15, there);
	assert_int_equal(pool_count(pool), 6);
	gone = pool_task(pool, evicted);
	assert_int_equal(gone, 3);
	for (int i = 0; i < gone; i++) {
		assert_true(there[evicted[i]]);
		there[evicted[i]] = false;
	}
	for (int64_t id = 0, count = 0; id < 15; id++) {
		count += there[id];
		assert_true(id < 14 || count == 3);
	}
	assert_true(pool_draw(pool, 2, 0, 0, ids, (int)COUNT(ids)));
	for (size_t i = 0; i < COUNT(ids); i++)
		assert_true(there[ids[i]]);
	pool_free(pool);
}

/* Past tasks of any length, longer or shorter than their half, end in a uniform sample. */
static void halves_are_uniform(void **state)
{
	enum { SEEN = 40, LIMIT = 20, SEEDS = 20000 };
	static const int64_t ends[] = {3, 10, 29, 31, SEEN};
	int past[SEEN] = {0}, current[SEEN] = {0};

	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		const struct pool_config config = {"halves", LIMIT, 1, seed, {5, 0}, false};
		struct pool *pool = pool_of(&config);
		int64_t evicted[LIMIT];

		for (size_t t = 0; t < COUNT(ends); t++) {
			pool_fill(pool, ends[t], NULL);
			for (int64_t i = 0; t == 2 && i < pool->count; i++)
				current[pool->ids[i]]++;
			pool_task(pool, evicted);
		}
		assert_int_equal(pool_count(pool), LIMIT / 2);
		for (int64_t i = 0; i < pool->count; i++)
			past[pool->ids[i]]++;
		pool_free(pool);
	}
	assert_even(past, SEEN, "past tasks");
	assert_even(current, 10, "the past during the third task");
	assert_even(current + 10, 19, "the third task");
}

static void reservoirs_are_uniform(void **state)
{
	enum { SEEN = 40, LIMIT = 10, SEEDS = 20000 };
	int counts[SEEN] = {0}, pairs[SEEN][SEEN] = {{0}};
	const double p = (double)LIMIT / SEEN;
	double chi = 0;

	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		const struct pool_config config = {"reservoir", LIMIT, 0, seed, {0, 0}, false};
		struct pool *pool = pool_of(&config);

		pool_fill(pool, SEEN, held);
		for (int i = 0; i < SEEN; i++) {
			counts[i] += held[i];
			for (int j = 0; j < i; j++)
				pairs[i][j] += held[i] && held[j];
		}
		pool_free(pool);
	}
	/* All have the same chance, and always LIMIT of them are there. */
	for (int i = 0; i < SEEN; i++)
		chi += pow(counts[i] - SEEDS * p, 2) / (SEEDS * p * (1 - p)) * (SEEN - 1) / SEEN;
	if (chi > chi_limit(SEEN - 1))
		fail_msg("inclusion: chi-square %g over %d samples", chi, SEEN);
	for (int i = 0; i < SEEN; i++)
		for (int j = 0; j < i; j++)
			assert_share(pairs[i][j], SEEDS, p * (LIMIT - 1) / (SEEN - 1), "a pair");
}

/* Each side is a reservoir of its own samples, however rare they are. */
static void reservoirs_count_their_side(void **state)
{
	enum { SEEN = 2000, LIMIT = 20, SEEDS = 2000 };
	const struct holdout holdout = {9, 0.05};
	int counts[SEEN] = {0}, cells = 0;

	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		const struct pool_config config = {"reservoir", LIMIT, 0, seed, holdout, true};
		struct pool *pool = pool_of(&config);

		pool_fill(pool, SEEN, held);
		for (int i = 0; i < SEEN; i++)
			counts[i] += held[i];
		pool_free(pool);
	}
	for (int i = 0; i < SEEN; i++)
		if (holdout_has(&holdout, i))
			counts[cells++] = counts[i];
	assert_true(cells > 70 && cells < 130);
	assert_even(counts, cells, "inclusion of held-out samples");
}

static void fifo_holds_the_last(void **state)
{
	const struct holdout holdout = {9, 0.3};

	(void)state;
	for (int validation = 0; validation < 2; validation++) {
		const struct pool_config config = {"fifo", 100, 0, 1, holdout, validation};
		struct pool *pool = pool_of(&config);

		for (int64_t seen = 0; seen < 2000; seen++) {
			int64_t left = 100;

			pool_fill(pool, seen, held);
			for (int64_t id = seen; id-- > 0;) {
				const bool mine = holdout_has(&holdout, id) == validation;

				assert_int_equal(held[id], mine && left > 0);
				left -= mine && left > 0;
			}
			assert_int_equal(pool_count(pool), 100 - left);
		}
		pool_free(pool);
	}
}

/* Four places. With one class k is 4, with two 2, with three or four 1. */
static void balanced_by_hand(void **state)
{
	static const struct {
		int32_t label;
		bool taken;
		const char *from; /* labels of which one goes, or "" */
	} steps[] = {
		{0, true, ""}, {0, true, ""}, {0, true, ""}, {0, true, ""},      /* 4 */
		{0, false, ""}, {1, true, "0"},                                  /* 3 1 */
		{1, true, "0"}, {1, false, ""}, {0, false, ""},                  /* 2 2 */
		{2, true, "01"}, {2, false, ""}, {0, false, ""}, {1, false, ""}, /* 1 2 1, 2 1 1 */
		{3, true, "01"}, {3, false, ""}, {0, false, ""},                 /* 1 1 1 1 */
	};
	enum { SEEDS = 4000 };
	int first[4] = {0}, tie[2] = {0};

	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		const struct pool_config config = {"balanced", 4, 4, seed, {0, 0}, false};
		struct pool *pool = pool_of(&config);
		int counts[4] = {0};

		for (int64_t id = 0; id < (int64_t)COUNT(steps); id++) {
			const int32_t label = steps[id].label;
			int64_t evicted;
			struct err err;

			assert_ok(pool_add(pool, id, label, &evicted, &err), err);
			assert_int_equal(evicted != id, steps[id].taken);
			assert_int_equal(evicted >= 0 && evicted < id, steps[id].from[0] != '\0');
			counts[label] += steps[id].taken;
			if (evicted >= 0 && evicted < id) {
				const int32_t gone = steps[evicted].label;

				assert_non_null(strchr(steps[id].from, '0' + gone));
				counts[gone]--;
				if (id == 5)
					first[evicted]++;
				if (id == 9)
					tie[gone]++;
			}
		}
		for (int c = 0; c < 4; c++)
			assert_int_equal(counts[c], 1);
		pool_free(pool);
	}
	assert_even(first, 4, "which of the largest class goes");
	assert_even(tie, 2, "which of the largest classes");
}

/* A long skewed stream against the rule, written down plainly. */
static void balanced_follows_its_rule(void **state)
{
	static const int64_t limits[] = {1, 5, 7, 64, 1000};
	enum { CLASSES = 12, SEEN = 20000 };

	(void)state;
	for (size_t l = 0; l < COUNT(limits); l++) {
		const struct pool_config config = {
			"balanced", limits[l], CLASSES, 1, {2, 0.1}, false};
		struct pool *pool = pool_of(&config);
		int64_t counts[CLASSES] = {0}, total = 0;
		bool known[CLASSES] = {false};
		int classes = 0;

		memset(held, 0, sizeof(held));
		for (int64_t id = 0; id < SEEN; id++) {
			/* New classes go on coming. */
			const int32_t label = (int32_t)(mix64((uint64_t)id) %
							(uint64_t)(1 + id * CLASSES / SEEN));
			int64_t evicted, share, most = 0;
			struct err err;

			assert_ok(pool_add(pool, id, label, &evicted, &err), err);
			if (holdout_has(&config.holdout, id)) {
				assert_int_equal(evicted, id);
				continue;
			}
			classes += !known[label];
			known[label] = true;
			share = limits[l] / classes > 1 ? limits[l] / classes : 1;
			assert_int_equal(evicted != id, counts[label] < share);
			if (evicted == id)
				continue;
			assert_int_equal(evicted >= 0, total == limits[l]);
			for (int c = 0; c < CLASSES; c++)
				most = counts[c] > most ? counts[c] : most;
			if (evicted >= 0) {
				const int64_t gone =
					(int64_t)(mix64((uint64_t)evicted) %
						  (uint64_t)(1 + evicted * CLASSES / SEEN));

				assert_true(held[evicted]);
				assert_int_equal(counts[gone], most);
				held[evicted] = false;
				counts[gone]--, total--;
			}
			held[id] = true;
			counts[label]++, total++;
		}
		assert_int_equal(pool_count(pool), total);
		for (int64_t i = 0; i < total; i++) {
			assert_true(held[pool->ids[i]]);
			held[pool->ids[i]] = false;
		}
		pool_free(pool);
	}
}

static void full_pools_allocate_nothing(void **state)
{
	(void)state;
	for (size_t k = 0; pool_types[k]; k++) {
		const struct pool_config config = {
			pool_types[k]->name, 500, 1, 3, {5, 0.05}, false};
		struct pool *pool = pool_of(&config);
		int64_t ids[64];
		uint64_t before;

		pool_fill(pool, 1000, NULL);
		before = mem_count();
		for (int i = 0; i < 100; i++) {
			pool_fill(pool, 1000 + 10 * i, NULL);
			assert_true(pool_draw(pool, (uint64_t)i, 0, 500, ids, 64));
		}
		assert_int_equal(mem_count(), before);
		pool_free(pool);
	}
}

/* A large limit costs nothing by itself. */
static void memory_grows_with_use(void **state)
{
	(void)state;
	for (size_t k = 0; pool_types[k]; k++) {
		const struct pool_config config = {
			pool_types[k]->name, INT64_MAX, 1, 3, {5, 0.05}, false};
		struct pool *pool = pool_of(&config);

		pool_fill(pool, 10000, NULL);
		assert_true(pool->room < 20000);
		pool_free(pool);
	}
}

static int attempt(void *context, struct err *err)
{
	const struct pool_config config = {context, 5000, 5, 3, {5, 0.1}, false};
	struct pool *pool;
	int code = pool_new(&pool, &config, err);

	if (code) {
		assert_null(pool);
		return code;
	}
	for (int64_t id = 0; id < 6000 && !code; id++) {
		const int64_t count = pool_count(pool);
		int64_t evicted;

		code = pool_add(pool, id, (int32_t)(id % 5), &evicted, err);
		if (code) {
			assert_int_equal(pool_seen(pool), id);
			assert_int_equal(pool_count(pool), count);
			/* The failure is over, and nothing is missing. */
			assert_int_equal(pool_add(pool, id, 0, &evicted, err), 0);
			assert_int_equal(pool_count(pool), count + 1);
			err_memory(err, "a pool", 0);
		}
	}
	pool_free(pool);
	return code;
}

static void out_of_memory(void **state)
{
	(void)state;
	for (size_t k = 0; pool_types[k]; k++) {
		char name[32];
		const int failures =
			each_allocation_fails(attempt, strcpy(name, pool_types[k]->name));

		assert_true(failures >= (pool_types[k]->limited ? 4 : 1));
	}
}

static void refusals(void **state)
{
	static const struct {
		struct pool_config config;
		const char *words;
	} rows[] = {
		{{"unlimted", 1, 1, 1, {1, 0}, false},
			"replay.pool = unlimted: not one of unlimited | reservoir"},
		{{"reservoir", 0, 1, 1, {1, 0}, false}, "replay.limit = 0"},
		{{"fifo", -3, 1, 1, {1, 0}, false}, "replay.limit = -3"},
		{{"reservoir", 0, 1, 1, {1, 0.1}, true}, "replay.validation_limit = 0"},
		{{"balanced", 10, 0, 1, {1, 0}, false},
			"replay.pool = balanced: needs at least 1 class"},
		{{"unlimited", 0, 1, 1, {1, 1}, false}, "replay.holdout = 1"},
		{{"unlimited", 0, 1, 1, {1, -0.1}, false}, "replay.holdout = -0.1"},
		{{"unlimited", 0, 1, 1, {1, (double)NAN}, false}, "replay.holdout = nan"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct pool *pool;
		struct err err;

		assert_int_equal(pool_new(&pool, &rows[i].config, &err), ERR_INPUT);
		assert_says(err, rows[i].words);
		assert_null(pool);
	}
	pool_free(NULL);
}

static void wrong_samples(void **state)
{
	const struct pool_config config = {"balanced", 10, 4, 1, {1, 0}, false};
	struct pool *pool = pool_of(&config);
	int64_t evicted;
	struct err err;

	(void)state;
	pool_fill(pool, 5, NULL);
	assert_int_equal(pool_add(pool, 4, 0, &evicted, &err), ERR_STATE);
	assert_says(err, "sample 4 was offered to a pool whose next one is 5");
	assert_int_equal(pool_add(pool, 6, 0, &evicted, &err), ERR_STATE);
	assert_int_equal(pool_add(pool, 5, 4, &evicted, &err), ERR_INPUT);
	assert_says(err, "sample 5 has label 4");
	assert_int_equal(pool_add(pool, 5, -1, &evicted, &err), ERR_INPUT);
	assert_int_equal(pool_seen(pool), 5);
	assert_int_equal(pool_add(pool, 5, 3, &evicted, &err), 0);
	pool_free(pool);
}

static void options_name_all_kinds(void **state)
{
	const struct option_row *const tables[] = {pool_options, NULL};
	struct options *options;
	struct err err;
	char words[256] = "";

	(void)state;
	assert_ok(options_new(&options, tables, &err), err);
	for (size_t k = 0; pool_types[k]; k++) {
		strcat(strcat(words, k ? " | " : ""), pool_type_name(pool_types[k]));
		assert_true(strlen(pool_type_help(pool_types[k])) > 0);
		assert_ok(options_set(options, "replay.pool", pool_types[k]->name, "test", &err),
			err);
	}
	assert_string_equal(words, pool_options[0].allowed);
	assert_int_equal(options_set(options, "replay.limit", "0", "test", &err), ERR_INPUT);
	assert_int_equal(options_set(options, "replay.holdout", "1", "test", &err), ERR_INPUT);
	assert_ok(options_set(options, "replay.holdout", "0", "test", &err), err);
	assert_int_equal(options_int64(options, "replay.validation_limit"), 0);
	options_free(options);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holdout_shares),
		cmocka_unit_test(holdout_seeds_are_unlike),
		cmocka_unit_test(no_sample_is_on_both_sides),
		cmocka_unit_test(without_holdout_all_are_taken),
		cmocka_unit_test(reservoirs_are_uniform),
		cmocka_unit_test(halves_by_hand),
		cmocka_unit_test(halves_are_uniform),
		cmocka_unit_test(reservoirs_count_their_side),
		cmocka_unit_test(fifo_holds_the_last),
		cmocka_unit_test(balanced_by_hand),
		cmocka_unit_test(balanced_follows_its_rule),
		cmocka_unit_test(full_pools_allocate_nothing),
		cmocka_unit_test(memory_grows_with_use),
		cmocka_unit_test(out_of_memory),
		cmocka_unit_test(refusals),
		cmocka_unit_test(wrong_samples),
		cmocka_unit_test(options_name_all_kinds),
	};

	return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
