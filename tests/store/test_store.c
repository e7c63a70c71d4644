/*
 * Stores: what was added comes back, with any cache and after any forgetting;
 * places are used again; fetching allocates nothing; state survives a file.
 */
#include "store_check.h"
#include "cells.h"

enum { DIM = 32, ROW = DIM * 4 + 4, ADDED = 10000 };

static float made[ADDED * DIM];
static int32_t made_labels[ADDED];
static int64_t made_ids[ADDED], ids[BATCH];

static struct source *filled_source(void)
{
	struct source *source = source_with(SETTINGS("drift.steps=400"));
	struct err err;

	for (int i = 0; i < ADDED; i++)
		made_ids[i] = i;
	assert_ok(source_inputs(source, SOURCE_STREAM, made_ids, ADDED, made, &err), err);
	assert_ok(source_labels(source, SOURCE_STREAM, made_ids, ADDED, CELLS(made_labels), &err),
		err);
	return source;
}

static struct store *cached_store(struct source *source, size_t cache)
{
	struct store *store;
	struct err err;

	assert_ok(source_store_new(&store, source, cache, &err), err);
	return store;
}

static void add_all(struct store *store)
{
	struct err err;

	for (int i = 0, n; i < ADDED; i += n) {
		n = ADDED - i < 33 ? ADDED - i : 33;
		assert_int_equal(store_count(store), i);
		assert_ok(store_add(store, made + i * DIM, CELLS(made_labels + i), n, &err), err);
	}
	assert_int_equal(store_count(store), ADDED);
}

/* Draws batches of all sizes and compares them with what was made; counts allocations. */
static void fetch_and_compare(struct store *store, const char *what)
{
	const uint64_t before = mem_count();
	struct err err;

	for (uint64_t turn = 0; turn < 400; turn++) {
		const int n = (int)(turn % BATCH) + 1;

		for (int i = 0; i < n; i++)
			ids[i] = (int64_t)rng_below(draws, turn * BATCH + (uint64_t)i, ADDED);
		assert_ok(store_fetch(store, ids, n, inputs, CELLS(labels), &err), err);
		for (int i = 0; i < n; i++)
			if (labels[i] != made_labels[ids[i]] ||
				memcmp(inputs + i * DIM, made + ids[i] * DIM, DIM * sizeof(float)))
				fail_msg("%s: sample %d is another", what, (int)ids[i]);
	}
	assert_int_equal(mem_count(), before);
}

/* How many samples a source was asked to make. */
static int64_t made_again;
static const struct source_type *plain_type;

static int count_inputs(struct source *source, enum source_part part, const int64_t *which, int n,
	float *out, struct err *err)
{
	made_again += n;
	return plain_type->inputs(source, part, which, n, out, err);
}

/* How many samples the store keeps, as those that it need not ask its source for. */
static int64_t count_kept(struct store *store, struct source *source)
{
	struct source_type counting = *source->type;
	struct err err;

	plain_type = source->type;
	counting.inputs = count_inputs;
	source->type = &counting;
	made_again = 0;
	for (int64_t id = 0; id < store_count(store); id++)
		assert_ok(store_fetch(store, &id, 1, inputs, CELLS(labels), &err), err);
	source->type = plain_type;
	return store_count(store) - made_again;
}

static void any_cache_gives_the_same_bits(void **state)
{
	static const struct {
		size_t cache, rows;
	} caches[] = {{0, 0}, {1, 0}, {ROW, 1}, {2000 * ROW + 5, 2000}, {ADDED * ROW, ADDED},
		{(size_t)1 << 30, ADDED}};
	struct source *source = filled_source();

	for (size_t i = 0; i < COUNT(caches); i++) {
		struct store *store = cached_store(source, caches[i].cache);

		add_all(store);
		assert_int_equal(count_kept(store, source), caches[i].rows);
		fetch_and_compare(store, "cache");
		assert_int_equal(count_kept(store, source), caches[i].rows);
		store_forget(store, 5);
		fetch_and_compare(store, "forgotten");
		store_free(store);
	}
	source_close(source);
}

