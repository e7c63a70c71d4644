/*
 * The journal and the store in it: what was added comes back to the next process,
 * from the start or from a checkpoint, what was forgotten does not, and the disk
 * does not follow the stream.
 */
#include "journal_check.h"
#include "cells.h"

static void what_was_added_comes_back(void **state)
{
	struct store *store = store_with(FLOATS);
	struct err err;
	uint64_t before;

	assert_int_equal(store_stored(store), 0);
	for (int n = 1; n <= STEP; n++)
		add_next(store, n, FLOATS);
	assert_int_equal(store_count(store), STEP * (STEP + 1) / 2);
	assert_int_equal(store_stored(store), store_count(store));
	before = mem_count();
	for (int64_t id = 0; id < store_count(store); id++)
		assert_kept(store, id, FLOATS, true);
	assert_int_equal(mem_count(), before);
	assert_int_equal(
		store_fetch(store, &(int64_t){820}, 1, inputs, CELLS(labels), &err), ERR_INPUT);
	assert_says(err, "sample 820 has not been added, there are 820");
	assert_int_equal(
		store_fetch(store, &(int64_t){-1}, 1, inputs, CELLS(labels), &err), ERR_INPUT);
	assert_int_equal(store_stored(store), 820);
	assert_true(disk_bytes() > (off_t)(820 * FLOATS * sizeof(float)));
	store_free(store);
}

static void what_was_forgotten_cannot_be_fetched(void **state)
{
	struct store *store = store_with(SMALL);
	static bool kept[50 * STEP];

	for (uint64_t turn = 0; turn < 50; turn++) {
		add_next(store, STEP, SMALL);
		memset(kept + turn * STEP, true, STEP);
		for (uint64_t i = 0; i < STEP; i++) {
			const int64_t id =
				(int64_t)rng_below(draws, turn * STEP + i, (turn + 1) * STEP);

			store_forget(store, id);
			kept[id] = false;
		}
		if (turn % 7 == 3)
			checkpoint(store);
	}
	store_forget(store, -1);
	store_forget(store, store_count(store));
	for (int64_t id = 0; id < store_count(store); id++)
		assert_kept(store, id, SMALL, kept[id]);
	checkpoint(store);
	for (int64_t id = 0; id < store_count(store); id++)
		assert_kept(store, id, SMALL, kept[id]);
	assert_true(journal_kept(store_journal(store)) < 1500);
	store_free(store);
}

/* Calls come back in their sizes, and are counted rather than written a second time. */
static void a_new_learner_goes_through_it_all(void **state)
{
	struct store *store = store_with(SMALL);
	struct err err;
	int n;

	for (n = 1; n <= STEP; n++)
		add_next(store, n, SMALL);
	store_free(store);
	store = store_with(SMALL);
	assert_int_equal(store_count(store), 0);
	assert_int_equal(store_stored(store), 820);
	assert_ok(store_pending(store, &n, &err), err);
	assert_int_equal(n, 1);
	samples_from(0, 1, SMALL);
	inputs[3] += 1;
	assert_int_equal(store_add(store, inputs, CELLS(labels), 1, &err), ERR_INPUT);
	assert_says(err, "sample 0 is another");
	assert_int_equal(store_count(store), 0);
	assert_int_equal(replay(store), STEP);
	assert_int_equal(store_stored(store), 820);
	add_next(store, 3, SMALL);
	assert_int_equal(store_stored(store), 823);
	store_free(store);
	store = store_with(SMALL);
	replay(store);
	for (int64_t id = 0; id < 823; id++)
		assert_kept(store, id, SMALL, true);
	store_free(store);
}

static void more_than_what_is_pending_is_refused(void **state)
{
	struct store *store = store_with(SMALL);
	struct err err;

	add_next(store, 3, SMALL);
	store_free(store);
	store = store_with(SMALL);
	samples_from(0, 4, SMALL);
	assert_int_equal(store_add(store, inputs, CELLS(labels), 4, &err), ERR_STATE);
	assert_says(err, "3 are in the journal");
	store_free(store);
}

