/*
 * What the journal knows beside samples: inputs that wait for their labels under a
 * key, the keys of those that were added, guesses and marks.
 */
#include "base/clock.h"
#include "journal_check.h"
#include "cells.h"

#include <math.h>
#include <sys/wait.h>

static void inputs_wait_for_their_labels(void **state)
{
	static const char *const keys[] = {"a", "b", "c", "a"};
	struct store *store = store_with(SMALL);
	struct journal *journal = store_journal(store);
	float input[SMALL];
	struct err err;

	samples_from(0, 4, SMALL);
	assert_ok(journal_wait(journal, keys, inputs, NULL, NULL, 4, &err), err);
	assert_int_equal(journal_waiting(journal), 3);
	assert_ok(journal_take(journal, "b", input, NULL, &err), err);
	assert_memory_equal(input, inputs + SMALL, sizeof(input));
	/* The one sent last. */
	assert_ok(journal_take(journal, "a", input, NULL, &err), err);
	assert_memory_equal(input, inputs + (size_t)3 * SMALL, sizeof(input));
	assert_int_equal(journal_take(journal, "a", input, NULL, &err), ERR_INPUT);
	assert_says(err, "just been taken");
	assert_int_equal(journal_wait(journal, keys, inputs, NULL, NULL, 1, &err), ERR_INPUT);
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
	assert_ok(store_add(store, input, CELLS(labels), 1, &err), err);
	assert_int_equal(journal_waiting(journal), 2);
	assert_int_equal(journal_take(journal, "b", input, NULL, &err), ERR_INPUT);
	store_free(store);
	store = store_with(SMALL);
	journal = store_journal(store);
	assert_int_equal(journal_waiting(journal), 2);
	assert_int_equal(store_stored(store), 1);
	store_free(store);
}

static void assert_place(struct journal *journal, const char *key, enum journal_place place,
	int64_t id, int32_t label)
{
	struct journal_found found;
	struct err err;

	assert_ok(journal_find(journal, key, NULL, &found, &err), err);
	if (found.place != place ||
		(place == JOURNAL_ADDED && (found.id != id || found.label->class != label)))
		fail_msg("%s: place %d, sample %lld, label %d; expected %d, %lld, %d", key,
			(int)found.place, (long long)found.id, found.label->class, (int)place,
			(long long)id, label);
}

/* An input that is sent again when inputs are longer is the same one. */
static void longer_inputs_are_known_again(void **state)
{
	static const char *const keys[] = {"a", "b"};
	struct store *store = store_with(SMALL);
	struct journal *journal = store_journal(store);
	float wide[SMALL + 2], back[SMALL + 2];
	union target found[TARGET_GUESS];
	struct journal_found place;
	struct err err;

	samples_from(0, 2, SMALL);
	assert_ok(journal_wait(journal, keys, inputs, NULL, NULL, 2, &err), err);
	assert_ok(store_widen(store, SMALL + 2, &err), err);
	memcpy(wide, inputs, SMALL * sizeof(float));
	wide[SMALL] = wide[SMALL + 1] = NAN;
	assert_ok(journal_find(journal, "a", wide, &place, &err), err);
	assert_true(place.place == JOURNAL_WAITS && !place.differs);
	assert_ok(journal_take(journal, "a", back, found, &err), err);
	assert_memory_equal(back, wide, SMALL * sizeof(float));
	assert_true(isnan(back[SMALL]) && isnan(back[SMALL + 1]));
	assert_ok(store_add(store, back, CELLS(labels), 1, &err), err);
	assert_ok(journal_find(journal, "a", wide, &place, &err), err);
	assert_true(place.place == JOURNAL_ADDED && !place.differs);
	wide[SMALL] = 1;
	assert_ok(journal_find(journal, "a", wide, &place, &err), err);
	assert_true(place.differs);
	assert_ok(journal_find(journal, "b", wide, &place, &err), err);
	assert_true(place.differs);
	assert_ok(journal_wait(journal, keys + 1, wide, NULL, NULL, 1, &err), err);
	assert_ok(journal_find(journal, "b", wide, &place, &err), err);
	assert_true(place.place == JOURNAL_WAITS && !place.differs);
	assert_int_equal(journal_waiting(journal), 1);
	store_free(store);
}

