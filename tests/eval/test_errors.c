/* Errors of numbers, worked out by hand, and worths in a matrix. */
#include "check.h"
#include "eval/errors.h"
#include "eval/matrix.h"

/* What was said of a sample, and its label. */
struct said {
	float value, low, high, label;
};

/* Of `known` labels; asked about when there were `then`, if that is not -1. */
static void take_late(
	struct errors *errors, const struct said *said, int n, int64_t known, int64_t then)
{
	union target guesses[8 * TARGET_GUESS], labels[8];

	for (int i = 0; i < n; i++) {
		const float answer[] = {said[i].value, said[i].low, said[i].high};

		target_number.guess(answer, NUMBER_OUTPUTS, 1, guesses + (size_t)i * TARGET_GUESS);
		if (then >= 0)
			target_mark_late(guesses + (size_t)i * TARGET_GUESS, 1, then);
		labels[i].number = said[i].label;
	}
	errors_step(errors, guesses, labels, n, known);
}

static void take(struct errors *errors, const struct said *said, int n)
{
	take_late(errors, said, n, 0, -1);
}

static struct errors *new_errors(int width)
{
	struct errors *errors;
	struct err err;

	assert_ok(errors_new(&errors, width, &err), err);
	return errors;
}

static void sums_by_hand(void **state)
{
	struct errors *errors = new_errors(1);
	struct errors_sum sum, recent;

	(void)state;
	errors_all(errors, &sum);
	assert_true(sum.count == 0 && isnan(sum.explained) && isnan(sum.mae));
	/* Of the first step nobody could know anything. */
	take(errors, (const struct said[]){{0, 0, 0, 1e9F}}, 1);
	errors_all(errors, &sum);
	assert_true(sum.count == 0);
	errors_free(errors);

	errors = new_errors(1);
	take(errors, (const struct said[]){{0, 0, 0, 10}, {0, 0, 0, 14}}, 2);
	/* Last 14, mean 12; both samples of a step see the same. */
	take(errors, (const struct said[]){{15, 13, 16, 16}, {15, 13, 16, 20}}, 2);
	errors_all(errors, &sum);
	assert_int_equal(sum.count, 2);
	assert_float_equal(sum.mae, (1 + 5) / 2.0, 1e-12);
	assert_float_equal(sum.rmse, sqrt((1 + 25) / 2.0), 1e-12);
	assert_float_equal(sum.last, (2 + 6) / 2.0, 1e-12);
	assert_float_equal(sum.mean, (4 + 8) / 2.0, 1e-12);
	assert_float_equal(sum.inside, 0.5, 1e-12);
	assert_float_equal(sum.width, 3, 1e-12);
	/* The variance of 16 and 20 is 4, the mean square 13: below -1. */
	assert_true(sum.explained == -1);
	take(errors, (const struct said[]){{0, 0, 1, 0}, {0, 0, 1, 40}, {40, 39, 41, 40}}, 3);
	errors_all(errors, &sum);
	assert_float_equal(sum.explained, 1 - (1 + 25 + 0 + 1600 + 0) / 5.0 / 232.96, 1e-9);
	errors_recent(errors, &recent);
	assert_true(recent.mae == sum.mae && recent.inside == sum.inside);
	errors_free(errors);
	errors_free(NULL);
}

/* Of a label 0. */
static bool is_unusual(struct errors *errors, float error)
{
	return errors_unusual(
		errors, &(const union target){.number = error}, &(const union target){.number = 0});
}

/* Errors far larger than usual, and how fast the usual follows. */
static void large_errors_are_unusual(void **state)
{
	struct errors *errors = new_errors(1);
	int unusual = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		take(errors, &(struct said){1, 0, 2, 2}, 1);
		unusual += is_unusual(errors, i % 2 ? 1 : -1);
	}
	assert_int_equal(unusual, 0);
	assert_true(is_unusual(errors, 1e30F));
	assert_true(is_unusual(errors, -3));
	assert_false(is_unusual(errors, 1.5F));
	errors_free(errors);
}

