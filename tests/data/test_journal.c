/*
 * The journal and the store in it: what was added is there after any end of the
 * process, the disk does not follow the stream, files that are cut off, foreign
 * or of another make are refused, a full disk loses nothing.
 */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "../base/folder.h"
#include "base/rng.h"
#include "base/state.h"
#include "data/journal.h"
#include "data/store.h"

enum { FLOATS = 700, STEP = 40, SMALL = 5 };

static const struct rng draws = {11, RNG_TEST};

static float inputs[STEP * FLOATS];
static int32_t labels[STEP];
static int64_t ids[STEP];

/* A sample is told by its id. */
static void sample_of(int64_t id, size_t floats, float *input, int32_t *label)
{
	for (size_t i = 0; i < floats; i++)
		input[i] = rng_float(draws, (uint64_t)id * floats + i);
	*label = (int32_t)(id * 7 % 1000);
}

static void samples_from(int64_t first, int n, size_t floats)
{
	for (int i = 0; i < n; i++)
		sample_of(first + i, floats, inputs + (size_t)i * floats, labels + i);
}

static struct store *store_with(size_t floats)
{
	struct store *store;
	struct err err;

	assert_ok(store_in_journal(&store, in_folder("journal"), floats, &err), err);
	return store;
}

static void add_next(struct store *store, int n, size_t floats)
{
	struct err err;

	samples_from(store_count(store), n, floats);
	assert_ok(store_add(store, inputs, labels, n, &err), err);
}

static void assert_kept(struct store *store, int64_t id, size_t floats, bool kept)
{
	float input[FLOATS], expected[FLOATS];
	int32_t label, expected_label;
	struct err err;
	const int code = store_fetch(store, &id, 1, input, &label, &err);

	if (!kept) {
		assert_int_equal(code, ERR_INPUT);
		assert_says(err, "has been forgotten");
		return;
	}
	if (code)
		fail_msg("sample %d: %s", (int)id, err.message);
	sample_of(id, floats, expected, &expected_label);
	assert_memory_equal(input, expected, floats * sizeof(float));
	assert_int_equal(label, expected_label);
}

/* Goes through what a former process added; returns how many calls those were. */
static int replay(struct store *store, size_t floats)
{
	struct err err;
	int calls = 0, n;

	assert_ok(store_pending(store, &n, &err), err);
	for (; n > 0; calls++) {
		for (int i = 0; i < n; i++)
			ids[i] = store_count(store) + i;
		assert_ok(store_fetch(store, ids, n, inputs, labels, &err), err);
		assert_ok(store_add(store, inputs, labels, n, &err), err);
		assert_ok(store_pending(store, &n, &err), err);
	}
	assert_int_equal(store_count(store), store_stored(store));
	return calls;
}

static void visit(void *object, struct state *state)
{
	store_state(object, state);
}

static void checkpoint(struct store *store)
{
	struct err err;

	assert_ok(state_save(in_folder("state"), visit, store, &err), err);
	assert_ok(store_checkpoint(store, &err), err);
}

static int journal_remove(void **state)
{
	remove(in_folder("journal/data.mdb"));
	return folder_remove(state);
}

#define journal_test(f) cmocka_unit_test_setup_teardown(f, folder_make, journal_remove)

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
	assert_int_equal(store_fetch(store, &(int64_t){820}, 1, inputs, labels, &err), ERR_INPUT);
	assert_says(err, "sample 820 has not been added, there are 820");
	assert_int_equal(store_fetch(store, &(int64_t){-1}, 1, inputs, labels, &err), ERR_INPUT);
	labels[0] = -3;
	assert_int_equal(store_add(store, inputs, labels, 1, &err), ERR_INPUT);
	assert_int_equal(store_stored(store), 820);
	assert_true(store_bytes(store) > 820 * FLOATS * sizeof(float));
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
	assert_int_equal(store_add(store, inputs, labels, 1, &err), ERR_INPUT);
	assert_says(err, "sample 0 is another");
	assert_int_equal(store_count(store), 0);
	assert_int_equal(replay(store, SMALL), STEP);
	assert_int_equal(store_stored(store), 820);
	add_next(store, 3, SMALL);
	assert_int_equal(store_stored(store), 823);
	store_free(store);
	store = store_with(SMALL);
	replay(store, SMALL);
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
	assert_int_equal(store_add(store, inputs, labels, 4, &err), ERR_STATE);
	assert_says(err, "3 are in the journal");
	store_free(store);
}

