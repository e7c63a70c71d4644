/* Words are numbered as they come, and ranked in the end. */
#include "../base/check.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/words/vocabulary.h"

static void words_have_numbers_and_ranks(void **state)
{
	struct vocabulary words = {0};
	struct err err = {0};
	uint32_t *ranks;
	char word[20];

	for (int turn = 0; turn < 2; turn++)
		for (int i = 0; i < 1000; i++) {
			snprintf(word, sizeof(word), "%d", i * 7 % 1000);
			assert_int_equal(vocabulary_number(&words, word, strlen(word), &err), i);
		}
	assert_int_equal(vocabulary_find(&words, "1000", 4), -1);
	assert_int_equal(vocabulary_find(&words, "7x", 1), 1);
	assert_int_equal(vocabulary_number(&words, "a\0b", 3, &err), ERR_FORMAT);
	assert_int_equal(vocabulary_sort(&words, &ranks, &err), 0);
	assert_string_equal(name_list_at(&words.names, 0), "0");
	assert_string_equal(name_list_at(&words.names, 1), "1");
	assert_string_equal(name_list_at(&words.names, 2), "10");
	assert_string_equal(name_list_at(&words.names, ranks[1]), "7");
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(atoi(name_list_at(&words.names, ranks[i])), i * 7 % 1000);
	mem_free(ranks);
	vocabulary_release(&words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_have_numbers_and_ranks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
