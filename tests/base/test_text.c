#include "check.h"

#include <float.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "base/text.h"

static void grows(void **state)
{
	struct text text = {0};

	(void)state;
	text_add(&text, "");
	assert_string_equal(text.data, "");
	for (int i = 0; i < 1000; i++) {
		text_add(&text, "ab");
		text_addf(&text, "%03d", i);
	}
	assert_false(text.failed);
	assert_int_equal(text.size, 5000);
	assert_int_equal(strlen(text.data), 5000);
	assert_memory_equal(text.data + 4985, "ab997ab998ab999", 16);
	text_release(&text);
	assert_null(text.data);
}

static void whole_numbers(void **state)
{
	static const int64_t rows[] = {0, 7, -7, 10, 1234567890, INT64_MAX, INT64_MIN};
	struct text text = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char expected[32];

		snprintf(expected, sizeof(expected), "%lld", (long long)rows[i]);
		text.size = 0;
		text_add_whole(&text, rows[i]);
		assert_string_equal(text.data, expected);
	}
	text_release(&text);
}

static void failure_sticks(void **state)
{
	struct text text = {0};

	(void)state;
	text_add(&text, "kept");
	mem_fail_at(1);
	text_addf(&text, "%1000d", 1);
	assert_true(text.failed);
	text_add(&text, "no more");
	assert_string_equal(text.data, "kept");
	text_release(&text);
}

static void shortest_numbers(void **state)
{
	static const struct {
		double number;
		const char *words;
	} rows[] = {
		{0, "0"},
		{0.1, "0.1"},
		{1e-5, "1e-05"},
		{-2.5, "-2.5"},
		{1.0 / 3, "0.3333333333333333"},
		{100, "100"},
		{50000, "50000"},
		{1e6, "1e+06"},
		{0.30000000000000004, "0.30000000000000004"},
		{DBL_MAX, "1.7976931348623157e+308"},
		{5e-324, "5e-324"},
		{INFINITY, "inf"},
	};
	char out[TEXT_NUMBER];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		text_from_double(out, rows[i].number);
		assert_string_equal(out, rows[i].words);
	}
}

static void numbers_read_back(void **state)
{
	struct rng rng = {1, RNG_TEST};
	char out[TEXT_NUMBER];

	(void)state;
	for (uint64_t i = 0; i < 2000; i++) {
		uint32_t bits[4];
		double number, again;

		rng_bits(rng, i, bits);
		memcpy(&number, bits, sizeof(number));
		if (!isfinite(number))
			continue;
		text_from_double(out, number);
		assert_true(text_to_double(out, &again));
		assert_memory_equal(&again, &number, sizeof(number));
	}
}

/* The rule itself: of all that printf can write, the shortest that reads back. */
static void by_trying(char out[TEXT_NUMBER], double number)
{
	char tried[TEXT_NUMBER];

	out[0] = '\0';
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(tried, sizeof(tried), "%.*g", digits, number);
		if (strtod(tried, NULL) == number && (!*out || strlen(tried) <= strlen(out)))
			memcpy(out, tried, sizeof(tried));
	}
}

static void assert_shortest(double number)
{
	char out[TEXT_NUMBER], expected[TEXT_NUMBER];

	text_from_double(out, number);
	by_trying(expected, number);
	assert_string_equal(out, expected);
}

static void plain_numbers_are_no_exception(void **state)
{
	static const double powers[] = {1, 1e1, 1e2, 1e4, 1e6, 1e9, 1e12, 1e15, 1e20, 1e-3, 1e-12};
	static const int64_t most[] = {10, 100, 100000, 10000000, 1000000000000000000};
	struct rng rng = {2, RNG_TEST};

	(void)state;
	assert_shortest(-0.0);
	assert_shortest(-INFINITY);
	for (int i = -1100000; i <= 1100000; i += 997)
		assert_shortest(i);
	for (int i = 0; i <= 1000000; i += 83)
		assert_shortest(i / 1e6);
	for (uint64_t i = 0; i < 6000; i++) {
		uint32_t bits[4];
		int64_t whole;
		double number;

		rng_bits(rng, i, bits);
		memcpy(&whole, bits, sizeof(whole));
		number = (double)(whole % most[bits[2] % COUNT(most)]) /
			 powers[bits[3] % COUNT(powers)];
		assert_shortest(number);
		assert_shortest(nextafter(number, INFINITY));
	}
}

static void only_whole_numbers_count(void **state)
{
	static const char *const wrong[] = {"", " ", "x", "1x", "1 ", " 1", "1,5", "--1", "."};
	double number;

	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++)
		if (text_to_double(wrong[i], &number))
			fail_msg("\"%s\" was taken for a number", wrong[i]);
	assert_true(text_to_double("-1.5e3", &number));
	assert_true(number == -1500);
}

/* Few machines have a locale with a decimal comma installed, so this makes one. */
#define LOCALE_NUMBERS                                                                             \
	"comment_char %%\nescape_char /\nLC_NUMERIC\ndecimal_point \",\"\n"                        \
	"thousands_sep \".\"\ngrouping 3;3\nEND LC_NUMERIC\n"
#define LOCALE_LETTERS                                                                             \
	"<code_set_name> ANSI_X3.4-1968\n<comment_char> %%\n<escape_char> /\nCHARMAP\n"            \
	"<U0000> /x00 NULL\n<U002C> /x2c COMMA\n<U002E> /x2e FULL STOP\nEND CHARMAP\n"