/* The crash comes after the checkpoint was saved, before or after store_checkpoint. */
static void a_checkpoint_has_all_that_it_needs(void **state)
{
	for (int told = 0; told < 2; told++) {
		struct store *store = store_with(SMALL);
		struct err err;

		replay(store, SMALL);
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
		assert_int_equal(replay(store, SMALL), 1);
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
			assert_int_equal(replay(store, SMALL), 2 - i);
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

	assert_ok(store_in_memory(&store, SMALL, &err), err);
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
	size_t bytes = 0;

	for (int64_t turn = 0; turn < 120; turn++) {
		const int64_t first = store_count(store);

		add_next(store, STEP, FLOATS);
		for (int64_t id = first - 400; id < first - 400 + STEP; id++)
			store_forget(store, id);
		if (turn % 5 == 4)
			checkpoint(store);
		if (turn == 40)
			bytes = store_bytes(store);
	}
	if (store_bytes(store) > bytes + bytes / 4)
		fail_msg("%zu bytes have become %zu", bytes, store_bytes(store));
	assert_true(bytes < 6 * 440 * FLOATS * sizeof(float));
	assert_kept(store, 120 * STEP - 400, FLOATS, true);
	store_free(store);
}

/* Adds for ever, and says after each call how many there are. */
static void child_adds(int out)
{
	struct store *store;
	struct err err;

	if (store_in_journal(&store, in_folder("journal"), FLOATS, &err))
		_exit(1);
	for (int n; !store_pending(store, &n, &err) && n > 0;) {
		samples_from(store_count(store), n, FLOATS);
		if (store_add(store, inputs, labels, n, &err))
			_exit(2);
	}
	for (;;) {
		int64_t count = store_count(store);
		const int n = 1 + (int)(count % STEP);

		samples_from(count, n, FLOATS);
		if (store_add(store, inputs, labels, n, &err))
			_exit(3);
		count += n;
		if (write(out, &count, sizeof(count)) != sizeof(count))
			_exit(4);
	}
}

/* Kills a child that adds after some acknowledgements; returns the last it gave. */
static int64_t kill_one(int acknowledgements, useconds_t delay)
{
	int64_t count = 0, last = 0;
	int ends[2], status;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		child_adds(ends[1]);
	close(ends[1]);
	for (int i = 0; i < acknowledgements; i++)
		if (read(ends[0], &count, sizeof(count)) == sizeof(count))
			last = count;
	usleep(delay);
	kill(child, SIGKILL);
	while (read(ends[0], &count, sizeof(count)) == sizeof(count))
		last = count;
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (!WIFSIGNALED(status))
		fail_msg("the child ended by itself: %d", WEXITSTATUS(status));
	return last;
}

static void killed_processes_lose_nothing(void **state)
{
	for (int turn = 0; turn < 5; turn++) {
		const int64_t told = kill_one(5 + 3 * turn, (useconds_t)(turn * 370));
		struct store *store = store_with(FLOATS);

		if (store_stored(store) < told)
			fail_msg("kill %d: %d samples were acknowledged, %d are there", turn,
				(int)told, (int)store_stored(store));
		assert_true(told > 0);
		replay(store, FLOATS);
		for (int64_t id = 0; id < store_count(store); id++)
			assert_kept(store, id, FLOATS, true);
		store_free(store);
	}
}

static void inputs_wait_for_their_labels(void **state)
{
	static const char *const keys[] = {"a", "b", "c", "a"};
	struct store *store = store_with(SMALL);
	struct journal *journal = store_journal(store);
	float input[SMALL];
	struct err err;

	samples_from(0, 4, SMALL);
	assert_ok(journal_wait(journal, keys, inputs, NULL, 4, &err), err);
	assert_int_equal(journal_waiting(journal), 3);
	assert_ok(journal_take(journal, "b", input, NULL, &err), err);
	assert_memory_equal(input, inputs + SMALL, sizeof(input));
	/* The one sent last. */
	assert_ok(journal_take(journal, "a", input, NULL, &err), err);
	assert_memory_equal(input, inputs + (size_t)3 * SMALL, sizeof(input));
	assert_int_equal(journal_take(journal, "a", input, NULL, &err), ERR_INPUT);
	assert_says(err, "just been taken");
	assert_int_equal(journal_wait(journal, keys, inputs, NULL, 1, &err), ERR_INPUT);
	assert_int_equal(journal_take(journal, "d", input, NULL, &err), ERR_INPUT);
	assert_says(err, "no input waits under d");
	assert_int_equal(journal_take(journal, "", input, NULL, &err), ERR_INPUT);

	/* Taken, but not added: still there for the next process. */
	store_free(store);
	store = store_with(SMALL);
	journal = store_journal(store);
	assert_int_equal(journal_waiting(journal), 3);
	assert_ok(journal_take(journal, "b", input, NULL, &err), err);
	labels[0] = 9;
	assert_ok(store_add(store, input, labels, 1, &err), err);
	assert_int_equal(journal_waiting(journal), 2);
	assert_int_equal(journal_take(journal, "b", input, NULL, &err), ERR_INPUT);
	store_free(store);
	store = store_with(SMALL);
	journal = store_journal(store);
	assert_int_equal(journal_waiting(journal), 2);
	assert_int_equal(store_stored(store), 1);
	assert_ok(journal_drop(journal, keys, 3, &err), err);
	assert_int_equal(journal_waiting(journal), 0);
	store_free(store);
}

static void assert_place(struct journal *journal, const char *key, enum journal_place place,
	int64_t id, int32_t label)
{
	struct journal_found found;
	struct err err;

	assert_ok(journal_find(journal, key, &found, &err), err);
	if (found.place != place ||
		(place == JOURNAL_ADDED && (found.id != id || found.label != label)))
		fail_msg("%s: place %d, sample %lld, label %d; expected %d, %lld, %d", key,
			(int)found.place, (long long)found.id, found.label, (int)place,
			(long long)id, label);
}

static void keys_of_samples_are_remembered(void **state)
{
	static const char *const keys[] = {"a", "b", "c", "d"};
	static const int32_t guesses[] = {
		3, 1, 4, 0, 2, 5, 9, 2, 6, -1, 1, 1, 1, 1, 1, 7, 7, 7, 7, 7};
	struct store *store = store_with(SMALL);
	struct journal *journal = store_journal(store);
	int32_t found[2 * JOURNAL_GUESSES];
	const int64_t both[] = {1, 0};
	float input[4 * SMALL];
	struct err err;

	journal_bound(journal, 100, 2);
	samples_from(0, 4, SMALL);
	assert_ok(journal_wait(journal, keys, inputs, guesses, 4, &err), err);
	for (int i = 0; i < 4; i++) {
		assert_place(journal, keys[i], JOURNAL_WAITS, 0, 0);
		assert_ok(journal_take(journal, keys[i], input + (size_t)i * SMALL, found, &err),
			err);
		assert_memory_equal(
			found, guesses + i * JOURNAL_GUESSES, JOURNAL_GUESSES * sizeof(*guesses));
		assert_place(journal, keys[i], JOURNAL_TAKEN, 0, 0);
		if (i == 1) {
			labels[0] = 8;
			labels[1] = 9;
			assert_ok(store_add(store, input, labels, 2, &err), err);
		}
	}
	assert_place(journal, "a", JOURNAL_ADDED, 0, 8);
	assert_place(journal, "b", JOURNAL_ADDED, 1, 9);
	assert_place(journal, "e", JOURNAL_UNKNOWN, 0, 0);
	assert_ok(journal_guesses(journal, both, 2, found, &err), err);
	assert_memory_equal(found, guesses + JOURNAL_GUESSES, JOURNAL_GUESSES * sizeof(*guesses));
	assert_memory_equal(found + JOURNAL_GUESSES, guesses, JOURNAL_GUESSES * sizeof(*guesses));

	/* Only the latest two. An "a" that comes again is another sample. */
	assert_ok(store_add(store, input + 2 * SMALL, labels, 2, &err), err);
	store_free(store);
	store = store_with(SMALL);
	journal = store_journal(store);
	assert_place(journal, "b", JOURNAL_UNKNOWN, 0, 0);
	assert_place(journal, "c", JOURNAL_ADDED, 2, 8);
	assert_place(journal, "d", JOURNAL_ADDED, 3, 9);
	store_free(store);
}

/* One input had waited and has its own guesses; then a call without anything beside it. */
static void marks_and_guesses_stay_with_samples(void **state)
{
	static const int32_t waited[] = {9, 8, 7, 6, 5};
	static const int32_t guesses[] = {3, 1, 4, 0, 2, 5, 9, 2, 6, -1};
	static const int64_t all[] = {0, 1, 2};
	const struct journal_mark mark = {41, 0.75, 3};
	const char *key = "a";
	struct store *store = store_with(SMALL);
	struct journal *journal = store_journal(store);
	int32_t found[3 * JOURNAL_GUESSES];
	struct journal_mark marked;
	float input[SMALL];
	struct err err;

	samples_from(0, 3, SMALL);
	assert_ok(journal_wait(journal, &key, inputs, waited, 1, &err), err);
	assert_ok(journal_take(journal, key, input, NULL, &err), err);
	journal_beside(journal, guesses, &mark);
	assert_ok(store_add(store, inputs, labels, 2, &err), err);
	journal_beside(journal, NULL, NULL);
	assert_ok(store_add(store, inputs + 2 * SMALL, labels + 2, 1, &err), err);
	store_free(store);
	store = store_with(SMALL);
	journal = store_journal(store);
	for (int64_t id = 0; id < 2; id++) {
		assert_ok(journal_marked(journal, id, &marked, &err), err);
		assert_memory_equal(&marked, &mark, sizeof(mark));
	}
	assert_ok(journal_marked(journal, 2, &marked, &err), err);
	assert_true(marked.iteration == 0 && marked.credit == 0 && marked.left == 0);
	assert_int_equal(journal_marked(journal, 3, &marked, &err), ERR_INPUT);
	assert_ok(journal_guesses(journal, all, 3, found, &err), err);
	assert_memory_equal(found, waited, sizeof(waited));
	assert_memory_equal(found + JOURNAL_GUESSES, guesses + JOURNAL_GUESSES, sizeof(waited));
	for (int k = 0; k < JOURNAL_GUESSES; k++)
		assert_int_equal(found[2 * JOURNAL_GUESSES + k], -1);
	store_free(store);
}

static void labels_are_kept_until_they_are_added(void **state)
{
	static const char *const keys[] = {"a", "b", "c", "d"};
	struct store *store = store_with(SMALL);
	struct journal *journal = store_journal(store);
	float input[4 * SMALL];
	char key[JOURNAL_KEY + 1];
	int32_t label;
	struct err err;

	samples_from(0, 4, SMALL);
	assert_ok(journal_wait(journal, keys, inputs, NULL, 4, &err), err);
	labels[0] = 5;
	labels[1] = 6;
	assert_int_equal(journal_label(journal, labels, 1, &err), ERR_INPUT);
	assert_ok(journal_take(journal, "c", input, NULL, &err), err);
	assert_ok(journal_label(journal, labels, 1, &err), err);
	assert_ok(journal_take(journal, "a", input, NULL, &err), err);
	assert_ok(journal_label(journal, labels, 2, &err), err);
	/* Its label is not kept. */
	assert_ok(journal_take(journal, "b", input, NULL, &err), err);
	store_free(store);

	for (int added = 0; added < 2; added++) {
		store = store_with(SMALL);
		journal = store_journal(store);
		replay(store, SMALL);
		for (int i = 0; i < 2 && !added; i++) {
			assert_ok(journal_take_again(journal, key, input + (size_t)i * SMALL, NULL,
					  &label, &err),
				err);
			assert_string_equal(key, i ? "a" : "c");
			assert_int_equal(label, labels[i]);
			assert_place(journal, key, JOURNAL_TAKEN, 0, 0);
			assert_memory_equal(input + (size_t)i * SMALL,
				inputs + (i ? 0 : 2 * SMALL), SMALL * sizeof(float));
		}
		assert_ok(journal_take_again(journal, key, input, NULL, &label, &err), err);
		assert_string_equal(key, "");
		if (!added)
			assert_ok(store_add(store, input, labels, 2, &err), err);
		assert_place(journal, "c", JOURNAL_ADDED, 0, 5);
		assert_place(journal, "a", JOURNAL_ADDED, 1, 6);
		assert_place(journal, "b", JOURNAL_WAITS, 0, 0);
		store_free(store);
	}
}

static void old_inputs_give_way(void **state)
{
	struct store *store = store_with(SMALL);
	struct journal *journal = store_journal(store);
	char names[30][8];
	struct err err;

	samples_from(0, 1, SMALL);
	journal_bound(journal, 10, 2);
	for (int i = 0; i < 30; i++) {
		const char *key = names[i];

		snprintf(names[i], sizeof(names[i]), "key%d", i);
		assert_ok(journal_wait(journal, &key, inputs, NULL, 1, &err), err);
		/* Key 0 is sent again and again, and keeps its turn; every third is labelled. */
		key = names[0];
		if (i < 5)
			assert_ok(journal_wait(journal, &key, inputs, NULL, 1, &err), err);
		if (i % 3 == 1) {
			float input[SMALL];

			assert_ok(journal_take(journal, names[i], input, NULL, &err), err);
			assert_ok(journal_add(journal, input, labels, 1, &err), err);
		}
		if (i == 17) {
			store_free(store);
			store = store_with(SMALL);
			journal = store_journal(store);
			journal_bound(journal, 10, 2);
		}
	}
	assert_int_equal(journal_waiting(journal), 10);
	for (int i = 0; i < 30; i++) {
		enum journal_place place = i >= 15 ? JOURNAL_WAITS : JOURNAL_UNKNOWN;

		if (i % 3 == 1)
			place = i >= 25 ? JOURNAL_ADDED : JOURNAL_UNKNOWN;
		assert_place(journal, names[i], place, i / 3, labels[0]);
	}
	store_free(store);
}

static void only_one_may_have_it(void **state)
{
	struct store *store = store_with(SMALL), *other;
	struct err err;

	assert_int_equal(store_in_journal(&other, in_folder("journal"), SMALL, &err), ERR_STATE);
	assert_says(err, "journal: the journal is in use");
	store_free(store);
	store_free(store_with(SMALL));
}

static void data_write(off_t at, const void *bytes, size_t size)
{
	const int file = open(in_folder("journal/data.mdb"), O_WRONLY | O_CREAT, 0666);

	assert_true(file >= 0);
	assert_int_equal(pwrite(file, bytes, size, at), size);
	close(file);
}

static void assert_refused(size_t floats, int code, const char *words)
{
	struct store *store;
	struct err err = {0};

	assert_int_equal(store_in_journal(&store, in_folder("journal"), floats, &err), code);
	assert_null(store);
	assert_says(err, words);
}

static void foreign_files_are_refused(void **state)
{
	static char noise[20000];

	assert_int_equal(mkdir(in_folder("journal"), 0777), 0);
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (char)rng_below(draws, i, 256);
	data_write(0, noise, sizeof(noise));
	assert_refused(SMALL, ERR_FORMAT, "data.mdb is no journal");
	assert_int_equal(truncate(in_folder("journal/data.mdb"), 100), 0);
	assert_refused(SMALL, ERR_FORMAT, "data.mdb is no journal");
	/* As a process leaves it that was killed at once. */
	assert_int_equal(truncate(in_folder("journal/data.mdb"), 0), 0);
	store_free(store_with(SMALL));
	assert_refused(SMALL + 1, ERR_INPUT, "samples of 5 numbers, not 6");
	store_free(store_with(SMALL));
	remove(in_folder("journal/data.mdb"));
	remove(in_folder("journal"));
	fclose(fopen(in_folder("journal"), "w"));
	assert_refused(SMALL, ERR_FILE, "journal: File exists");
}

/* Where the bytes stand in the file, from its end. */
static off_t data_find(const void *bytes, size_t size)
{
	static char content[1 << 22];
	const int file = open(in_folder("journal/data.mdb"), O_RDONLY);
	const ssize_t got = read(file, content, sizeof(content));

	close(file);
	for (ssize_t at = got - (ssize_t)size; at >= 0; at--)
		if (memcmp(content + at, bytes, size) == 0)
			return at;
	fail_msg("the bytes are not in the file");
	return 0;
}

static void another_version_is_refused(void **state)
{
	store_free(store_with(SMALL));
	data_write(data_find("retain-j", 8) + 8, &(uint32_t){7}, 4);
	assert_refused(SMALL, ERR_FORMAT, "a journal of version 7, not 3");
	data_write(data_find("retain-j", 8), "someone", 7);
	assert_refused(SMALL, ERR_FORMAT, "data.mdb is no journal");
}

static void damaged_samples_are_found_out(void **state)
{
	struct store *store = store_with(SMALL);
	struct err err;

	add_next(store, 30, SMALL);
	store_free(store);
	data_write(data_find(inputs + (size_t)12 * SMALL, SMALL * sizeof(float)) + 7, "x", 1);
	store = store_with(SMALL);
	assert_kept(store, 11, SMALL, true);
	assert_int_equal(store_fetch(store, &(int64_t){12}, 1, inputs, labels, &err), ERR_FORMAT);
	assert_says(err, "sample 12 is damaged");
	store_free(store);
}

/* Anywhere: refused, or whole because nothing was there. */
static void cut_files_are_refused(void **state)
{
	struct store *store = store_with(FLOATS);
	struct stat facts;
	off_t used;
	struct err err;
	int refused = 0, whole = 0;

	for (int i = 0; i < 6; i++)
		add_next(store, STEP, FLOATS);
	used = (off_t)store_bytes(store);
	store_free(store);
	assert_int_equal(rename(in_folder("journal/data.mdb"), in_folder("data")), 0);
	assert_int_equal(stat(in_folder("data"), &facts), 0);
	/* Wide apart, and near the beginning close together. */
	for (off_t size = facts.st_size; size > 0; size -= size > 40000 ? 61417 : 1777) {
		char command[1000];

		snprintf(command, sizeof(command), "cp %s %s", in_folder("data"),
			in_folder("journal/data.mdb"));
		assert_int_equal(system(command), 0);
		assert_int_equal(truncate(in_folder("journal/data.mdb"), size), 0);
		if (store_in_journal(&store, in_folder("journal"), FLOATS, &err)) {
			assert_int_equal(err.code, ERR_FORMAT);
			assert_says(err, "cut off");
			assert_true(size < used + 65536);
			refused++;
			continue;
		}
		whole++;
		assert_int_equal(replay(store, FLOATS), 6);
		store_free(store);
	}
	assert_true(refused > 5 && whole > 0);
	remove(in_folder("data"));
}

static char *data_read(size_t *size)
{
	const int file = open(in_folder("journal/data.mdb"), O_RDONLY);
	struct stat facts;
	char *bytes;

	assert_true(file >= 0 && !fstat(file, &facts));
	*size = (size_t)facts.st_size;
	bytes = malloc(*size);
	assert_int_equal(read(file, bytes, *size), facts.st_size);
	close(file);
	return bytes;
}

/*
 * Power goes while a call writes: of its pages some have reached the disk, in any
 * order, but not yet the one that points to them, which is written after a sync.
 * All that earlier calls have added is there, and adding goes on.
 */
static void a_write_that_is_torn_loses_nothing(void **state)
{
	enum { PAGE = 4096, METAS = 2 };
	struct store *store = store_with(FLOATS);
	size_t sizes[2];
	char *before, *after;
	int torn = 0;

	for (int i = 0; i < 3; i++)
		add_next(store, STEP, FLOATS);
	before = data_read(&sizes[0]);
	add_next(store, STEP, FLOATS);
	after = data_read(&sizes[1]);
	store_free(store);
	assert_int_equal(sizes[0], sizes[1]);
	for (uint64_t turn = 0; turn < 12; turn++) {
		data_write(0, before, sizes[0]);
		for (size_t at = METAS * PAGE; at < sizes[0]; at += PAGE)
			if (memcmp(before + at, after + at, PAGE) &&
				rng_below(draws, turn * 100000 + at / PAGE, 2)) {
				/* Half of the page, every third time. */
				data_write((off_t)at, after + at, turn % 3 ? PAGE : PAGE / 2);
				torn++;
			}
		store = store_with(FLOATS);
		assert_int_equal(store_stored(store), 3 * STEP);
		assert_int_equal(replay(store, FLOATS), 3);
		add_next(store, STEP, FLOATS);
		for (int64_t id = 0; id < 4 * STEP; id++)
			assert_kept(store, id, FLOATS, true);
		store_free(store);
	}
	assert_true(torn > 50);
	/* And with all of them and the one that points to them it has the fourth. */
	data_write(0, after, sizes[1]);
	store = store_with(FLOATS);
	assert_int_equal(store_stored(store), 4 * STEP);
	store_free(store);
	free(before);
	free(after);
}

static void files_up_to(rlim_t size)
{
	const struct rlimit limit = {size, RLIM_INFINITY};

	signal(SIGXFSZ, size == RLIM_INFINITY ? SIG_DFL : SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Adds until it fails; returns how many there are then. */
static int64_t add_until_full(struct store *store)
{
	int64_t count = 0;
	struct err err;
	int code = 0;

	for (int i = 0; i < 100 && !code; i++) {
		count = store_count(store);
		samples_from(count, STEP, FLOATS);
		code = store_add(store, inputs, labels, STEP, &err);
	}
	assert_int_equal(code, ERR_FILE);
	assert_says(err, "journal: cannot add samples: ");
	return count;
}

/* The first time the map cannot grow, the second time pages cannot be written. */
static void a_full_disk_loses_nothing(void **state)
{
	struct store *store = store_with(FLOATS);
	struct stat facts;

	for (int turn = 0; turn < 2; turn++) {
		int64_t count;

		files_up_to(turn ? store_bytes(store) + 300000 : 3000000);
		count = add_until_full(store);
		files_up_to(RLIM_INFINITY);
		assert_true(count > 0);
		assert_int_equal(store_count(store), count);
		assert_int_equal(store_stored(store), count);
		assert_kept(store, count - 1, FLOATS, true);
		/* There is room again. */
		add_next(store, STEP, FLOATS);
		add_next(store, STEP, FLOATS);
		store_free(store);
		store = store_with(FLOATS);
		replay(store, FLOATS);
		assert_int_equal(store_count(store), count + 2 * STEP);
		for (int64_t id = 0; id < store_count(store); id++)
			assert_kept(store, id, FLOATS, true);
		assert_int_equal(stat(in_folder("journal/data.mdb"), &facts), 0);
		assert_true(facts.st_size > (off_t)store_bytes(store) + 300000);
	}
	store_free(store);
}

static void forgetting_makes_room_on_a_full_disk(void **state)
{
	struct store *store = store_with(FLOATS);
	int64_t count, after;

	files_up_to(3000000);
	count = add_until_full(store);
	for (int64_t id = 0; id < count / 2; id++)
		store_forget(store, id);
	checkpoint(store);
	checkpoint(store);
	after = add_until_full(store);
	files_up_to(RLIM_INFINITY);
	if (after < count + count / 3)
		fail_msg("%d samples were forgotten, and only %d could be added", (int)(count / 2),
			(int)(after - count));
	for (int64_t id = 0; id < after; id++)
		assert_kept(store, id, FLOATS, id >= count / 2);
	store_free(store);
}

static int try_storing(void *context, struct err *err)
{
	static const char *const keys[] = {"key"};
	struct store *store;
	float input[SMALL];
	int code;

	remove(in_folder("journal/data.mdb"));
	code = store_in_journal(&store, in_folder("journal"), SMALL, err);
	for (int i = 0; i < 5 && !code; i++)
		code = store_add(store, inputs, labels, STEP, err);
	if (!code)
		code = journal_wait(store_journal(store), keys, inputs, NULL, 1, err);
	if (!code)
		code = journal_take(store_journal(store), "key", input, NULL, err);
	for (int64_t id = 0; id < 5 * STEP && !code; id++)
		store_forget(store, id);
	if (!code)
		code = state_save(in_folder("state"), visit, store, err);
	if (!code)
		code = store_checkpoint(store, err);
	if (!code)
		code = state_load(in_folder("state"), visit, store, err);
	store_free(store);
	return code;
}

static void memory_may_run_out(void **state)
{
	samples_from(0, STEP, SMALL);
	assert_true(each_allocation_fails(try_storing, NULL) > 10);
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
		journal_test(killed_processes_lose_nothing),
		journal_test(inputs_wait_for_their_labels),
		journal_test(keys_of_samples_are_remembered),
		journal_test(marks_and_guesses_stay_with_samples),
		journal_test(labels_are_kept_until_they_are_added),
		journal_test(old_inputs_give_way),
		journal_test(only_one_may_have_it),
		journal_test(foreign_files_are_refused),
		journal_test(another_version_is_refused),
		journal_test(damaged_samples_are_found_out),
		journal_test(cut_files_are_refused),
		journal_test(a_write_that_is_torn_loses_nothing),
		journal_test(a_full_disk_loses_nothing),
		journal_test(forgetting_makes_room_on_a_full_disk),
		journal_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
