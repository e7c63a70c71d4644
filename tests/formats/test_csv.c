/* Rows of CSV files, numbers and moments, each against what was worked out by hand. */
#include "../base/check.h"

#include <stdio.h>
#include <stdlib.h>

#include "formats/csv.h"
#include "formats/moment.h"
#include "records/words.h"

static void rows(void **state)
{
	static const struct {
		const char *bytes;
		int n;
		const char *fields[4];
		size_t used;
	} rows[] = {
		{"a,b,c\nd", 3, {"a", "b", "c"}, 6},
		{"a,b\r\nd", 2, {"a", "b"}, 5},
		{"a,b\r", 2, {"a", "b"}, 4},
		{"a", 1, {"a"}, 1},
		{"\n", 1, {""}, 1},
		{",\n", 2, {"", ""}, 2},
		{"a,", 2, {"a", ""}, 2},
		{"\"a,b\",c\n", 2, {"a,b", "c"}, 8},
		{"\"a\nb\",c\n", 2, {"a\nb", "c"}, 8},
		{"\"a\"\"b\",\"\"\r\n", 2, {"a\"b", ""}, 11},
		{"\"\"\"\"", 1, {"\""}, 4},
		{"x\"y,z", 2, {"x\"y", "z"}, 5},
		{"\"x\"\r\ny", 1, {"x"}, 5},
		{"1,2,3,4,5,6", 6, {"1", "2", "3", "4"}, 11},
		{"\"abc", CSV_OPEN, {0}, 0},
		{"a,\"b\"\"", CSV_OPEN, {0}, 0},
		{"\"a\"b,c", CSV_AFTER, {0}, 0},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct csv_field fields[4];
		char text[20];
		size_t used = 0;
		const int n = csv_row(rows[i].bytes, strlen(rows[i].bytes), ',', fields, 4, &used);

		assert_int_equal(n, rows[i].n);
		if (n < 0)
			continue;
		assert_int_equal(used, rows[i].used);
		for (int k = 0; k < n && k < 4; k++) {
			assert_true(csv_text(fields + k, text, sizeof(text)));
			assert_string_equal(text, rows[i].fields[k]);
		}
	}
}

static void small_things(void **state)
{
	struct csv_field field = {" ab\t", 4, false};
	char out[4];

	assert_int_equal(csv_trim(field).size, 2);
	field = (struct csv_field){"abcd", 4, false};
	assert_false(csv_text(&field, out, 4));
	field.size = 3;
	assert_true(csv_text(&field, out, 4));
	field.size = 0;
	assert_true(csv_text(&field, out, 1));
	assert_int_equal(csv_separator("a;b,c\n", 6), ',');
	assert_int_equal(csv_separator("a;b\nc,d", 7), ';');
	assert_int_equal(csv_separator("a\tb;c", 5), '\t');
	assert_int_equal(csv_separator("a", 1), ',');
	assert_int_equal(csv_mark("\xef\xbb\xbfpath", 7), 3);
	assert_int_equal(csv_mark("\xef\xbb", 2), 0);
}

static void numbers(void **state)
{
	static const struct {
		const char *text;
		bool good;
		int64_t number;
	} whole[] = {{"0", true, 0}, {"-12", true, -12}, {"+7", true, 7},
		{"9223372036854775807", true, INT64_MAX}, {"9223372036854775808", false, 0},
		{"-9223372036854775808", true, INT64_MIN}, {"-9223372036854775809", false, 0},
		{"", false, 0}, {"-", false, 0}, {"1.0", false, 0}, {" 1", false, 0},
		{"1x", false, 0}},
	  seconds[] = {{"1.5", true, 1500000}, {"-1.5", true, -1500000}, {"12", true, 12000000},
		  {"-0.25", true, -250000}, {"0.1234567", true, 123456}, {"1e3", true, 1000000000},
		  {"1.5e1", true, 15000000}, {".5", true, 500000}, {"5.", true, 5000000},
		  {"9999999999999999", false, 0}, {"nan", false, 0}, {"inf", false, 0},
		  {"1.2.3", false, 0}, {"", false, 0}, {".", false, 0}, {"x", false, 0}},
	  dates[] = {{"1970-01-01", true, 0}, {"1970-01-02T00:00:01Z", true, 86401000000},
		  {"2024-02-29 12:30", true, 1709209800000000},
		  {"2024-02-29T12:30:00+01:00", true, 1709206200000000},
		  {"2000-03-01T00:00:00.5", true, 951868800500000},
		  {"1969-12-31T23:59:59-0030", true, 1799000000}, {"2023-02-29", false, 0},
		  {"1900-02-29", false, 0}, {"2024-13-01", false, 0}, {"2024-1-01", false, 0},
		  {"2024-01-01T25:00", false, 0}, {"2024-01-01T", false, 0},
		  {"2024-01-01x", false, 0}, {"2024-01-01T12:00:", false, 0}, {"", false, 0}};
	int64_t number = 0;

	for (size_t i = 0; i < COUNT(whole); i++) {
		assert_int_equal(
			moment_whole(whole[i].text, strlen(whole[i].text), &number), whole[i].good);
		if (whole[i].good)
			assert_int_equal(number, whole[i].number);
	}
	for (size_t i = 0; i < COUNT(seconds); i++) {
		if (moment_seconds(seconds[i].text, strlen(seconds[i].text), &number) !=
			seconds[i].good)
			fail_msg("seconds: %s", seconds[i].text);
		if (seconds[i].good)
			assert_int_equal(number, seconds[i].number);
	}
	for (size_t i = 0; i < COUNT(dates); i++) {
		if (moment_date(dates[i].text, strlen(dates[i].text), &number) != dates[i].good)
			fail_msg("date: %s", dates[i].text);
		if (dates[i].good)
			assert_int_equal(number, dates[i].number);
	}
}

static void words_have_numbers_and_ranks(void **state)
{
	struct words words = {0};
	struct err err = {0};
	uint32_t *ranks;
	char word[20];

	for (int turn = 0; turn < 2; turn++)
		for (int i = 0; i < 1000; i++) {
			snprintf(word, sizeof(word), "%d", i * 7 % 1000);
			assert_int_equal(words_number(&words, word, strlen(word), &err), i);
		}
	assert_int_equal(words_find(&words, "1000", 4), -1);
	assert_int_equal(words_find(&words, "7x", 1), 1);
	assert_int_equal(words_number(&words, "a\0b", 3, &err), ERR_FORMAT);
	assert_int_equal(words_sort(&words, &ranks, &err), 0);
	assert_string_equal(names_at(&words.names, 0), "0");
	assert_string_equal(names_at(&words.names, 1), "1");
	assert_string_equal(names_at(&words.names, 2), "10");
	assert_string_equal(names_at(&words.names, ranks[1]), "7");
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(atoi(names_at(&words.names, ranks[i])), i * 7 % 1000);
	mem_free(ranks);
	words_release(&words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows),
		cmocka_unit_test(small_things),
		cmocka_unit_test(numbers),
		cmocka_unit_test(words_have_numbers_and_ranks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