static void keys_of_samples_are_remembered(void **state)
{
	static const char *const keys[] = {"a", "b", "c", "d"};
	static const int32_t guesses[] = {
		3, 1, 4, 0, 2, 5, 9, 2, 6, -1, 1, 1, 1, 1, 1, 7, 7, 7, 7, 7};
	struct store *store = store_with(SMALL);
	struct journal *journal = store_journal(store);
	int32_t found[2 * TARGET_GUESS];
	const int64_t both[] = {1, 0};
	float input[4 * SMALL];
	struct err err;

	journal_bound(journal, 100, 2);
	samples_from(0, 4, SMALL);
	assert_ok(journal_wait(journal, keys, inputs, CELLS(guesses), NULL, 4, &err), err);
	for (int i = 0; i < 4; i++) {
		assert_place(journal, keys[i], JOURNAL_WAITS, 0, 0);
		assert_ok(journal_take(
				  journal, keys[i], input + (size_t)i * SMALL, CELLS(found), &err),
			err);
		assert_memory_equal(
			found, guesses + i * TARGET_GUESS, TARGET_GUESS * sizeof(*guesses));
		assert_place(journal, keys[i], JOURNAL_TAKEN, 0, 0);
		if (i == 1) {
			labels[0] = 8;
			labels[1] = 9;
			assert_ok(store_add(store, input, CELLS(labels), 2, &err), err);
		}
	}
	assert_place(journal, "a", JOURNAL_ADDED, 0, 8);
	assert_place(journal, "b", JOURNAL_ADDED, 1, 9);
	assert_place(journal, "e", JOURNAL_UNKNOWN, 0, 0);
	assert_ok(journal_guesses(journal, both, 2, CELLS(found), &err), err);
	assert_memory_equal(found, guesses + TARGET_GUESS, TARGET_GUESS * sizeof(*guesses));
	assert_memory_equal(found + TARGET_GUESS, guesses, TARGET_GUESS * sizeof(*guesses));

	/* Only the latest two. An "a" that comes again is another sample. */
	assert_ok(store_add(store, input + 2 * SMALL, CELLS(labels), 2, &err), err);
	store_free(store);
	store = store_with(SMALL);
	journal = store_journal(store);
	assert_place(journal, "b", JOURNAL_UNKNOWN, 0, 0);
	assert_place(journal, "c", JOURNAL_ADDED, 2, 8);
	assert_place(journal, "d", JOURNAL_ADDED, 3, 9);
	store_free(store);
}

static void assert_answer(struct journal *journal, const char *key, const float *input,
	int32_t prediction, double probability, bool differs)
{
	struct journal_found found;
	struct err err;

	assert_ok(journal_find(journal, key, input, &found, &err), err);
	if (found.guess->class != prediction || found.differs != differs ||
		(isnan(probability) ? !isnan(found.probability) : found.probability != probability))
		fail_msg("%s: predicted %d, %.17g, differs %d; expected %d, %.17g, %d", key,
			found.guess->class, found.probability, found.differs, prediction,
			probability, differs);
}

