/* Means, spreads and paired differences against numbers worked out by hand and by tables. */
#include "../base/check.h"

#include <math.h>
#include <stdio.h>

#include "contest/stats.h"

#define assert_near(is, should, by)                                                                \
	do {                                                                                       \
		if (!(fabs((is) - (should)) <= (by)))                                              \
			fail_msg("%s is %.9g, not %.9g", #is, (double)(is), (double)(should));     \
	} while (0)

static void mean_and_spread(void **state)
{
	const struct stats stats = stats_of((const double[]){2, 4, 4, 4, 5, 5, 7, 9}, 8);

	(void)state;
	assert_int_equal(stats.count, 8);
	assert_near(stats.mean, 5, 0);
	assert_near(stats.sd, sqrt(32.0 / 7), 1e-12);
}

static void what_is_missing(void **state)
{
	const struct stats one = stats_of((const double[]){NAN, 3, NAN}, 3);

	(void)state;
	assert_int_equal(one.count, 1);
	assert_near(one.mean, 3, 0);
	assert_true(isnan(one.sd));
	assert_true(isnan(stats_of(NULL, 0).mean) && stats_of(NULL, 0).count == 0);
}

/* From printed tables of Student's t. */
static void students_t(void **state)
{
	static const struct {
		int freedom;
		double level, t;
	} rows[] = {{1, 0.95, 12.706}, {2, 0.95, 4.303}, {3, 0.95, 3.182}, {4, 0.95, 2.776},
		{5, 0.95, 2.571}, {9, 0.95, 2.262}, {10, 0.95, 2.228}, {30, 0.95, 2.042},
		{120, 0.95, 1.980}, {1, 0.5, 1.000}, {2, 0.99, 9.925}, {7, 0.99, 3.499},
		{1, 0.99, 63.657}};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_near(stats_t(rows[i].freedom, rows[i].level), rows[i].t, 0.0006);
	/* Closed forms: tan(pi p/2) for one degree, p sqrt(2/(1 - p^2)) for two. */
	assert_near(stats_t(1, 0.95), tan(0.95 * 1.5707963267948966), 1e-9);
	assert_near(stats_t(2, 0.95), 0.95 * sqrt(2 / (1 - 0.95 * 0.95)), 1e-9);
}

/*
 * Values 1, 2, 3: mean 2, error 0.57735. At a distance of d errors from a bound the chance is
 * 1 - d / sqrt(2 + d * d), the closed form for two degrees.
 */
static void bounded(void **state)
{
	const struct stats stats = stats_of((const double[]){1, 2, 3}, 3);
	const struct stats same = stats_of((const double[]){4, 4}, 2);
	const struct stats one = stats_of((const double[]){4}, 1);
	const double x = 0.1 * 0.1;
	const struct stats tenth = stats_of((const double[]){x, x, x, x, x, x, x}, 7);
	const double d = sqrt(3);

	(void)state;
	assert_near(stats_bounded(&stats, 1, INFINITY).chance, 1 - d / sqrt(2 + d * d), 1e-12);
	assert_true(stats_bounded(&stats, 1, INFINITY).inside);
	assert_near(stats_bounded(&stats, -INFINITY, 1).chance, 1 - d / sqrt(2 + d * d), 1e-12);
	assert_false(stats_bounded(&stats, -INFINITY, 1).inside);
	/* The nearer of two bounds decides. */
	assert_near(stats_bounded(&stats, -50, 2).chance, 1, 0);
	assert_true(stats_bounded(&stats, -50, 2).inside);
	assert_near(stats_bounded(&same, 4, 5).chance, 0, 0);
	assert_true(stats_bounded(&same, 4, 5).inside);
	assert_true(stats_bounded(&tenth, -INFINITY, 0.01).inside);
	assert_true(stats_bounded(&tenth, -INFINITY, 0.01).chance == 0);
	assert_false(stats_bounded(&tenth, -INFINITY, 0.00999).inside);
	assert_true(isnan(stats_bounded(&one, 3, 5).chance));
	/* The 95 % interval's edge is where the chance is 5 %. */
	assert_near(
		stats_bounded(&stats, 2 - 4.30265273 * 0.577350269, INFINITY).chance, 0.05, 1e-8);
}

/* Four chances against 0.05 / 4, / 3, / 2: the third is too large, so the fourth does not count. */
static void holm(void **state)
{
	bool sure[5];

	(void)state;
	stats_holm((const double[]){0.04, 0.01, NAN, 0.012, 0.03}, 5, 0.95, sure);
	assert_true(sure[1] && sure[3]);
	assert_false(sure[0] || sure[2] || sure[4]);
	stats_holm((const double[]){0.04, 0.001}, 2, 0.95, sure);
	assert_true(sure[0] && sure[1]);
	stats_holm((const double[]){0.013, 0.0126, 0.02, 0.04}, 4, 0.95, sure);
	assert_false(sure[0] || sure[1] || sure[2] || sure[3]);
}

/*
 * Differences 1, 2, 3: mean 2, sd 1, error 1/sqrt 3 = 0.57735, t of two degrees
 * 4.30265, so the interval is 2 -+ 2.48414, which holds zero.
 */
static void paired(void **state)
{
	const double a[] = {11, 22, 33}, b[] = {10, 20, 30};
	const struct stats_paired three = stats_paired(a, b, 3, 0.95);

	(void)state;
	assert_int_equal(three.count, 3);
	assert_near(three.mean, 2, 1e-12);
	assert_near(three.error, 0.577350269, 1e-9);
	assert_near(three.low, 2 - 2.484137, 1e-5);
	assert_near(three.high, 2 + 2.484137, 1e-5);
	assert_false(three.clear);
	assert_true(stats_paired(a, b, 3, 0.8).clear);
}

/* Differences 4, 5, 6 have the same error, and zero is outside; whatever the seeds do to both. */
static void clear_differences(void **state)
{
	const double a[] = {104, 25, -94}, b[] = {100, 20, -100};
	const struct stats_paired more = stats_paired(a, b, 3, 0.95),
				  less = stats_paired(b, a, 3, 0.95);

	(void)state;
	assert_near(more.mean, 5, 1e-12);
	assert_near(more.low, 5 - 2.484137, 1e-5);
	assert_true(more.clear && less.clear && less.high < 0);
}

static void too_few_pairs(void **state)
{
	const double a[] = {3, NAN, NAN}, b[] = {1, 2, NAN};
	const struct stats_paired one = stats_paired(a, b, 3, 0.95);

	(void)state;
	assert_int_equal(one.count, 1);
	assert_near(one.mean, 2, 0);
	assert_true(isnan(one.error) && isnan(one.low) && isnan(one.high) && !one.clear);
	assert_true(isnan(stats_paired(a + 1, b + 1, 2, 0.95).mean));
}

/* Differences that are all alike leave no doubt; none at all is no difference. */
static void without_noise(void **state)
{
	const double a[] = {2, 3}, b[] = {1, 2};

	(void)state;
	assert_true(stats_paired(a, b, 2, 0.95).clear);
	assert_false(stats_paired(a, a, 2, 0.95).clear);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mean_and_spread),
		cmocka_unit_test(what_is_missing),
		cmocka_unit_test(students_t),
		cmocka_unit_test(bounded),
		cmocka_unit_test(holm),
		cmocka_unit_test(paired),
		cmocka_unit_test(clear_differences),
		cmocka_unit_test(too_few_pairs),
		cmocka_unit_test(without_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
