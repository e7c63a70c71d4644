/* Rows of CSV files, each against what was worked out by hand. */
#include "../base/check.h"

#include "formats/csv.h"

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

	assert_int_equal(csv_trim(&field).size, 2);
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
	assert_int_equal(csv_separator("a|b\nc,d", 7), '|');
	assert_int_equal(csv_separator("1,5;2,5;x", 9), ';');
	assert_int_equal(csv_separator("1,5,3;2", 7), ',');
	assert_int_equal(csv_separator("1,5;", 4), ';');
	assert_int_equal(csv_separator(",5;1,", 5), ',');
	assert_int_equal(csv_mark("\xef\xbb\xbfpath", 7), 3);
	assert_int_equal(csv_mark("\xef\xbb", 2), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows),
		cmocka_unit_test(small_things),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
