/* What words of a config mean, also those of no table. */
#include "../base/check.h"

#include "config/traits.h"

static void words_mean_what_their_tables_say(void **state)
{
	static const char *const convolve[] = {"resnet18", "resnet8-cifar", "cnn:16,32"},
				 *const others[] = {"linear", "mlp:64", "cnn", "resnet19", ""};

	for (size_t i = 0; i < sizeof(convolve) / sizeof(*convolve); i++)
		assert_true(traits_convolves(convolve[i]));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_false(traits_convolves(others[i]));
	assert_true(traits_live("stdin"));
	assert_false(traits_live("table:stdin"));
	assert_true(traits_gap("malr"));
	assert_false(traits_gap("rwp"));
	assert_false(traits_gap("of another version"));
}

static void presets_are_for_a_source(void **state)
{
	assert_string_equal(traits_source("std"), "drift");
	assert_string_equal(traits_source("photos-std"), "photos");
	assert_null(traits_source("photos-of-mine"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_mean_what_their_tables_say),
		cmocka_unit_test(presets_are_for_a_source),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
