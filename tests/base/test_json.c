/* What json_read takes and refuses, and that questions to the wrong kind of value have answers. */
#include "check.h"

#include "base/json.h"

static struct json_value *read_words(const char *words)
{
	struct json_value *value;
	struct err err = {0};

	if (json_read(&value, words, strlen(words), "test", &err))
		fail_msg("%s: %s", words, err.message);
	return value;
}

static void values_are_found(void **state)
{
	struct json_value *v = read_words(
		"{\"id\": \"a\\u00e9\", \"list\": [1, 2.5, -3], \"yes\": true, \"none\": null}");
	const struct json_value *list = json_find(v, "list");
	double number = 0;
	int64_t whole = 0;
	bool yes = false;

	assert_int_equal(json_kind(v), JSON_TABLE);
	assert_int_equal(json_count(v), 4);
	assert_string_equal(json_text(json_find(v, "id")), "aé");
	assert_int_equal(json_count(list), 3);
	assert_true(json_number(json_at(list, 1), &number) && number == 2.5);
	assert_true(json_number(json_at(list, 2), &number) && number == -3);
	assert_true(json_whole(json_at(list, 0), &whole) && whole == 1);
	assert_false(json_whole(json_at(list, 1), &whole));
	assert_true(json_truth(json_find(v, "yes"), &yes) && yes);
	assert_int_equal(json_kind(json_find(v, "none")), JSON_NONE);
	json_free(v);
}

static void wrong_kinds_have_answers(void **state)
{
	struct json_value *v = read_words("[\"x\"]");
	const struct json_value *missing = json_find(v, "x"), *text = json_at(v, 0), *value;
	const char *key;
	double number = 7;
	void *at = NULL;

	assert_null(missing);
	assert_null(json_at(v, 1));
	assert_null(json_at(missing, 0));
	assert_null(json_text(missing));
	assert_int_equal(json_kind(missing), JSON_NOTHING);
	assert_int_equal(json_count(missing), 0);
	assert_int_equal(json_count(text), 0);
	assert_false(json_number(text, &number));
	assert_false(json_number(missing, &number));
	assert_true(number == 7);
	assert_false(json_next(v, &at, &key, &value));
	json_free(v);
	json_free(NULL);
}

static void bad_documents_are_refused(void **state)
{
	static const struct {
		const char *words, *why;
	} rows[] = {{"", "not valid JSON"}, {"{", "not valid JSON"}, {"{}{}", "end of file"},
		{"{\"a\":1,\"a\":2}", "duplicate object key"}, {"\"\xff\"", "not valid JSON"},
		{"\"\\u0000\"", "not valid JSON"}, {"[1e999]", "not valid JSON"},
		{"[\x01]", "not valid JSON"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct json_value *value;
		struct err err = {0};

		assert_int_equal(json_read(&value, rows[i].words, strlen(rows[i].words),
					 "file: line 3", &err),
			ERR_FORMAT);
		if (strncmp(err.message, "file: line 3 is", 15) ||
			!strstr(err.message, rows[i].why))
			fail_msg("%s: %s", rows[i].words, err.message);
	}
}

static void strings_come_back(void **state)
{
	static const char words[] = "a\"b\\c\n\x01</é>";
	struct text text = {0};
	struct json_value *value;

	assert_true(json_quote(&text, words));
	value = read_words(text.data);
	assert_string_equal(json_text(value), words);
	assert_false(json_quote(&text, "\xff"));
	json_free(value);
	text_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_found),
		cmocka_unit_test(wrong_kinds_have_answers),
		cmocka_unit_test(bad_documents_are_refused),
		cmocka_unit_test(strings_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
