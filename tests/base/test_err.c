#include "check.h"

static void fills_code_and_message(void **state)
{
	struct err err = {0};

	(void)state;
	assert_int_equal(err_set(&err, ERR_INPUT, "%s = %d", "run.seed", -3), ERR_INPUT);
	assert_int_equal(err.code, ERR_INPUT);
	assert_string_equal(err.message, "run.seed = -3");
}

static void works_without_err(void **state)
{
	(void)state;
	assert_int_equal(err_set(NULL, ERR_FILE, "%d", 1), ERR_FILE);
	assert_int_equal(err_memory(NULL, "x", 1), ERR_MEMORY);
}

static void wraps_its_own_message(void **state)
{
	struct err err = {0};

	(void)state;
	err_set(&err, ERR_FORMAT, "bad header");
	err_set(&err, err.code, "%s: %s", "model.bin", err.message);
	assert_string_equal(err.message, "model.bin: bad header");
}

static void cuts_what_is_too_long(void **state)
{
	struct err err = {0};
	char words[2000];

	(void)state;
	memset(words, 'x', sizeof(words) - 1);
	words[sizeof(words) - 1] = '\0';
	err_set(&err, ERR_INPUT, "%s", words);
	assert_int_equal(strlen(err.message), sizeof(err.message) - 1);
}

static void memory_sentence(void **state)
{
	struct err err = {0};

	(void)state;
	assert_int_equal(err_memory(&err, "the pool", 1ull << 40), ERR_MEMORY);
	assert_string_equal(err.message, "out of memory: the pool needs 1099511627776 bytes");
}

static void codes_have_different_names(void **state)
{
	(void)state;
	for (int a = ERR_STATE; a <= 0; a++) {
		assert_string_not_equal(err_name(a), "unknown error");
		for (int b = ERR_STATE; b < a; b++)
			assert_string_not_equal(err_name(a), err_name(b));
	}
	assert_string_equal(err_name(ERR_MEMORY), "out of memory");
	assert_string_equal(err_name(17), "unknown error");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fills_code_and_message),
		cmocka_unit_test(works_without_err),
		cmocka_unit_test(wraps_its_own_message),
		cmocka_unit_test(cuts_what_is_too_long),
		cmocka_unit_test(memory_sentence),
		cmocka_unit_test(codes_have_different_names),
	};

	return cmocka_run_group_tests_name("err", tests, NULL, NULL);
}