/* While it waits, when it was taken, as a sample, and when the sample is gone. */
static void answers_and_inputs_are_remembered(void **state)
{
	static const char *const keys[] = {"a", "b"};
	static const int32_t guesses[] = {3, 1, 4, 0, 2, 5, 9, 2, 6, -1};
	static const double probabilities[] = {1.0 / 3, 0.5};
	struct store *store = store_with(SMALL);
	struct journal *journal = store_journal(store);
	float input[SMALL];
	struct err err;

	samples_from(0, 2, SMALL);
	assert_ok(journal_wait(journal, keys, inputs, CELLS(guesses), probabilities, 2, &err), err);
	for (int turn = 0; turn < 4; turn++) {
		assert_answer(journal, "a", inputs, 3, 1.0 / 3, false);
		assert_answer(journal, "a", NULL, 3, 1.0 / 3, false);
		assert_answer(journal, "a", inputs + SMALL, 3, 1.0 / 3, true);
		if (turn == 0)
			assert_ok(journal_take(journal, "a", input, NULL, &err), err);
		if (turn == 1)
			assert_ok(store_add(store, input, CELLS(labels), 1, &err), err);
		if (turn == 2)
			assert_ok(journal_trim(journal, &(int64_t){0}, 1, 1, &err), err);
	}
	/* What waits can be replaced, and so can its answer. */
	assert_ok(journal_wait(journal, keys + 1, inputs, CELLS(guesses), NULL, 1, &err), err);
	assert_answer(journal, "b", inputs, 3, NAN, false);
	assert_answer(journal, "c", inputs, -1, NAN, false);
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
	int32_t found[3 * TARGET_GUESS];
	struct journal_mark marked;
	float input[SMALL];
	struct err err;

	samples_from(0, 3, SMALL);
	assert_ok(journal_wait(journal, &key, inputs, CELLS(waited), NULL, 1, &err), err);
	assert_ok(journal_take(journal, key, input, NULL, &err), err);
	journal_beside(journal, CELLS(guesses), &mark);
	assert_ok(store_add(store, inputs, CELLS(labels), 2, &err), err);
	journal_beside(journal, NULL, NULL);
	assert_ok(store_add(store, inputs + 2 * SMALL, CELLS(labels + 2), 1, &err), err);
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
	assert_ok(journal_guesses(journal, all, 3, CELLS(found), &err), err);
	assert_memory_equal(found, waited, sizeof(waited));
	assert_memory_equal(found + TARGET_GUESS, guesses + TARGET_GUESS, sizeof(waited));
	for (int k = 0; k < TARGET_GUESS; k++)
		assert_int_equal(found[2 * TARGET_GUESS + k], -1);
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
	assert_ok(journal_wait(journal, keys, inputs, NULL, NULL, 4, &err), err);
	labels[0] = 5;
	labels[1] = 6;
	assert_int_equal(journal_label(journal, CELLS(labels), 1, &err), ERR_INPUT);
	assert_ok(journal_take(journal, "c", input, NULL, &err), err);
	assert_ok(journal_label(journal, CELLS(labels), 1, &err), err);
	assert_ok(journal_take(journal, "a", input, NULL, &err), err);
	assert_ok(journal_label(journal, CELLS(labels), 2, &err), err);
	/* Its label is not kept. */
	assert_ok(journal_take(journal, "b", input, NULL, &err), err);
	store_free(store);

	for (int added = 0; added < 2; added++) {
		store = store_with(SMALL);
		journal = store_journal(store);
		replay(store);
		for (int i = 0; i < 2 && !added; i++) {
			assert_ok(journal_take_again(journal, key, input + (size_t)i * SMALL, NULL,
					  CELLS(&label), &err),
				err);
			assert_string_equal(key, i ? "a" : "c");
			assert_int_equal(label, labels[i]);
			assert_place(journal, key, JOURNAL_TAKEN, 0, 0);
			assert_memory_equal(input + (size_t)i * SMALL, inputs + (i ? 0 : 2 * SMALL),
				SMALL * sizeof(float));
		}
		assert_ok(journal_take_again(journal, key, input, NULL, CELLS(&label), &err), err);
		assert_string_equal(key, "");
		if (!added)
			assert_ok(store_add(store, input, CELLS(labels), 2, &err), err);
		assert_place(journal, "c", JOURNAL_ADDED, 0, 5);
		assert_place(journal, "a", JOURNAL_ADDED, 1, 6);
		assert_place(journal, "b", JOURNAL_WAITS, 0, 0);
		store_free(store);
	}
}