/* The crash comes after the checkpoint was saved, before or after store_checkpoint. */
static void a_checkpoint_has_all_that_it_needs(void **state)
{
	for (int told = 0; told < 2; told++) {
		struct store *store = store_with(SMALL);
		struct err err;

		replay(store);
		add_next(store, STEP, SMALL);
		store_forget(store, store_count(store) - STEP);
		assert_ok(state_save(in_folder("state"), visit, store, &err), err);
		/* Forgotten after the checkpoint: it stays whatever is removed. */
		store_forget(store, store_count(store) - STEP + 1);
		if (told)
			assert_ok(store_checkpoint(store, &err), err);
		assert_int_equal(journal_kept(store_journal(store)), STEP);
		add_next(store, 7, SMALL);
		store_free(store);

		store = store_with(SMALL);
		assert_ok(state_load(in_folder("state"), visit, store, &err), err);
		assert_int_equal(store_count(store), STEP);
		assert_int_equal(store_stored(store), STEP + 7);
		assert_kept(store, 0, SMALL, false);
		assert_kept(store, 1, SMALL, true);
		assert_int_equal(replay(store), 1);
		for (int64_t id = 1; id < STEP + 7; id++)
			assert_kept(store, id, SMALL, true);
		assert_ok(store_checkpoint(store, &err), err);
		assert_int_equal(journal_kept(store_journal(store)), STEP + 7 - 1);
		assert_kept(store, 0, SMALL, false);
		store_free(store);
		remove(in_folder("journal/data.mdb"));
	}
}

/* The newest may be damaged: the one before it must have all that it needs, too. */
static void the_last_two_checkpoints_are_good(void **state)
{
	static const char *const names[] = {"state0", "state1", "state2"};
	struct store *store = store_with(SMALL);
	struct err err;

	for (int i = 0; i < 3; i++) {
		add_next(store, STEP, SMALL);
		store_forget(store, (int64_t)i * STEP);
		assert_ok(state_save(in_folder(names[i]), visit, store, &err), err);
		/* A save that was not followed by store_checkpoint does not count. */
		store_forget(store, (int64_t)i * STEP + 1);
		assert_ok(state_save(in_folder("state"), visit, store, &err), err);
		assert_ok(state_save(in_folder(names[i]), visit, store, &err), err);
		assert_ok(store_checkpoint(store, &err), err);
		assert_int_equal(journal_kept(store_journal(store)), (i + 1) * STEP - 2 * i);
	}
	store_free(store);
	for (int i = 2; i >= 0; i--) {
		store = store_with(SMALL);
		assert_int_equal(
			state_load(in_folder(names[i]), visit, store, &err), i ? 0 : ERR_STATE);
		if (i) {
			assert_kept(store, (int64_t)i * STEP, SMALL, false);
			assert_kept(store, (int64_t)i * STEP + 2, SMALL, true);
			assert_int_equal(replay(store), 2 - i);
		}
		store_free(store);
		remove(in_folder(names[i]));
	}
}

static void checkpoints_that_cannot_go_on_are_refused(void **state)
{
	struct store *store = store_with(SMALL);
	struct err err;
	int n;

	add_next(store, STEP, SMALL);
	assert_ok(state_save(in_folder("older"), visit, store, &err), err);
	add_next(store, STEP, SMALL);
	store_forget(store, 3);
	checkpoint(store);
	checkpoint(store);
	store_free(store);

	store = store_with(SMALL);
	assert_int_equal(store_pending(store, &n, &err), ERR_STATE);
	assert_says(err, "checkpoint at sample 80");
	assert_int_equal(state_load(in_folder("older"), visit, store, &err), ERR_STATE);
	assert_says(err, "not at sample 40");
	assert_ok(state_load(in_folder("state"), visit, store, &err), err);
	store_free(store);

	remove(in_folder("journal/data.mdb"));
	remove(in_folder("journal/lock.mdb"));
	store = store_with(SMALL);
	assert_int_equal(state_load(in_folder("state"), visit, store, &err), ERR_FORMAT);
	assert_says(err, "the journal only 0");
	store_free(store);
	remove(in_folder("older"));
}

static void other_kinds_have_nothing_to_do(void **state)
{
	struct store *store;
	struct err err;
	int n = 5;

	assert_ok(store_in_memory(&store, SMALL, 1, &err), err);
	add_next(store, 3, SMALL);
	assert_int_equal(store_stored(store), 3);
	assert_ok(store_pending(store, &n, &err), err);
	assert_int_equal(n, 0);
	assert_ok(store_checkpoint(store, &err), err);
	assert_null(store_journal(store));
	store_free(store);
}

