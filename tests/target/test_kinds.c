/* The rows of target_types: what each kind of target says about the same questions. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "target/target.h"

static void rows_are_where_their_kind_says(void **state)
{
	(void)state;
	for (int kind = 0; kind < TARGET_KINDS; kind++) {
		assert_int_equal(target_types[kind]->kind, kind);
		assert_int_equal(target_kind(target_types[kind]->name), kind);
	}
}

static void labels_in_a_sentence(void **state)
{
	static const union target class = {.class = 12},
				  numbers[] = {{.number = 0.1F}, {.number = -3}, {.number = 1e9F},
					  {.number = 4}};
	static const char *const shown[] = {
		"", "0.1", "[0.1, -3]", "[0.1, -3, 1e+09]", "[0.1, -3, 1e+09, ...]"};
	char out[TARGET_SHOWN];

	(void)state;
	target_class.show(&class, 1, out);
	assert_string_equal(out, "12");
	for (int width = 1; width <= 4; width++) {
		target_number.show(numbers, width, out);
		assert_string_equal(out, shown[width]);
	}
}

static void strata(void **state)
{
	const union target class = {.class = 7}, number = {.number = 7};

	(void)state;
	assert_int_equal(target_class.stratum(&class), 7);
	assert_int_equal(target_number.stratum(&number), 0);
}

static void what_is_kept_beside_a_guess(void **state)
{
	static const float logits[] = {0, 2, 1}, answer[] = {5, 3, 8};
	union target guess[TARGET_GUESS], bare[TARGET_GUESS];
	double kept;

	(void)state;
	target_class.guess(logits, 3, 1, guess);
	kept = target_class.keep(logits, 3, guess);
	assert_true(fabs(kept - 1 / (1 + exp(-1) + exp(-2))) < 1e-6);
	assert_true(target_class.recall(guess, kept) == kept);
	assert_true(isnan(target_class.keep(logits, 0, guess)));

	target_number.guess(answer, 3, 1, guess);
	kept = target_number.keep(answer, 3, guess);
	guess[NUMBER_LOW] = guess[NUMBER_HIGH] = TARGET_NONE;
	assert_true(isnan(target_number.recall(guess, kept)));
	assert_true(guess[NUMBER_LOW].number == 3 && guess[NUMBER_HIGH].number == 8);

	target_number.guess(answer, 0, 1, bare);
	target_number.recall(bare, kept);
	assert_int_equal(bare[NUMBER_LOW].class, TARGET_NONE.class);
	assert_int_equal(bare[NUMBER_HIGH].class, TARGET_NONE.class);
}

static void losses_of_guesses(void **state)
{
	const union target a = {.class = 1}, b = {.class = 2}, none = TARGET_NONE;
	const union target two = {.number = 2}, five = {.number = 5};

	(void)state;
	assert_true(target_class.loss(&a, &a) == 0 && target_class.loss(&a, &b) == 1);
	assert_true(target_class.larger(1, 0) == 1 && target_class.larger(0, 1) == -1);
	assert_true(target_number.loss(&two, &five) == 3);
	assert_true(isnan(target_number.loss(&none, &five)));
	assert_true(target_number.larger(3, 1) == 0.5 && target_number.larger(1, 3) == -0.5);
	assert_true(target_number.larger(0, 0) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_where_their_kind_says),
		cmocka_unit_test(labels_in_a_sentence),
		cmocka_unit_test(strata),
		cmocka_unit_test(what_is_kept_beside_a_guess),
		cmocka_unit_test(losses_of_guesses),
	};

	return cmocka_run_group_tests_name("kinds", tests, NULL, NULL);
}