/* When, and under which key: as long as the sample, in order and in a snapshot. */
static void what_was_said_stays_with_samples(void **state)
{
	static const char *const keys[] = {"a", "b", "c"};
	const double sure[] = {0.25, 0.5, 0.75};
	struct store *store = store_with(SMALL);
	struct journal *journal = store_journal(store), *snapshot;
	const int64_t begin = clock_wall();
	struct journal_said said;
	float input[SMALL];
	int64_t at = 0;
	bool found;
	struct err err;

	journal_bound(journal, 10, 1);
	samples_from(0, 3, SMALL);
	assert_ok(journal_wait(journal, keys, inputs, NULL, sure, 3, &err), err);
	assert_ok(journal_take(journal, "c", input, NULL, &err), err);
	assert_ok(journal_label(journal, CELLS(labels), 1, &err), err);
	store_free(store);
	store = store_with(SMALL);
	journal = store_journal(store);
	journal_bound(journal, 10, 1);
	assert_ok(journal_take_again(
			  journal, (char[JOURNAL_KEY + 1]){0}, input, NULL, CELLS(labels), &err),
		err);
	assert_ok(store_add(store, input, CELLS(labels), 1, &err), err);
	assert_ok(store_add(store, inputs, CELLS(labels), 1, &err), err);
	assert_ok(journal_take(journal, "a", input, NULL, &err), err);
	assert_ok(store_add(store, input, CELLS(labels), 1, &err), err);
	assert_place(journal, "c", JOURNAL_UNKNOWN, 0, 0); /* no longer remembered */

	assert_ok(journal_said(journal, 0, &said, &err), err);
	assert_string_equal(said.key, "c");
	assert_true(said.probability == 0.75);
	assert_in_range(said.asked, begin, clock_wall());
	assert_in_range(said.labelled, said.asked, clock_wall());
	assert_int_equal(said.corrected, 0);
	assert_ok(journal_said(journal, 1, &said, &err), err);
	assert_string_equal(said.key, ""); /* it did not wait */
	assert_in_range(said.labelled, begin, clock_wall());
	assert_ok(journal_trim(journal, (int64_t[]){1}, 1, 1, &err), err);
	store_free(store); /* a process opens it once */

	assert_ok(journal_open_snapshot(&snapshot, in_folder("journal"), &err), err);
	assert_ok(journal_next(snapshot, &at, &found, &err), err);
	assert_true(found && at == 0);
	at++;
	assert_ok(journal_next(snapshot, &at, &found, &err), err);
	assert_true(found && at == 2);
	at++;
	assert_ok(journal_next(snapshot, &at, &found, &err), err);
	assert_false(found);
	at = 0;
	assert_ok(journal_next_waiting(snapshot, &at, &said, &err), err);
	assert_string_equal(said.key, "b");
	assert_in_range(said.asked, begin, clock_wall());
	at++;
	assert_ok(journal_next_waiting(snapshot, &at, &said, &err), err);
	assert_string_equal(said.key, "");
	journal_close(snapshot);
}

/* A process that reads the samples as they were, once it is told to. */
static pid_t reader_of(const int told[2], int tell, int count)
{
	const pid_t child = fork();
	struct journal *snapshot;
	float input[SMALL];
	char byte = 1;
	bool well;

	if (child)
		return child;
	close(told[1]);
	well = !journal_open_snapshot(&snapshot, in_folder("journal"), NULL);
	well = write(tell, &byte, 1) == 1 && read(told[0], &byte, 1) == 1 && well;
	for (int64_t i = 0; i < count && well; i++)
		well = !journal_read(snapshot, &i, 1, input, CELLS(labels), NULL) &&
		       !memcmp(input, inputs + i * SMALL, sizeof(input));
	_exit(well ? 0 : 1);
}

