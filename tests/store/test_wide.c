/* Targets of several cells, in memory and in a journal. */
#include "journal_check.h"

enum { WIDTH = 3, ROWS = 70, DIM = 4, GUESS = NUMBER_OUTPUTS * WIDTH + 2 };

static float rows[ROWS * DIM];
static union target wide[ROWS * WIDTH], guesses[ROWS * GUESS];

static void make_rows(void)
{
	for (int i = 0; i < ROWS * DIM; i++)
		rows[i] = (float)i / 8;
	for (int i = 0; i < ROWS * WIDTH; i++)
		wide[i].number = (float)i - 7.5F;
	for (int i = 0; i < ROWS * GUESS; i++)
		guesses[i].class = i - 3;
}

static struct store *open_wide(void)
{
	struct store *store;
	struct err err;

	assert_ok(store_in_journal(&store, in_folder("journal"), DIM, WIDTH, &err), err);
	return store;
}

/* More than one batch of a fetch, backwards. */
static void assert_rows(struct store *store)
{
	float back[ROWS * DIM];
	union target labels_back[ROWS * WIDTH];
	int64_t ids[ROWS];
	struct err err;

	for (int i = 0; i < ROWS; i++)
		ids[i] = ROWS - 1 - i;
	assert_ok(store_fetch(store, ids, ROWS, back, labels_back, &err), err);
	for (int i = 0; i < ROWS; i++) {
		assert_memory_equal(
			back + (size_t)i * DIM, rows + ids[i] * DIM, DIM * sizeof(float));
		assert_memory_equal(labels_back + (size_t)i * WIDTH, wide + ids[i] * WIDTH,
			WIDTH * sizeof(*wide));
	}
}

static void kept_in_memory(void **state)
{
	struct store *store;
	struct err err;

	(void)state;
	make_rows();
	assert_ok(store_in_memory(&store, DIM, WIDTH, &err), err);
	assert_ok(store_add(store, rows, wide, ROWS, &err), err);
	assert_rows(store);
	store_free(store);
}

/* What a former process added is compared cell by cell. */
static void kept_in_a_journal(void **state)
{
	struct store *store = open_wide(), *other;
	struct err err;

	(void)state;
	make_rows();
	journal_beside(store_journal(store), guesses, NULL);
	assert_ok(store_add(store, rows, wide, ROWS, &err), err);
	journal_beside(store_journal(store), NULL, NULL);
	store_free(store);
	assert_int_equal(store_in_journal(&other, in_folder("journal"), DIM, 1, &err), ERR_INPUT);
	assert_says(err, "targets of 3 numbers, not 1");
	store = open_wide();
	assert_rows(store);
	wide[WIDTH * ROWS - 1].number++;
	assert_int_equal(store_add(store, rows, wide, ROWS, &err), ERR_INPUT);
	wide[WIDTH * ROWS - 1].number--;
	assert_ok(store_add(store, rows, wide, ROWS, &err), err);
	{
		union target back[GUESS];
		const int64_t id = 5;

		assert_ok(journal_guesses(store_journal(store), &id, 1, back, &err), err);
		assert_memory_equal(back, guesses + 5 * GUESS, sizeof(back));
	}
	store_free(store);
}

/* From waiting to what is remembered of a sample. */
static void guesses_stay_whole(void **state)
{
	static const char *const keys[] = {"a", "b"};
	const double sure[] = {0.25, 0.5};
	struct store *store = open_wide();
	struct journal *journal = store_journal(store);
	char key[JOURNAL_KEY + 1];
	union target guess[GUESS], label[WIDTH];
	struct journal_found found;
	float input[2 * DIM];
	struct err err;

	(void)state;
	make_rows();
	assert_ok(journal_wait(journal, keys, rows, guesses, sure, 2, &err), err);
	assert_ok(journal_find(journal, "b", rows + DIM, &found, &err), err);
	assert_true(found.place == JOURNAL_WAITS && !found.differs);
	assert_memory_equal(found.guess, guesses + GUESS, GUESS * sizeof(*guesses));
	assert_ok(journal_newest(journal, input, guess, &err), err);
	assert_memory_equal(guess, guesses + GUESS, sizeof(guess));
	assert_ok(journal_take(journal, "a", input, guess, &err), err);
	assert_memory_equal(guess, guesses, sizeof(guess));
	assert_ok(journal_label(journal, wide, 1, &err), err);
	store_free(store);

	store = open_wide();
	journal = store_journal(store);
	assert_ok(journal_take_again(journal, key, input, guess, label, &err), err);
	assert_string_equal(key, "a");
	assert_memory_equal(label, wide, sizeof(label));
	assert_memory_equal(guess, guesses, sizeof(guess));
	assert_ok(journal_take(journal, "b", input + DIM, guess, &err), err);
	assert_ok(store_add(store, input, wide, 2, &err), err);
	assert_ok(journal_find(journal, "b", rows + DIM, &found, &err), err);
	assert_true(found.place == JOURNAL_ADDED && found.id == 1 && !found.differs);
	assert_memory_equal(found.label, wide + WIDTH, WIDTH * sizeof(*wide));
	assert_true(found.probability == 0.5);
	assert_int_equal(found.guess[0].class, guesses[GUESS].class);
	assert_memory_equal(found.guess + NUMBER_OUTPUTS, guesses + GUESS + NUMBER_OUTPUTS,
		NUMBER_OUTPUTS * (WIDTH - 1) * sizeof(*guesses));
	store_free(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kept_in_memory),
		journal_test(kept_in_a_journal),
		journal_test(guesses_stay_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
