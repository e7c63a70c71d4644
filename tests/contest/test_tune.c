/* Which rate is taken, and which epsilon fits it. */
#include "../base/check.h"

#include <math.h>
#include <stdio.h>

#include "contest/tune.h"

static int choose(double slack, int *best, int count, const double *accuracies)
{
	struct tune_row rows[8];

	for (int i = 0; i < count; i++)
		rows[i] = (struct tune_row){.rate = 0.1 * (i + 1), .accuracy = accuracies[i]};
	return tune_choose(rows, count, slack, best);
}

static void the_largest_good_one(void **state)
{
	const double flat[] = {58.5, 59.3, 59.8, 59.4, 51};
	int best;

	(void)state;
	assert_int_equal(choose(1, &best, 5, flat), 3);
	assert_int_equal(best, 2);
	assert_int_equal(choose(0, &best, 5, flat), 2);
	assert_int_equal(choose(100, &best, 5, flat), 4);
}

static void failed_runs(void **state)
{
	const double some[] = {NAN, 40, 41, NAN};
	int best;

	(void)state;
	assert_int_equal(choose(1, &best, 4, some), 2);
	assert_int_equal(choose(1, &best, 1, some), -1);
	assert_int_equal(best, -1);
	assert_int_equal(choose(1, &best, 0, some), -1);
}

/* 0.3 of 6.59 points is 1.977, of accuracy 0.0198; no gap, no epsilon. */
static void epsilon(void **state)
{
	(void)state;
	assert_true(fabs(tune_epsilon(6.59) - 0.0198) < 1e-12);
	assert_true(fabs(tune_epsilon(10) - 0.03) < 1e-12);
	assert_true(tune_epsilon(-1) == 0 && tune_epsilon(NAN) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_largest_good_one),
		cmocka_unit_test(failed_runs),
		cmocka_unit_test(epsilon),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