/* Whoever exports slowly holds up nobody, and has what there was. */
static void snapshots_outlive_their_file(void **state)
{
	enum { COUNT = 20 };
	struct store *store = store_with(SMALL);
	const double begin = clock_now();
	int told[2], heard[2], status;
	struct err err;
	char byte;
	pid_t child;

	samples_from(0, COUNT, SMALL);
	assert_ok(store_add(store, inputs, CELLS(labels), COUNT, &err), err);
	store_free(store);
	assert_true(!pipe(told) && !pipe(heard));
	child = reader_of(told, heard[1], COUNT);
	assert_int_equal(read(heard[0], &byte, 1), 1);
	store = store_with(SMALL);
	assert_ok(journal_forget(
			  store_journal(store), (int64_t[]){3}, (int64_t[]){4}, 1, NULL, 0, &err),
		err);
	assert_ok(journal_compact(store_journal(store), &err), err);
	assert_true(clock_now() - begin < 20);
	assert_int_equal(write(told[1], &byte, 1), 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	store_free(store);
	for (int i = 0; i < 2; i++)
		close(told[i]), close(heard[i]);
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
		assert_ok(journal_wait(journal, &key, inputs, NULL, NULL, 1, &err), err);
		/* Key 0 is sent again and again, and keeps its turn; every third is labelled. */
		key = names[0];
		if (i < 5)
			assert_ok(journal_wait(journal, &key, inputs, NULL, NULL, 1, &err), err);
		if (i % 3 == 1) {
			float input[SMALL];

			assert_ok(journal_take(journal, names[i], input, NULL, &err), err);
			assert_ok(journal_add(journal, input, CELLS(labels), 1, &err), err);
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

/* Copies the journal of golden/old/live-0.1, which is of version 3. */
static void old_journal_copy(void)
{
	static char content[1 << 20];
	char path[1000];
	FILE *file;
	size_t size;

	snprintf(path, sizeof(path), "%s/golden/old/live-0.1/run/journal/data.mdb",
		getenv("RETAIN_TESTS"));
	file = fopen(path, "rb");
	assert_non_null(file);
	size = fread(content, 1, sizeof(content), file);
	fclose(file);
	assert_int_equal(mkdir(in_folder("journal"), 0777), 0);
	file = fopen(in_folder("journal/data.mdb"), "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(content, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

/* Its samples, labels and inputs are there; what it did not keep is not known. */
static void a_journal_of_version_3_becomes_one_of_this(void **state)
{
	static const float waits[] = {2.347f, -1.059f}, added[] = {2.065f, -1.269f};
	char key[JOURNAL_KEY + 1];
	float input[2];
	int32_t label;
	struct err err;

	old_journal_copy();
	for (int turn = 0; turn < 2; turn++) {
		struct store *store = store_with(2);
		struct journal *journal = store_journal(store);

		assert_int_equal(journal_added(journal), 28);
		assert_int_equal(journal_waiting(journal), 5);
		assert_answer(journal, "30", waits, 2, NAN, false);
		assert_answer(journal, "30", added, 2, NAN, true);
		assert_answer(journal, "27", added, 2, NAN, false);
		assert_answer(journal, "27", waits, 2, NAN, true);
		assert_answer(journal, "0", waits, -1, NAN, false);
		assert_place(journal, "0", JOURNAL_ADDED, 0, 1);
		for (int id = 28; id < 31; id++) {
			assert_ok(
				journal_take_again(journal, key, input, NULL, CELLS(&label), &err),
				err);
			assert_string_equal(key, id == 28 ? "28" : id == 29 ? "29" : "");
		}
		store_free(store);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		journal_test(inputs_wait_for_their_labels),
		journal_test(keys_of_samples_are_remembered),
		journal_test(longer_inputs_are_known_again),
		journal_test(answers_and_inputs_are_remembered),
		journal_test(marks_and_guesses_stay_with_samples),
		journal_test(labels_are_kept_until_they_are_added),
		journal_test(what_was_said_stays_with_samples),
		journal_test(snapshots_outlive_their_file),
		journal_test(old_inputs_give_way),
		journal_test(a_journal_of_version_3_becomes_one_of_this),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