/* Were it made again, it would not be what was given. */
static void cached_inputs_are_those_given(void **state)
{
	struct source *source = filled_source();
	struct store *store = cached_store(source, 1 << 20);
	struct err err;

	made[3] = 12345;
	made_labels[0] = 77;
	assert_ok(store_add(store, made, CELLS(made_labels), 1, &err), err);
	assert_ok(store_fetch(store, &(int64_t){0}, 1, inputs, CELLS(labels), &err), err);
	assert_true(inputs[3] == 12345);
	assert_int_equal(labels[0], 77);
	store_free(store);
	source_close(source);
}

static void only_what_was_added_can_be_fetched(void **state)
{
	struct source *source = filled_source();
	struct store *store = cached_store(source, 1 << 20);
	struct err err;

	assert_int_equal(
		store_fetch(store, &(int64_t){0}, 1, inputs, CELLS(labels), &err), ERR_INPUT);
	assert_says(err, "sample 0 has not been added");
	assert_ok(store_add(store, made, CELLS(made_labels), 7, &err), err);
	assert_ok(store_fetch(store, &(int64_t){6}, 1, inputs, CELLS(labels), &err), err);
	assert_int_equal(
		store_fetch(store, &(int64_t){7}, 1, inputs, CELLS(labels), &err), ERR_INPUT);
	assert_says(err, "sample 7 has not been added, there are 7");
	assert_int_equal(
		store_fetch(store, &(int64_t){-1}, 1, inputs, CELLS(labels), &err), ERR_INPUT);
	assert_int_equal(store_count(store), 7);
	store_free(store);
	store_free(NULL);
	source_close(source);
}

static void a_source_has_an_end(void **state)
{
	struct source *source = source_with(SETTINGS("drift.steps=3", "drift.per_step=2"));
	struct store *store = cached_store(source, 1 << 20);
	struct err err;

	assert_ok(store_add(store, made, CELLS(made_labels), 5, &err), err);
	assert_int_equal(store_add(store, made, CELLS(made_labels), 2, &err), ERR_INPUT);
	assert_says(err, "sample 6 cannot be added");
	assert_int_equal(store_count(store), 5);
	assert_ok(store_add(store, made, CELLS(made_labels), 1, &err), err);
	store_free(store);
	source_close(source);
}

static void the_cache_fills_again_after_a_resume(void **state)
{
	struct source *source = filled_source();
	struct store *before = cached_store(source, 1 << 30);
	struct store *after = cached_store(source, 1 << 30);
	struct source *brief = source_with(SETTINGS("drift.steps=4"));
	struct store *wrong = cached_store(brief, 0);
	struct err err;

	add_all(before);
	assert_ok(state_save(in_folder("state"), visit, before, &err), err);
	assert_ok(state_load(in_folder("state"), visit, after, &err), err);
	assert_int_equal(store_count(after), ADDED);
	fetch_and_compare(after, "resumed");
	/* What was not drawn is not there. */
	assert_in_range(count_kept(after, source), ADDED / 2, ADDED - 1);
	assert_int_equal(count_kept(after, source), ADDED);
	fetch_and_compare(after, "resumed, again");
	assert_int_not_equal(state_load(in_folder("state"), visit, wrong, &err), 0);
	assert_says(err, "the source only 128");
	store_free(before);
	store_free(after);
	store_free(wrong);
	source_close(source);
	source_close(brief);
}

static struct store *memory_store(void)
{
	struct store *store;
	struct err err;

	assert_ok(store_in_memory(&store, SMALL, 1, &err), err);
	return store;
}

static void memory_keeps_until_forgotten(void **state)
{
	struct store *store = memory_store();
	static bool kept[30000];
	int64_t first;

	/* Random samples go, in all phases of growth. */
	for (uint64_t turn = 0; turn < 1000; turn++) {
		first = store_count(store);
		add_next(store, (int)(turn % 30) + 1, SMALL);
		for (int64_t id = first; id < store_count(store); id++)
			kept[id] = true;
		for (uint64_t i = 0; i < turn % 40; i++) {
			const int64_t id = (int64_t)rng_below(
				draws, turn * 100 + i, (uint64_t)store_count(store));

			store_forget(store, id);
			kept[id] = false;
		}
	}
	for (int64_t id = 0; id < store_count(store); id++)
		assert_kept(store, id, SMALL, kept[id]);
	store_forget(store, store_count(store));
	store_forget(store, -1);
	store_free(store);
}

