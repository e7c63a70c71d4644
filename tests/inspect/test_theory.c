/*
 * The bound on SGD under drift: terms against numbers worked out by hand, what is
 * measured against where SGD is known to settle, and the verdict on all cases.
 */
#include "../base/check.h"

#include <math.h>
#include <stdio.h>

#include "inspect/theory.h"

static const struct theory_case *case_of(const char *name)
{
	for (const struct theory_case *row = theory_cases; row->name; row++)
		if (!strcmp(row->name, name))
			return row;
	fail_msg("there is no case %s", name);
	return NULL;
}

static struct theory_result result_of(const char *name, int iterations)
{
	struct theory_result result;
	struct err err = {0};

	assert_int_equal(theory_run(case_of(name), 100, iterations, 1, &result, &err), 0);
	return result;
}

#define assert_near(is, should, by)                                                                \
	do {                                                                                       \
		if (!(fabs((is) - (should)) <= (by)))                                              \
			fail_msg("%s is %.9g, not %.9g", #is, (double)(is), (double)(should));     \
	} while (0)

/*
 * A single step without noise, by hand: rate 0.1, L 1, from distance 1 in a bowl
 * that moves by 0.05: |gradient|^2 = 1/2, the point goes to -1 + 0.1/sqrt 2, and D is 0.19.
 */
static void one_step(void **state)
{
	const struct theory_result r = result_of("slow line", 1);
	const double after = -1 + 0.1 / sqrt(2) - 0.05;

	(void)state;
	assert_near(r.mean, 0.5, 1e-12);
	assert_near(r.least, 0.5, 1e-12);
	assert_near(r.t1, 2 * (sqrt(2) - sqrt(1 + after * after)) / 0.19, 1e-12);
	assert_near(r.t2, 0, 0);
	assert_near(r.t3, 2 * 0.05 / 0.19, 1e-12);
	assert_near(r.bound[THEORY_RIGHT], r.t1 + r.t2 + r.t3, 1e-12);
	assert_near(r.bound[THEORY_SQUARED], r.t1 + r.t2 + 2 * 0.0025 / 0.19, 1e-12);
	assert_near(r.bound[THEORY_HALVED], r.t1 + r.t2 + 0.05 / 0.19, 1e-12);
	assert_near(r.error, 0, 1e-12);
}

/* Behind a centre on a straight line the gradient settles at speed / rate. */
static void lag(void **state)
{
	(void)state;
	assert_near(result_of("slow line", 3000).least, 0.25, 1e-6);
	assert_near(result_of("fast line", 3000).least, 0.64, 1e-6);
	assert_near(result_of("slow line", 3000).mean, 0.25, 0.005);
}

/* T2 of a constant rate is L rho^2 a / (2 - L a). */
static void noise_term(void **state)
{
	(void)state;
	assert_near(result_of("still bowl", 50).t2, 0.1 / 1.9, 1e-12);
	assert_near(result_of("still quadratic", 50).t2, 2 * 0.2 / (2 - 0.4), 1e-12);
}

/* Where losses are quadratic and stay, the bound is an equality. */
static void tight(void **state)
{
	const struct theory_result r = result_of("still quadratic", 1000);

	(void)state;
	assert_true(r.error > 0);
	assert_near(r.mean, r.bound[THEORY_RIGHT], 4 * r.error);
	assert_false(r.mean_above[THEORY_RIGHT]);
}

/* Rate 1.9 and L = 4: below L/2, above 2/L; the divisor is negative, and so is the bound. */
static void condition(void **state)
{
	const struct theory_result r = result_of("steep bowl, rate 1.9", 200);

	(void)state;
	assert_true(r.allowed_by_paper);
	assert_false(r.allowed);
	assert_true(r.bound[THEORY_RIGHT] < 0);
	assert_true(r.least_above[THEORY_RIGHT]);
}

static void every_case(void **state)
{
	struct theory_verdict verdict = {0};
	struct err err = {0};

	(void)state;
	for (const struct theory_case *row = theory_cases; row->name; row++) {
		struct theory_result r;

		assert_int_equal(theory_run(row, 100, 1000, 7, &r, &err), 0);
		if (r.allowed && (r.mean_above[THEORY_RIGHT] || r.least_above[THEORY_RIGHT]))
			fail_msg("%s: mean %g, bound %g", row->name, r.mean, r.bound[THEORY_RIGHT]);
		assert_true(r.least <= r.mean + 1e-12 || !r.allowed);
		theory_count(&verdict, &r);
	}
	assert_true(verdict.held == verdict.allowed && verdict.allowed == verdict.cases - 1);
	assert_true(verdict.broken[THEORY_SQUARED] >= 3 && verdict.broken[THEORY_HALVED] >= 2);
	assert_true(verdict.admitted_wrongly == 1 && verdict.refused_wrongly >= 1);
	assert_true(theory_shown(&verdict));
	verdict.held--;
	assert_false(theory_shown(&verdict));
	verdict.held++;
	verdict.broken[THEORY_HALVED] = 0;
	assert_false(theory_shown(&verdict));
}

static void seeds_repeat(void **state)
{
	struct theory_result a, b, c;
	struct err err = {0};

	(void)state;
	assert_int_equal(theory_run(case_of("random walk"), 100, 50, 3, &a, &err), 0);
	assert_int_equal(theory_run(case_of("random walk"), 100, 50, 3, &b, &err), 0);
	assert_int_equal(theory_run(case_of("random walk"), 100, 50, 4, &c, &err), 0);
	assert_true(a.mean == b.mean && a.error == b.error && a.least == b.least);
	assert_true(a.mean != c.mean);
}

static int attempt(void *context, struct err *err)
{
	struct theory_result r;

	(void)context;
	return theory_run(&theory_cases[0], 100, 2, 1, &r, err);
}

static void refusals(void **state)
{
	struct theory_result r;
	struct err err = {0};

	(void)state;
	assert_int_equal(theory_run(&theory_cases[0], 99, 10, 1, &r, &err), ERR_INPUT);
	assert_says(err, "at least 100 runs");
	assert_true(each_allocation_fails(attempt, NULL) >= 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_step),
		cmocka_unit_test(lag),
		cmocka_unit_test(noise_term),
		cmocka_unit_test(tight),
		cmocka_unit_test(condition),
		cmocka_unit_test(every_case),
		cmocka_unit_test(seeds_repeat),
		cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