static void locale_does_not_matter(void **state)
{
	char folder[] = "/tmp/retain-locale-XXXXXX", command[1000], out[TEXT_NUMBER], theirs[8];
	double number;
	bool found;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(command, sizeof(command),
		"cd %s && printf '%%s' '" LOCALE_NUMBERS
		"' >numbers && printf '%%s' '" LOCALE_LETTERS
		"' >letters && localedef -c -f letters -i numbers ./comma >log 2>&1",
		folder);
	/* It warns of all the categories that are not there, and fails for it. */
	if (system(command) < 0)
		fail();
	setenv("LOCPATH", folder, 1);
	found = setlocale(LC_NUMERIC, "comma") != NULL;
	snprintf(theirs, sizeof(theirs), "%.1f", 0.5);
	text_from_double(out, 0.5);
	assert_true(text_to_double("0.25", &number));
	setlocale(LC_NUMERIC, "C");
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
	if (!found) {
		print_message("localedef made no locale with a decimal comma\n");
		skip();
	}
	assert_string_equal(theirs, "0,5");
	assert_string_equal(out, "0.5");
	assert_true(number == 0.25);
}

static void distances(void **state)
{
	static const struct {
		const char *a, *b;
		int distance;
	} rows[] = {
		{"", "", 0},
		{"same", "same", 0},
		{"", "abc", 3},
		{"epsilom", "epsilon", 1},
		{"epislon", "epsilon", 1},
		{"epsiln", "epsilon", 1},
		{"epsilonn", "epsilon", 1},
		{"kitten", "sitting", 3},
		{"ab", "ba", 1},
		{"abcd", "badc", 2},
		{"flaw", "lawn", 2},
	};
	char words[100];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(text_distance(rows[i].a, rows[i].b), rows[i].distance);
		assert_int_equal(text_distance(rows[i].b, rows[i].a), rows[i].distance);
	}
	memset(words, 'x', sizeof(words));
	words[63] = '\0';
	assert_int_equal(text_distance(words, words), 0);
	assert_int_equal(text_distance(words, ""), 63);
	words[63] = 'x';
	words[64] = '\0';
	assert_int_equal(text_distance(words, words), INT_MAX);
}

static void tamed(void **state)
{
	static const struct {
		const char *words, *wanted;
	} rows[] = {
		{"", ""},
		{"a\tb\nKöln → ✓", "a\tb\nKöln → ✓"},
		{"\033[2J\033]0;x\a", "?[2J?]0;x?"},
		{"a\rb\x7f\x01", "a?b??"},
		{"\xc2\x9b"
		 "2J\xc2\xa0.",
			"?2J\xc2\xa0."}, /* U+009B, and a blank of the same beginning */
		{"\x9b"
		 "2J",
			"?2J"},                             /* a byte that is no character */
		{"\xe2\x9b\x84 \xff", "\xe2\x9b\x84 \xff"}, /* the same byte within one */
		{"\xc2", "?"},
	};
	char words[64];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		strcpy(words, rows[i].words);
		text_tame(words);
		assert_string_equal(words, rows[i].wanted);
	}
}

static void lines_are_wrapped(void **state)
{
	static const struct {
		const char *words;
		int column, indent;
		const char *wrapped;
	} rows[] = {
		{"", 0, 0, "\n"},
		{"one\ntwo  three", 0, 0, "one two three\n"},
		{"use it:\n  retain run x\nthen go on", 0, 0,
			"use it:\n  retain run x\nthen go on\n"},
		{"six letters here", 71, 4, "six\n    letters here\n"},
		{"four \xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f end", 71, 2,
			"four \xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\n  end\n"},
		{"of 90.5 % right", 72, 2, "of\n  90.5 % right\n"},
		{"averylongwordthatfitsnowhere", 70, 2, "averylongwordthatfitsnowhere\n"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct text words = {0};

		text_add_wrapped(&words, rows[i].words, rows[i].column, rows[i].indent);
		assert_string_equal(words.data, rows[i].wrapped);
		text_release(&words);
	}
}

static void fields_are_quoted(void **state)
{
	static const struct {
		const char *field, *plain, *safe;
	} rows[] = {
		{"", "", ""},
		{"a b", "a b", "a b"},
		{"a,b", "\"a,b\"", "\"a,b\""},
		{"say \"x\"", "\"say \"\"x\"\"\"", "\"say \"\"x\"\"\""},
		{"=1+1", "=1+1", "'=1+1"},
		{"-1.5", "-1.5", "-1.5"},
		{"-a", "-a", "'-a"},
		{"@x\ny", "\"@x\ny\"", "\"'@x\ny\""},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct text plain = {0}, safe = {.safe = true};

		text_add_field(&plain, rows[i].field);
		text_add_field(&safe, rows[i].field);
		assert_string_equal(plain.data ? plain.data : "", rows[i].plain);
		assert_string_equal(safe.data ? safe.data : "", rows[i].safe);
		text_release(&plain);
		text_release(&safe);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_wrapped),
		cmocka_unit_test(fields_are_quoted),
		cmocka_unit_test(grows),
		cmocka_unit_test(whole_numbers),
		cmocka_unit_test(failure_sticks),
		cmocka_unit_test(shortest_numbers),
		cmocka_unit_test(numbers_read_back),
		cmocka_unit_test(plain_numbers_are_no_exception),
		cmocka_unit_test(only_whole_numbers_count),
		cmocka_unit_test(locale_does_not_matter),
		cmocka_unit_test(distances),
		cmocka_unit_test(tamed),
	};

	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
