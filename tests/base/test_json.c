/* What jvalue_read takes and refuses, and that questions to the wrong kind of value have answers. */
#include "check.h"

#include <math.h>

#include "base/json.h"
#include "base/json_write.h"

static struct jvalue *read_words(const char *words)
{
	struct jvalue *value;
	struct err err = {0};

	if (jvalue_read(&value, words, strlen(words), "test", &err))
		fail_msg("%s: %s", words, err.message);
	return value;
}

static void values_are_found(void **state)
{
	struct jvalue *v = read_words(
		"{\"id\": \"a\\u00e9\", \"list\": [1, 2.5, -3], \"yes\": true, \"none\": null}");
	const struct jvalue *list = jvalue_find(v, "list");
	double number = 0;
	int64_t whole = 0;
	bool yes = false;

	assert_int_equal(jvalue_kind(v), JVALUE_TABLE);
	assert_int_equal(jvalue_count(v), 4);
	assert_string_equal(jvalue_text(jvalue_find(v, "id")), "aé");
	assert_int_equal(jvalue_count(list), 3);
	assert_true(jvalue_number(jvalue_at(list, 1), &number) && number == 2.5);
	assert_true(jvalue_number(jvalue_at(list, 2), &number) && number == -3);
	assert_true(jvalue_whole(jvalue_at(list, 0), &whole) && whole == 1);
	assert_false(jvalue_whole(jvalue_at(list, 1), &whole));
	assert_true(jvalue_truth(jvalue_find(v, "yes"), &yes) && yes);
	assert_int_equal(jvalue_kind(jvalue_find(v, "none")), JVALUE_NONE);
	jvalue_free(v);
}

static void wrong_kinds_have_answers(void **state)
{
	struct jvalue *v = read_words("[\"x\"]");
	const struct jvalue *missing = jvalue_find(v, "x"), *text = jvalue_at(v, 0), *value;
	const char *key;
	double number = 7;
	void *at = NULL;

	assert_null(missing);
	assert_null(jvalue_at(v, 1));
	assert_null(jvalue_at(missing, 0));
	assert_null(jvalue_text(missing));
	assert_int_equal(jvalue_kind(missing), JVALUE_NOTHING);
	assert_int_equal(jvalue_count(missing), 0);
	assert_int_equal(jvalue_count(text), 0);
	assert_false(jvalue_number(text, &number));
	assert_false(jvalue_number(missing, &number));
	assert_true(number == 7);
	assert_false(jvalue_next(v, &at, &key, &value));
	jvalue_free(v);
	jvalue_free(NULL);
}