/* A window of a thousand samples that moves far: memory must not follow. */
static void places_are_used_again(void **state)
{
	struct store *store = memory_store();
	uint64_t allocations = 0;

	for (int64_t first = 0; first < 100000; first += 50) {
		add_next(store, 50, SMALL);
		if (first >= 1000)
			for (int64_t id = first - 1000; id < first - 950; id++)
				store_forget(store, id);
		if (first == 5000)
			allocations = mem_count();
	}
	assert_int_equal(mem_count(), allocations);
	for (int64_t id = 99000; id < 100000; id++)
		assert_kept(store, id, SMALL, true);
	assert_kept(store, 98949, SMALL, false);
	store_free(store);
}

/* How often it asks for memory. */
static uint64_t add_many(struct store *store)
{
	const uint64_t before = mem_count();

	for (int i = 0; i < 500; i++)
		add_next(store, 64, SMALL);
	return mem_count() - before;
}

static void memory_survives_a_file(void **state)
{
	struct store *before = memory_store(), *after = memory_store();
	struct err err;

	for (int i = 0; i < 1000; i++)
		add_next(before, 64, SMALL);
	for (int64_t id = 0; id < 64000; id++)
		if (rng_below(draws, (uint64_t)id, 3))
			store_forget(before, id);
	/* What the other one held before is gone. */
	add_next(after, 64, SMALL);
	assert_ok(state_save(in_folder("state"), visit, before, &err), err);
	assert_ok(state_load(in_folder("state"), visit, after, &err), err);
	for (int turn = 0; turn < 2; turn++) {
		assert_int_equal(store_count(after), store_count(before));
		for (int64_t id = 0; id < 64000; id++)
			assert_kept(after, id, SMALL, !rng_below(draws, (uint64_t)id, 3));
		assert_int_equal(add_many(before), add_many(after));
		for (int64_t id = 64000; id < store_count(after); id++)
			assert_kept(after, id, SMALL, true);
	}
	store_free(before);
	store_free(after);
}

static void an_empty_store_survives_a_file(void **state)
{
	struct store *before = memory_store(), *after = memory_store();
	struct err err;

	add_next(after, 10, SMALL);
	assert_ok(state_save(in_folder("state"), visit, before, &err), err);
	assert_ok(state_load(in_folder("state"), visit, after, &err), err);
	assert_int_equal(store_count(after), 0);
	add_next(after, 64, SMALL);
	for (int64_t id = 0; id < 64; id++)
		assert_kept(after, id, SMALL, true);
	store_free(before);
	store_free(after);
}

static int try_storing(void *context, struct err *err)
{
	struct store *store, *cached;
	int code = store_in_memory(&store, SMALL, 1, err);
	int64_t added = 0;

	while (!code && added < 50000) {
		code = store_add(store, made, CELLS(made_labels), 1000, err);
		assert_int_equal(store_count(store), added + (code ? 0 : 1000));
		added = store_count(store);
	}
	if (!code)
		code = source_store_new(&cached, context, 1 << 20, err);
	if (!code)
		store_free(cached);
	store_free(store);
	return code;
}

static void memory_may_run_out(void **state)
{
	struct source *source = filled_source();

	assert_true(each_allocation_fails(try_storing, source) > 10);
	source_close(source);
}

static void how_long_a_fetch_takes(void **state)
{
	struct source *source = filled_source();
	struct store *store = cached_store(source, 1 << 30);
	struct err err;
	double start;

	add_all(store);
	start = seconds();
	for (uint64_t turn = 0; turn < 1000; turn++) {
		for (int i = 0; i < 64; i++)
			ids[i] = (int64_t)((turn * 64 + (uint64_t)i) * 7919 % ADDED);
		assert_ok(store_fetch(store, ids, 64, inputs, CELLS(labels), &err), err);
	}
	print_message("# fetching takes %.0f ns a sample\n", (seconds() - start) / 64000 * 1e9);
	store_free(store);
	source_close(source);
}