static void visit(void *object, struct state *state)
{
	errors_state(object, state);
}

static void a_resumed_one_goes_on(void **state)
{
	struct errors *straight = new_errors(1), *resumed = new_errors(1);
	struct errors_sum a, b;
	struct err err;

	(void)state;
	for (int i = 0; i < 2500; i++) {
		const struct said said = {
			(float)(i % 7), (float)(i % 7) - 2, (float)(i % 7) + 2, (float)(i % 11)};

		if (i == 1234) {
			assert_ok(state_save(in_folder("s"), visit, straight, &err), err);
			assert_ok(state_load(in_folder("s"), visit, resumed, &err), err);
		}
		take(straight, &said, 1);
		if (i >= 1234)
			take(resumed, &said, 1);
	}
	errors_all(straight, &a);
	errors_all(resumed, &b);
	assert_memory_equal(&a, &b, sizeof(a));
	errors_recent(straight, &a);
	errors_recent(resumed, &b);
	assert_memory_equal(&a, &b, sizeof(a));
	errors_free(straight);
	errors_free(resumed);
}

static void worths_are_averaged(void **state)
{
	struct matrix *matrix;
	struct err err;

	(void)state;
	assert_ok(matrix_new(&matrix, 2, 3, &err), err);
	matrix_take_worths(matrix);
	for (int i = 0; i < 4; i++)
		matrix_count_sample(matrix, i / 2);
	assert_ok(matrix_begin(matrix, 0.5, &err), err);
	matrix_worth(matrix, MATRIX_INFERENCE, 0, 1);
	matrix_worth(matrix, MATRIX_INFERENCE, 0, -0.5);
	matrix_worth(matrix, MATRIX_INFERENCE, 1, -400);
	matrix_worth(matrix, MATRIX_INFERENCE, 1, 1);
	assert_float_equal(matrix_retention(matrix, 0, MATRIX_INFERENCE, MATRIX_TOP1), 0.25, 1e-9);
	assert_true(matrix_cell(matrix, 0, 1, MATRIX_INFERENCE, MATRIX_TOP1) == -1);
	assert_true(isnan(matrix_retention(matrix, 0, MATRIX_INFERENCE, MATRIX_TOP5)));
	assert_true(isnan(matrix_retention(matrix, 0, MATRIX_PLAIN, MATRIX_TOP1)));
	matrix_free(matrix);
}

/* The baselines are what was known when the sample was asked about. */
static void late_labels_by_hand(void **state)
{
	struct errors *errors = new_errors(1);
	struct errors_sum sum;

	(void)state;
	take_late(errors, &(struct said){0, 0, 0, 10}, 1, 0, 0);
	/* Asked before the first label was known. */
	take_late(errors, &(struct said){11, 10, 12, 14}, 1, 1, 0);
	errors_all(errors, &sum);
	assert_int_equal(sum.count, 0);
	/* 10 was known; then 10 and 14; then all of 10, 14, 30. */
	take_late(errors, &(struct said){11, 10, 12, 30}, 1, 2, 1);
	errors_all(errors, &sum);
	assert_float_equal(sum.last, 20, 1e-12);
	assert_float_equal(sum.mean, 20, 1e-12);
	take_late(errors, &(struct said){11, 10, 12, 20}, 1, 3, 2);
	take_late(errors, &(struct said){11, 10, 12, 50}, 1, 4, 3);
	errors_all(errors, &sum);
	assert_int_equal(sum.count, 3);
	assert_float_equal(sum.last, (20 + 6 + 20) / 3.0, 1e-12);
	assert_float_equal(sum.mean, (20 + 8 + 32) / 3.0, 1e-12);
	errors_free(errors);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_by_hand),
		cmocka_unit_test(late_labels_by_hand),
		cmocka_unit_test(large_errors_are_unusual),
		folder_test(a_resumed_one_goes_on),
		cmocka_unit_test(worths_are_averaged),
	};

	return cmocka_run_group_tests_name("errors", tests, NULL, NULL);
}
