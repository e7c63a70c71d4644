/*
 * Learning efficacy by hand, and the blind learner against one that counts all
 * labels anew at every step.
 */
#include "base/rng.h"
#include "check.h"
#include "eval/prequential.h"
#include "target/chain.h"
#include "cells.h"

static struct prequential *meter_of(int classes, int window)
{
	struct prequential *meter;
	struct err err = {0};

	assert_ok(prequential_new(&meter, classes, window, &err), err);
	return meter;
}

/* Counts a step in which sample i was predicted as predicted[i], its label's rank being rank[i]. */
static void count_step(struct prequential *meter, const int32_t *predicted, const int32_t *rank,
	const int32_t *labels, int n)
{
	union target guesses[64 * TARGET_GUESS];

	for (int i = 0; i < n * TARGET_GUESS; i++)
		guesses[i] = TARGET_NONE;
	for (int i = 0; i < n; i++) {
		guesses[i * TARGET_GUESS].class = predicted[i];
		if (rank[i] <= TARGET_GUESS)
			guesses[i * TARGET_GUESS + rank[i] - 1].class = labels[i];
	}
	prequential_step(meter, guesses, targets_of_classes(labels), n);
}

static void steps_count_equally(void **state)
{
	struct prequential *meter = meter_of(10, 100);

	(void)state;
	assert_number(prequential_top1(meter), 0);
	assert_number(prequential_top5(meter), 0);
	assert_number(prequential_blind(meter), 0);

	/* 1 of 4 right, 3 of 4 among five. */
	count_step(meter, (int32_t[]){1, 2, 3, 4}, (int32_t[]){1, 2, 5, 6}, (int32_t[]){1, 9, 9, 9},
		4);
	assert_number(prequential_top1(meter), 0.25);
	assert_number(prequential_top5(meter), 0.75);
	assert_number(prequential_blind(meter), 0);

	/* A single one, right: means of the steps, not of the samples. */
	count_step(meter, (int32_t[]){9}, (int32_t[]){1}, (int32_t[]){9}, 1);
	assert_number(prequential_top1(meter), (0.25 + 1) / 2);
	assert_number(prequential_top5(meter), (0.75 + 1) / 2);
	assert_number(prequential_blind(meter), 0.5);

	count_step(meter, NULL, NULL, NULL, 0);
	assert_number(prequential_top1(meter), (0.25 + 1) / 2);
	/* The last label was a 9, and so were most. Then it is a 1, which leaves 9 the most frequent. */
	assert_number(prequential_same(meter), 0.5);
	assert_number(prequential_most(meter), 0.5);
	count_step(meter, (int32_t[]){9}, (int32_t[]){2}, (int32_t[]){1}, 1);
	count_step(meter, (int32_t[]){9}, (int32_t[]){1}, (int32_t[]){9}, 1);
	count_step(meter, (int32_t[]){9, 9}, (int32_t[]){1, 2}, (int32_t[]){9, 1}, 2);
	assert_number(prequential_same(meter), (0 + 1 + 0 + 0 + 0.5) / 5);
	assert_number(prequential_most(meter), (0 + 1 + 0 + 1 + 0.5) / 5);
	prequential_free(meter);
	prequential_free(NULL);
}

/* 0 1 1 0 1 1 ...: after three labels twice, their order says all; neither of the two others does. */
static void the_order_of_labels(void **state)
{
	struct prequential *meter = meter_of(2, 10);

	(void)state;
	for (int i = 0; i < 30; i++)
		count_step(meter, (int32_t[]){0}, (int32_t[]){1}, (int32_t[]){i % 3 != 0}, 1);
	assert_in_range((int)lround(30 * prequential_chain(meter)), 24, 29);
	assert_in_range((int)lround(30 * prequential_same(meter)), 9, 10);
	prequential_free(meter);
}

/*
 * 1 0 2 1 K 3 over and over, where 0 and K share a place among the chain's links: after 1 and 0
 * comes 2, after 1 and K comes 3, for longer than the chain looks back. What follows a 1 is open.
 */
static void labels_of_one_kind(void **state)
{
	enum { K = CHAIN_KINDS, LABELS = 2 * CHAIN_HISTORY + 5 };
	static const int32_t pattern[] = {1, 0, 2, 1, K, 3};
	struct chain chain = {0};

	(void)state;
	assert_int_equal(chain_guess(&chain), -1);
	for (int i = 0; i < LABELS; i++) {
		if (i > 12 && i % 3 != 1)
			assert_int_equal(chain_guess(&chain), pattern[i % 6]);
		chain_add(&chain, pattern[i % 6]);
	}
}

/* A step of labels, the model always wrong; returns how many the blind learner got right. */
static double blind_gain(struct prequential *meter, const int32_t *labels, int n, int step)
{
	static int32_t wrong[64], rank[64];
	const double before = prequential_blind(meter) * (step - 1);

	for (int i = 0; i < n; i++) {
		wrong[i] = -1;
		rank[i] = 6;
	}
	count_step(meter, wrong, rank, labels, n);
	return round((prequential_blind(meter) * step - before) * n);
}

static void the_blind_learner_by_hand(void **state)
{
	struct prequential *meter = meter_of(4, 5);

	(void)state;
	/* No label before: nothing is right, not even class 0. */
	assert_number(blind_gain(meter, (int32_t[]){0, 0, 0}, 3, 1), 0);
	/* 0 0 0: says 0, all through the step. */
	assert_number(blind_gain(meter, (int32_t[]){1, 1, 0, 1}, 4, 2), 1);
	/* Of 0 0 0 1 1 0 1 the last five are 0 1 1 0 1: says 1. */
	assert_number(blind_gain(meter, (int32_t[]){2, 1, 2}, 3, 3), 1);
	/* 0 1 2 1 2: a tie of 1 and 2, and 2 was seen last. */
	assert_number(blind_gain(meter, (int32_t[]){1, 2, 2, 0}, 4, 4), 2);
	/* 2 1 2 2 0: says 2. */
	assert_number(blind_gain(meter, (int32_t[]){2, 2}, 2, 5), 2);
	assert_number(prequential_top1(meter), 0);
	assert_number(prequential_top5(meter), 0);
	prequential_free(meter);
}

