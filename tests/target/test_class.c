/* Guesses among classes, against sorting them slowly. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "target/class.h"

enum { CLASSES = 60, COUNT_MOST = 9 };

/* One after the other: the largest that was not taken yet, and of equal ones the first. */
static void sorted(const float *logits, int classes, int32_t *best, int count)
{
	bool taken[CLASSES] = {false};

	for (int k = 0; k < count; k++) {
		best[k] = -1;
		for (int c = 0; c < classes; c++)
			if (!taken[c] && (best[k] < 0 || logits[c] > logits[best[k]]))
				best[k] = c;
		if (best[k] >= 0)
			taken[best[k]] = true;
	}
}

/* Whole numbers, so that many are equal. */
static void the_best_in_order(void **state)
{
	const struct rng rng = {7, RNG_TEST};

	(void)state;
	for (uint64_t trial = 0; trial < 2000; trial++) {
		const int classes = 1 + (int)(trial % CLASSES);
		float logits[CLASSES];

		for (int c = 0; c < classes; c++)
			logits[c] = (float)rng_below(rng, trial * CLASSES + (uint64_t)c, 20);
		for (int count = 1; count <= COUNT_MOST; count++) {
			int32_t best[COUNT_MOST + 1], want[COUNT_MOST];

			best[count] = 77;
			class_most(logits, classes, best, count);
			sorted(logits, classes, want, count);
			for (int k = 0; k < count; k++)
				assert_int_equal(best[k], want[k]);
			assert_int_equal(best[count], 77);
		}
	}
}

/* A net that ran away still names classes that there are, each once. */
static void logits_that_are_not_finite(void **state)
{
	static const float odd[] = {NAN, INFINITY, -INFINITY, 0};

	(void)state;
	for (int trial = 0; trial < 4 * 4 * 4 * 4 * 4 * 4; trial++) {
		float logits[6];
		int32_t best[TARGET_GUESS];

		for (int c = 0, code = trial; c < 6; c++, code /= 4)
			logits[c] = odd[code % 4];
		class_most(logits, 6, best, TARGET_GUESS);
		for (int k = 0; k < TARGET_GUESS; k++) {
			assert_in_range(best[k], 0, 5);
			for (int other = 0; other < k; other++)
				assert_int_not_equal(best[k], best[other]);
		}
	}
}

static void ranks_of_labels(void **state)
{
	const float logits[] = {0, 3, 1, 5, 4, 2, -1};
	union target guess[TARGET_GUESS];

	(void)state;
	target_class.guess(logits, 7, 1, guess);
	assert_int_equal(class_rank(guess, 3), 1);
	assert_int_equal(class_rank(guess, 4), 2);
	assert_int_equal(class_rank(guess, 2), 5);
	assert_int_equal(class_rank(guess, 0), TARGET_GUESS + 1);
	assert_true(isnan(class_odds(guess)));
	target_class.guess(logits, 2, 1, guess);
	assert_true(class_odds(guess) == 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_best_in_order),
		cmocka_unit_test(logits_that_are_not_finite),
		cmocka_unit_test(ranks_of_labels),
	};

	return cmocka_run_group_tests_name("class", tests, NULL, NULL);
}