/* A window that moves far; the file must not. */
static void the_disk_does_not_follow_the_stream(void **state)
{
	struct store *store = store_with(FLOATS);
	off_t bytes = 0;

	for (int64_t turn = 0; turn < 120; turn++) {
		const int64_t first = store_count(store);

		add_next(store, STEP, FLOATS);
		for (int64_t id = first - 400; id < first - 400 + STEP; id++)
			store_forget(store, id);
		if (turn % 5 == 4)
			checkpoint(store);
		if (turn == 40)
			bytes = disk_bytes();
	}
	if (disk_bytes() > bytes + bytes / 4)
		fail_msg("%lld bytes have become %lld", (long long)bytes, (long long)disk_bytes());
	assert_true(bytes < (off_t)(6 * 440 * FLOATS * sizeof(float)));
	assert_kept(store, 120 * STEP - 400, FLOATS, true);
	store_free(store);
}

static void what_is_held_is_there_when_it_is_settled(void **state)
{
	struct store *store = store_with(SMALL);
	struct err err;

	add_next(store, 1, SMALL);
	journal_hold(store_journal(store));
	add_next(store, STEP, SMALL);
	add_next(store, STEP, SMALL);
	for (int64_t id = 0; id < store_count(store); id++)
		assert_kept(store, id, SMALL, true);
	assert_int_equal(journal_kept(store_journal(store)), 1 + 2 * STEP);
	/* As if the process had been killed. */
	store_free(store);
	store = store_with(SMALL);
	assert_int_equal(store_stored(store), 1);
	replay(store);
	journal_hold(store_journal(store));
	add_next(store, STEP, SMALL);
	assert_ok(journal_settle(store_journal(store), &err), err);
	add_next(store, 1, SMALL);
	journal_hold(store_journal(store));
	add_next(store, 1, SMALL);
	/* Checkpoints count on all samples. */
	checkpoint(store);
	journal_hold(store_journal(store));
	add_next(store, 1, SMALL);
	store_free(store);
	store = store_with(SMALL);
	assert_int_equal(store_stored(store), 1 + STEP + 2);
	replay(store);
	for (int64_t id = 0; id < store_count(store); id++)
		assert_kept(store, id, SMALL, true);
	store_free(store);
}

/* More than there is room for without a sync: the file grows on the way. */
static void much_may_be_held(void **state)
{
	enum { MUCH = 2000 };
	struct store *store = store_with(FLOATS);
	struct err err;

	journal_hold(store_journal(store));
	for (int i = 0; i < MUCH; i++)
		add_next(store, 1 + i % 7, FLOATS);
	for (int64_t id = 0; id < store_count(store); id += 17)
		assert_kept(store, id, FLOATS, true);
	assert_ok(journal_settle(store_journal(store), &err), err);
	store_free(store);
	store = store_with(FLOATS);
	assert_int_equal(replay(store), MUCH);
	for (int64_t id = 0; id < store_count(store); id += 17)
		assert_kept(store, id, FLOATS, true);
	store_free(store);
}

static void only_one_may_have_it(void **state)
{
	struct store *store = store_with(SMALL), *other;
	struct err err;

	assert_int_equal(store_in_journal(&other, in_folder("journal"), SMALL, 1, &err), ERR_STATE);
	assert_says(err, "journal: the journal is in use");
	store_free(store);
	store_free(store_with(SMALL));
}

/* Longer rows: those that are there get NANs, and rows that end with NANs are the shorter ones. */
static void rows_may_become_longer(void **state)
{
	float wide[2 * (SMALL + 3)], back[4 * (SMALL + 3)];
	struct store *store = store_with(SMALL);
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
	store_free(store);
	/* A journal that is opened for shorter ones does not know the third any more. */
	store = store_with(SMALL);
	assert_int_equal(journal_floats(store_journal(store)), SMALL);
	assert_ok(store_fetch(store, places, 3, back, CELLS(labels), &err), err);
	assert_int_equal(store_fetch(store, places + 3, 1, back, CELLS(labels), &err), ERR_FORMAT);
	assert_ok(store_widen(store, SMALL + 3, &err), err);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		journal_test(what_was_added_comes_back),
		journal_test(what_was_forgotten_cannot_be_fetched),
		journal_test(a_new_learner_goes_through_it_all),
		journal_test(more_than_what_is_pending_is_refused),
		journal_test(a_checkpoint_has_all_that_it_needs),
		journal_test(the_last_two_checkpoints_are_good),
		journal_test(checkpoints_that_cannot_go_on_are_refused),
		cmocka_unit_test(other_kinds_have_nothing_to_do),
		journal_test(the_disk_does_not_follow_the_stream),
		journal_test(what_is_held_is_there_when_it_is_settled),
		journal_test(much_may_be_held),
		journal_test(only_one_may_have_it),
		journal_test(rows_may_become_longer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
