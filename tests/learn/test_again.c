/* Answers that only some rows have: of rows that come again, and of outliers that an input foretells. */
#include <math.h>

#include "../base/check.h"
#include "base/rng.h"
#include "learn/numbers/gate.h"
#include "learn/numbers/numbers_impl.h"
#include "nn/own/kernels.h"

static double normal(uint64_t n)
{
	return (double)rng_normal((struct rng){12, RNG_TEST}, n);
}

static void again_by_hand(void **state)
{
	struct again_said far = {.distance = INFINITY},
			  said = {.distance = 2, .value = 10, .repeats = true};
	struct again again;

	again_init(&again);
	again_learn(&again, &far, 1, 0, 1, 1);
	assert_float_equal(again.usual, 0, 0);
	again_ask(&again, 8, &said);
	assert_float_equal(said.answer, 8, 0); /* not before it has been better */
	again_learn(&again, &said, 10, 8, 1, 1);
	assert_float_equal(again.usual, 2, 0);
	assert_float_equal(again.record, 2, 0);
	assert_float_equal(again_near(&again), 0.02, 1e-6);
	again_ask(&again, 8, &said);
	assert_float_equal(said.answer, 8 + 2 * tanh(1), 1e-6);
	said.distance = 4;
	again_learn(&again, &said, 8, 8, 1, 1); /* it would have been 2 off */
	assert_float_equal(again.usual, 3, 0);
	assert_float_equal(again.record, 0.98 * 2 - 2, 1e-6);
	again_ask(&again, 8, &said);
	assert_float_equal(said.answer, 8, 0);
	said.value = 1000;
	again_learn(&again, &said, 1000, 8, 1, 0.5); /* half a row, and no more than 10 b better */
	assert_float_equal(again.record, 0.99 * -0.04 + 5, 1e-6);
	again_learn(&again, &said, 1000, 8, 0, 1); /* without an error to measure by */
	assert_float_equal(again.record, 0.99 * -0.04 + 5, 1e-6);
	said.repeats = false;
	again_ask(&again, 8, &said);
	assert_float_equal(said.answer, 8, 0);
}

/* Column 0 is mostly 0; column 1 is never the same. */
static void foretell(struct foretold *foretold, struct values *values, float sign, double target)
{
	const float raw[] = {sign, (float)values->seen};

	foretold_learn(foretold, values, raw, target, target > 100);
	values_learn(values, raw, 0, 0);
}

static void foretold_by_hand(void **state)
{
	static const float no[] = {0, -1}, yes[] = {1, -1};
	struct foretold foretold;
	struct values values;
	struct err err = {0};

	foretold_init(&foretold);
	assert_ok(values_init(&values, 2, &err), err);
	for (int t = 0; t < VALUES_MOST + 1; t++)
		foretell(&foretold, &values, 0, t % 9);
	assert_false(foretold_ask(&foretold, yes).speaks);
	foretell(
		&foretold, &values, 0, 900); /* 0 came without, too; column 1 has too many values */
	assert_int_equal(foretold.made, 0);
	foretell(&foretold, &values, 1, 400);
	assert_int_equal(foretold.made, 1);
	assert_int_equal(foretold.column[0], 0);
	assert_true(foretold_ask(&foretold, yes).speaks);
	assert_float_equal(foretold_ask(&foretold, yes).value, 400, 0);
	assert_false(foretold_ask(&foretold, no).speaks);
	assert_false(foretold_ask(&foretold, NULL).speaks);
	foretell(&foretold, &values, 1, 500);
	assert_int_equal(foretold.made, 1);
	assert_float_equal(foretold_ask(&foretold, yes).value, 400 + 100 / 1.9, 1e-4);
	foretell(&foretold, &values, 1, 5);
	assert_float_equal(foretold.visits[0], 0.9 * 1.9 + 1, 1e-6);
	assert_float_equal(foretold.outliers[0], 0.9 * 1.9, 1e-6);
	assert_float_equal(foretold_ask(&foretold, yes).value, 400 + 100 / 1.9, 1e-4);
	foretell(&foretold, &values, 1, 5); /* now fewer than half were outliers */
	assert_false(foretold_ask(&foretold, yes).speaks);
	values_release(&values);
}

enum { FLOATS = 3 };

/* Asks about a row and learns it; returns the answer. */
static double step(struct numbers *numbers, const float inputs[FLOATS], double label)
{
	const float slow = 0;
	const union target target = {.number = (float)label};
	const struct numbers_samples samples = {inputs, inputs, NULL, &slow, 1};
	float answers[NUMBER_OUTPUTS];

	numbers_ask(numbers, &samples, answers);
	numbers_learn(numbers, &samples, &target);
	return (double)answers[NUMBER_VALUE];
}

static struct numbers *begin(void)
{
	const struct numbers_config config = {FLOATS, 0, 7, 0.9, &kernels_at(0)->ops};
	struct numbers *numbers;
	struct err err = {0};

	assert_ok(numbers_new(&numbers, &config, &err), err);
	return numbers;
}

/* Every row comes twice: the second time nearly all is known, which the first time is noise. */
static void rows_that_come_again_are_remembered(void **state)
{
	struct numbers *numbers = begin();
	double first = 0, second = 0;

	for (int t = 0; t < 600; t++) {
		const uint64_t row = (uint64_t)(t / 2) * 4;
		const float inputs[FLOATS] = {
			(float)normal(row), (float)normal(row + 1), (float)normal(row + 2)};
		const double label = (double)inputs[0] + normal(row + 3);
		const double error = fabs(step(numbers, inputs, label) - label);

		if (t >= 200)
			*(t % 2 ? &second : &first) += error;
	}
	assert_true(second < 0.1 * first);
	numbers_free(numbers);
}

/* The answer to the last of ten outliers of 400; with `sign`, input 2 is 1 just then. */
static double tenth_outlier(bool sign)
{
	struct numbers *numbers = begin();
	double answer = 0;

	for (int t = 0; t < 700; t++) {
		const bool out = t % 70 == 69;
		const uint64_t row = (uint64_t)t * 2;
		const float inputs[FLOATS] = {(float)normal(row), 0, out && sign};

		answer = step(numbers, inputs, 5 + normal(row + 1) + 400 * out);
	}
	numbers_free(numbers);
	return answer;
}

static void outliers_are_foretold(void **state)
{
	assert_true(fabs(tenth_outlier(true) - 405) < 5);
	assert_true(fabs(tenth_outlier(false) - 5) < 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(again_by_hand),
		cmocka_unit_test(foretold_by_hand),
		cmocka_unit_test(rows_that_come_again_are_remembered),
		cmocka_unit_test(outliers_are_foretold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
