#include "check.h"

#include "base/log.h"

struct heard {
	int count;
	enum log_level level;
	char message[2000];
};

static void hear(void *context, enum log_level level, const char *message)
{
	struct heard *heard = context;

	heard->count++;
	heard->level = level;
	strcpy(heard->message, message);
}

static void hands_messages_over(void **state)
{
	struct heard heard = {0};
	struct log log = {hear, &heard, LOG_NOTE};

	(void)state;
	log_write(&log, LOG_WARN, "%d of %s", 3, "four");
	assert_int_equal(heard.count, 1);
	assert_int_equal(heard.level, LOG_WARN);
	assert_string_equal(heard.message, "3 of four");
	log_write(&log, LOG_NOTE, "kept");
	log_write(&log, LOG_DETAIL, "dropped");
	assert_int_equal(heard.count, 2);
	assert_string_equal(heard.message, "kept");
}

static void nobody_listens(void **state)
{
	struct log mute = {0};

	(void)state;
	log_write(NULL, LOG_ERROR, "%s", "into the void");
	log_write(&mute, LOG_ERROR, "%s", "into the void");
}

static void long_messages_are_cut(void **state)
{
	struct heard heard = {0};
	struct log log = {hear, &heard, LOG_DETAIL};
	char words[1500];

	(void)state;
	memset(words, 'x', sizeof(words));
	words[1023] = '\0';
	log_write(&log, LOG_ERROR, "%s", words);
	assert_string_equal(heard.message, words);
	words[1023] = 'x';
	words[1499] = '\0';
	log_write(&log, LOG_ERROR, "%s", words);
	assert_int_equal(strlen(heard.message), 1023);
	assert_string_equal(heard.message + 1018, "xx...");
}

static void levels_have_names(void **state)
{
	(void)state;
	for (int64_t i = 0; i <= 1000; i++)
		assert_int_equal(log_worth(i), i == 1 || i == 10 || i == 100 || i == 1000);
	assert_string_equal(log_level_name(LOG_ERROR), "error");
	assert_string_equal(log_level_name(LOG_WARN), "warning");
	assert_string_equal(log_level_name(LOG_DETAIL), "detail");
	assert_string_equal(log_level_name((enum log_level)99), "message");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hands_messages_over),
		cmocka_unit_test(nobody_listens),
		cmocka_unit_test(long_messages_are_cut),
		cmocka_unit_test(levels_have_names),
	};

	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