enum { CLASSES = 7, STEPS = 200, MOST = 12 };

static int labels_of(int step, int32_t labels[MOST])
{
	const struct rng rng = {1, RNG_TEST};
	const uint64_t first = (uint64_t)step * (MOST + 1);
	const int n = (int)rng_below(rng, first, MOST) + 1;

	/* Small numbers more often than large ones. */
	for (int i = 0; i < n; i++) {
		const double u = rng_double(rng, first + 1 + (uint64_t)i);
		labels[i] = (int32_t)(u * u * CLASSES);
	}
	return n;
}

static int32_t plain_guess(const int32_t *all, int count, int window)
{
	int32_t best = -1;
	int most = 0;

	for (int i = count - 1; i >= 0 && i >= count - window; i--) {
		int same = 0;
		for (int j = count - 1; j >= 0 && j >= count - window; j--)
			same += all[j] == all[i];
		if (same > most) {
			most = same;
			best = all[i];
		}
	}
	return best;
}

static void the_blind_learner_against_counting(void **state)
{
	static const int windows[] = {1, 2, 10, 37, 5000};
	static int32_t all[STEPS * MOST];

	(void)state;
	for (size_t w = 0; w < COUNT(windows); w++) {
		struct prequential *meter = meter_of(CLASSES, windows[w]);
		int count = 0;

		for (int step = 1; step <= STEPS; step++) {
			const int32_t guess = plain_guess(all, count, windows[w]);
			int32_t *labels = all + count;
			const int n = labels_of(step, labels);
			int right = 0;

			for (int i = 0; i < n; i++)
				right += labels[i] == guess;
			assert_number(blind_gain(meter, labels, n, step), right);
			count += n;
		}
		prequential_free(meter);
	}
}

static void visit(void *object, struct state *state)
{
	prequential_state(object, state);
}

static void run(struct prequential *meter, int from, int to)
{
	for (int step = from; step < to; step++) {
		int32_t labels[MOST], predicted[MOST], rank[MOST];
		const int n = labels_of(step, labels);

		for (int i = 0; i < n; i++) {
			predicted[i] = (step + i) % CLASSES;
			rank[i] = predicted[i] == labels[i] ? 1 : 2 + (step + i) % 5;
		}
		count_step(meter, predicted, rank, labels, n);
	}
}

static void a_resumed_meter_goes_on(void **state)
{
	struct err err = {0};

	(void)state;
	for (int stop = 0; stop <= STEPS; stop += STEPS / 4) {
		struct prequential *straight = meter_of(CLASSES, 20),
				   *before = meter_of(CLASSES, 20), *after = meter_of(CLASSES, 20);

		run(straight, 0, STEPS);
		run(before, 0, stop);
		run(after, 3, 50); /* to be replaced */
		assert_ok(state_save(in_folder("state"), visit, before, &err), err);
		assert_ok(state_load(in_folder("state"), visit, after, &err), err);
		run(after, stop, STEPS);
		assert_number(prequential_top1(after), prequential_top1(straight));
		assert_number(prequential_top5(after), prequential_top5(straight));
		assert_number(prequential_blind(after), prequential_blind(straight));
		prequential_free(straight);
		prequential_free(before);
		prequential_free(after);
	}
}

static void another_shape_is_refused(void **state)
{
	struct prequential *saved = meter_of(4, 5), *other = meter_of(5, 5);
	struct err err = {0};

	(void)state;
	assert_ok(state_save(in_folder("state"), visit, saved, &err), err);
	assert_int_equal(state_load(in_folder("state"), visit, other, &err), ERR_FORMAT);
	assert_says(err, "4 classes, but 5 are expected");
	prequential_free(saved);
	prequential_free(other);

	assert_int_equal(prequential_new(&other, -1, 5, &err), ERR_INPUT);
	assert_says(err, "-1 classes");
	assert_null(other);
	assert_int_equal(prequential_new(&other, 5, 0, &err), ERR_INPUT);
	assert_says(err, "last 0 labels");
}

static int new_attempt(void *context, struct err *err)
{
	struct prequential *meter;
	const int code = prequential_new(&meter, 10, 10, err);

	(void)context;
	prequential_free(meter);
	return code;
}

static void memory_runs_out(void **state)
{
	const uint64_t before = mem_count();
	struct prequential *meter;

	(void)state;
	assert_int_equal(each_allocation_fails(new_attempt, NULL), 5);
	meter = meter_of(CLASSES, 20);
	assert_true(mem_count() > before);
	const uint64_t made = mem_count();
	run(meter, 0, STEPS);
	assert_int_equal(mem_count(), made);
	prequential_free(meter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_count_equally),
		cmocka_unit_test(the_order_of_labels),
		cmocka_unit_test(labels_of_one_kind),
		cmocka_unit_test(the_blind_learner_by_hand),
		cmocka_unit_test(the_blind_learner_against_counting),
		folder_test(a_resumed_meter_goes_on),
		folder_test(another_shape_is_refused),
		cmocka_unit_test(memory_runs_out),
	};

	return cmocka_run_group_tests_name("prequential", tests, NULL, NULL);
}