static void bad_documents_are_refused(void **state)
{
	static const struct {
		const char *words, *why;
	} rows[] = {{"", "not valid JSON"}, {"{", "not valid JSON"}, {"{}{}", "end of file"},
		{"{\"a\":1,\"a\":2}", "duplicate object key"}, {"\"\xff\"", "not valid JSON"},
		{"\"\\u0000\"", "a text holds \\u0000"}, {"[1e999]", "not valid JSON"},
		{"[\x01]", "not valid JSON"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct jvalue *value;
		struct err err = {0};

		assert_int_equal(jvalue_read(&value, rows[i].words, strlen(rows[i].words),
					 "file: line 3", &err),
			ERR_FORMAT);
		if (strncmp(err.message, "file: line 3", 12) || !strstr(err.message, rows[i].why))
			fail_msg("%s: %s", rows[i].words, err.message);
	}
}

static void strings_come_back(void **state)
{
	static const char words[] = "a\"b\\c\n\x01</é>";

	for (int script = 0; script < 2; script++) {
		struct text text = {0};
		struct jwriter writer = {.out = &text, .script = script};
		struct jvalue *value;

		jwriter_text(&writer, NULL, words);
		assert_int_equal(strchr(text.data, '<') == NULL, script);
		value = read_words(text.data);
		assert_string_equal(jvalue_text(value), words);
		jvalue_free(value);
		text_release(&text);
	}
}

static void values_are_written(void **state)
{
	struct text text = {0};
	struct jwriter writer = {.out = &text};

	jwriter_table(&writer, NULL);
	jwriter_text(&writer, "text", "\b\f\n\r\t\x01\x7f/\"\\é");
	jwriter_text(&writer, "none", NULL);
	jwriter_text(&writer, "latin \xe9", "\xe9t\xe9 é");
	jwriter_number(&writer, "number", 0.1);
	jwriter_number(&writer, "nan", NAN);
	jwriter_number(&writer, "inf", -INFINITY);
	jwriter_whole(&writer, "whole", INT64_MIN);
	jwriter_truth(&writer, "truth", true);
	jwriter_raw(&writer, "raw", "[1]");
	jwriter_end(&writer);
	assert_string_equal(text.data,
		"{\"text\": \"\\b\\f\\n\\r\\t\\u0001\x7f/\\\"\\\\é\", \"none\": null, "
		"\"latin ?\": \"?t? ??\", \"number\": 0.1, \"nan\": null, \"inf\": null, "
		"\"whole\": -9223372036854775808, \"truth\": true, \"raw\": [1]}");
	text_release(&text);
}

static void write_nested(struct jwriter *writer)
{
	jwriter_table(writer, NULL);
	jwriter_lines(writer);
	jwriter_list(writer, "empty");
	jwriter_end(writer);
	jwriter_list(writer, "list");
	jwriter_whole(writer, NULL, 1);
	jwriter_table(writer, NULL);
	jwriter_truth(writer, "b", false);
	jwriter_end(writer);
	jwriter_whole(writer, NULL, 2);
	jwriter_end(writer);
	jwriter_table(writer, "lines");
	jwriter_lines(writer);
	jwriter_whole(writer, "c", 3);
	jwriter_whole(writer, "d", 4);
	jwriter_end(writer);
	jwriter_list(writer, "no lines");
	jwriter_lines(writer);
	jwriter_end(writer);
	jwriter_end(writer);
}

static void layouts_are_followed(void **state)
{
	struct text text = {0};
	struct jwriter wide = {.out = &text}, dense = {.out = &text, .dense = true};

	write_nested(&wide);
	assert_string_equal(text.data, "{\n  \"empty\": [],\n  \"list\": [1, {\"b\": false}, 2],\n"
				       "  \"lines\": {\n    \"c\": 3,\n    \"d\": 4\n  },\n"
				       "  \"no lines\": []\n}");
	text_release(&text);
	write_nested(&dense);
	assert_string_equal(text.data, "{\n\"empty\":[],\n\"list\":[1,{\"b\":false},2],\n"
				       "\"lines\":{\n\"c\":3,\n\"d\":4\n},\n\"no lines\":[]\n}");
	text_release(&text);
}

static void values_are_made(void **state)
{
	struct jvalue *table = jvalue_table(), *other;
	struct err err = {0};
	double number = 0;

	assert_ok(jvalue_read(&other, "[true]", 6, "a list", &err), err);
	assert_ok(jvalue_put(table, "a", jvalue_of_number(0.5), &err), err);
	assert_ok(jvalue_put(table, "b", jvalue_of_text("words", 4), &err), err);
	assert_ok(jvalue_put(table, "c", jvalue_share(jvalue_at(other, 0)), &err), err);
	assert_ok(jvalue_put(table, "d", jvalue_of_number(1.0 / 0.0), &err), err);
	assert_int_equal(jvalue_put(table, "a", jvalue_of_number(1), &err), ERR_INPUT);
	assert_says(err, "a: is there twice");
	jvalue_free(other);
	assert_true(jvalue_number(jvalue_find(table, "a"), &number) && number == 0.5);
	assert_string_equal(jvalue_text(jvalue_find(table, "b")), "word");
	assert_int_equal(jvalue_kind(jvalue_find(table, "c")), JVALUE_TRUTH);
	assert_int_equal(jvalue_kind(jvalue_find(table, "d")), JVALUE_NONE);
	assert_null(jvalue_of_text("a\0b", 3));
	assert_null(jvalue_of_text("\xff", 1));
	jvalue_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_made),
		cmocka_unit_test(values_are_found),
		cmocka_unit_test(wrong_kinds_have_answers),
		cmocka_unit_test(bad_documents_are_refused),
		cmocka_unit_test(strings_come_back),
		cmocka_unit_test(values_are_written),
		cmocka_unit_test(layouts_are_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