/* Longer rows: those that are there get NANs, and rows that end with NANs are the shorter ones. */
static void rows_in_memory_may_become_longer(void **state)
{
	float wide[2 * (SMALL + 3)], back[4 * (SMALL + 3)];
	struct store *store = memory_store();
	int64_t places[4] = {0, 1, 2, 3};
	struct err err;

	(void)state;
	add_next(store, 2, SMALL);
	assert_ok(store_widen(store, SMALL + 3, &err), err);
	for (int i = 0; i < 2 * (SMALL + 3); i++)
		wide[i] = i < SMALL + 3 && i >= SMALL ? NAN : (float)i;
	wide[2 * (SMALL + 3) - 1] = NAN;
	labels[0] = labels[1] = 3;
	assert_ok(store_add(store, wide, CELLS(labels), 2, &err), err);
	assert_ok(store_fetch(store, places, 4, back, CELLS(labels), &err), err);
	samples_from(0, 2, SMALL);
	for (int i = 0; i < 2; i++) {
		const float *row = back + (size_t)i * (SMALL + 3);

		assert_memory_equal(row, inputs + (size_t)i * SMALL, SMALL * sizeof(float));
		for (int k = SMALL; k < SMALL + 3; k++)
			assert_true(isnan(row[k]));
	}
	assert_memory_equal(back + (size_t)2 * (SMALL + 3), wide, sizeof(wide));
	assert_ok(store_widen(store, SMALL, &err), err); /* never shorter */
	assert_ok(store_fetch(store, places, 4, back, CELLS(labels), &err), err);
	store_free(store);
}

/* A second learner's store: it sees what the first gets from then on, under numbers of its own. */
static void a_view_shows_what_comes(void **state)
{
	struct store *store, *view;
	int64_t wanted[2] = {0, 69};
	float got[2 * DIM];
	int32_t known[2];
	struct err err;

	(void)state;
	source_close(filled_source());
	assert_ok(store_in_memory(&store, DIM, 1, &err), err);
	assert_ok(store_add(store, made, CELLS(made_labels), 30, &err), err);
	assert_ok(store_view(&view, store, &err), err);
	assert_int_equal(store_count(view), 0);
	assert_ok(store_add(store, made + 30 * DIM, CELLS(made_labels + 30), 70, &err), err);
	assert_int_equal(store_fetch(view, wanted, 1, got, CELLS(known), &err), ERR_INPUT);
	assert_ok(store_add(view, made + 30 * DIM, CELLS(made_labels + 30), 70, &err), err);
	assert_ok(store_fetch(view, wanted, 2, got, CELLS(known), &err), err);
	assert_memory_equal(got, made + 30 * DIM, DIM * sizeof(float));
	assert_memory_equal(got + DIM, made + 99 * DIM, DIM * sizeof(float));
	assert_int_equal(known[1], made_labels[99]);
	store_forget(view, 3);
	wanted[0] = 33;
	assert_ok(store_fetch(store, wanted, 1, got, CELLS(known), &err), err);
	store_free(view);
	store_free(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_cache_gives_the_same_bits),
		cmocka_unit_test(cached_inputs_are_those_given),
		cmocka_unit_test(only_what_was_added_can_be_fetched),
		cmocka_unit_test(a_source_has_an_end),
		folder_test(the_cache_fills_again_after_a_resume),
		cmocka_unit_test(memory_keeps_until_forgotten),
		cmocka_unit_test(places_are_used_again),
		folder_test(memory_survives_a_file),
		folder_test(an_empty_store_survives_a_file),
		cmocka_unit_test(memory_may_run_out),
		cmocka_unit_test(rows_in_memory_may_become_longer),
		cmocka_unit_test(how_long_a_fetch_takes),
		cmocka_unit_test(a_view_shows_what_comes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
