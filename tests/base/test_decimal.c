/* What is a number and what is a moment, each against what was worked out by hand. */
#include "../base/check.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/words/decimal.h"
#include "base/words/moment.h"

static void whole_numbers_and_moments(void **state)
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
		  {"2024-01-01x", false, 0}, {"2024-01-01T12:00:", false, 0},
		  {"2024/02/29", true, 1709164800000000}, {"29.02.2024", true, 1709164800000000},
		  {"29.02.2024 12:30", true, 1709209800000000},
		  {"1.3.2024", true, 1709251200000000}, {"2024/02-29", false, 0},
		  {"2024.02.29", false, 0}, {"32.01.2024", false, 0}, {"1.2.3", false, 0},
		  {"10.1.24", false, 0}, {"", false, 0}, {"29-Feb-2024", true, 1709164800000000},
		  {"29 february 2024 12:30", true, 1709209800000000},
		  {"2024-02-29 0:30", true, 1709166600000000},
		  {"2024-02-29 12:30 PM", true, 1709209800000000},
		  {"2024-02-29 12:30am", true, 1709166600000000}, {"2024-02-29 13:30 PM", false, 0},
		  {"30-Feb-2024", false, 0}, {"29-Feb 2024", false, 0}, {"29-Febr-2024", false, 0},
		  {"Feb", false, 0}, {"02/29/2024", false, 0},
		  {"February 29, 2024", true, 1709164800000000},
		  {"Feb 9 2024 00:00", true, 1707436800000000},
		  {"Thu, 29 Feb 2024 12:30:00 GMT", true, 1709209800000000},
		  {"29/Feb/2024:12:30:00 +0000", true, 1709209800000000},
		  {"2024-02", true, 1706745600000000}, {"2024-13", false, 0}, {"2024-2", false, 0},
		  {"Thu", false, 0}, {"Thu, ", false, 0}, {"May", false, 0}, {"May 2024", false, 0},
		  {"February 30, 2024", false, 0}, {"12:30", false, 0}},
	  slashed[] = {{"2/29/2024", true, 1709164800000000},
		  {"29/02/2024", true, 1709164800000000},
		  {"03/01/2024 12:30:00 PM", true, 1709296200000000}, {"30/02/2024", false, 0},
		  {"13/13/2024", false, 0}, {"1/2", false, 0}, {"2/29/24", true, 1709164800000000},
		  {"29-02-2024", true, 1709164800000000},
		  {"1/31/70, 12:00 PM", true, 2635200000000}, {"1/2/3", false, 0},
		  {"1-2/24", false, 0}, {"29-02-202", false, 0}, {"", false, 0}};
	enum moment_order order;
	int64_t number = 0;

	for (size_t i = 0; i < COUNT(whole); i++) {
		assert_int_equal(decimal_whole(whole[i].text, strlen(whole[i].text), &number),
			whole[i].good);
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
	for (size_t i = 0; i < COUNT(slashed); i++) {
		if (moment_slashed(slashed[i].text, strlen(slashed[i].text), false, &number,
			    &order) != slashed[i].good)
			fail_msg("slashed date: %s", slashed[i].text);
		if (slashed[i].good)
			assert_int_equal(number, slashed[i].number);
	}
	assert_true(moment_clock("21:30:59.5", 10, &number) && number == 77459500000);
	assert_false(moment_clock("24:30", 5, &number) || moment_clock("1:30", 4, &number) ||
		     moment_clock("12:30x", 6, &number) || moment_clock("", 0, &number));
	assert_true(moment_slashed("03/01/2024", 10, true, &number, &order));
	assert_true(number == 1704240000000000 && order == MOMENT_EITHER);
	assert_true(moment_slashed("03/31/2024", 10, true, &number, &order));
	assert_true(number == 1711843200000000 && order == MOMENT_MONTH_FIRST);
	assert_true(moment_slashed("31/03/2024", 10, false, &number, &order));
	assert_true(number == 1711843200000000 && order == MOMENT_DAY_FIRST);
	assert_true(moment_packed(20240229, &number) && number == 1709164800000000);
	assert_true(moment_packed(202402291230, &number) && number == 1709209800000000);
	assert_false(moment_packed(20240230, &number) || moment_packed(20240229.5, &number) ||
		     moment_packed(202402292430, &number) || moment_packed(2024022912, &number));
}

static void moments_have_cycles(void **state)
{
	static const struct {
		const char *text;
		double days, day, week, year;
	} rows[] = {{"1970-01-01", 0, 0, 3, 0}, {"2024-02-29T12:00", 19782.5, 0.5, 3, 59},
		{"2023-12-31 18:00", 19722.75, 0.75, 6, 365}, {"2024-12-31", 20088, 0, 1, 365},
		{"1969-12-31 06:00", -0.75, 0.25, 2, 365}, {"2000-03-01", 11017, 0, 2, 60},
		{"1900-01-01", -25567, 0, 0, 0}};
	int64_t number;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct moment_cycles at;

		assert_true(moment_date(rows[i].text, strlen(rows[i].text), &number));
		at = moment_cycles(number);
		assert_true(at.days == rows[i].days && at.day == rows[i].day);
		assert_true(at.week == rows[i].week / 7 && at.year == rows[i].year / 366);
	}
}

/* Decimal digits, a point, an exponent, and nothing else. */
static void numbers_are_decimal(void **state)
{
	static const struct {
		const char *text;
		double number;
	} good[] = {{"0", 0}, {"-0.5", -0.5}, {"+1.5", 1.5}, {".5", 0.5}, {"5.", 5}, {"1e3", 1000},
		{"1E-2", 0.01}, {"-2.5e+1", -25}, {"0012", 12}, {"1e-999", 0},
		{"123456789012345678901234567890", 123456789012345678901234567890.0},
		{"0.1000000000000000055511151231257827021181583404541015625", 0.1},
		{"1e999", INFINITY}, {"-1e999", -INFINITY}};
	static const char *const bad[] = {"", ".", "-", "+", "e5", "1e", "1e+", "-.e1", "1.2.3",
		"0x1p3", "0X10", "0x1", "inf", "-inf", "Infinity", "nan", "NaN", "nan(1)", "1_000",
		"1,000", " 1", "1 ", "--1", "+-1", "1e5.0", "1f", "1d3", "1e 5", "\xd9\xa3"};
	char zeros[1200];
	double number;

	for (size_t i = 0; i < COUNT(good); i++) {
		if (!decimal_number(good[i].text, strlen(good[i].text), &number))
			fail_msg("%s is not a number", good[i].text);
		assert_true(number == good[i].number);
	}
	for (size_t i = 0; i < COUNT(bad); i++)
		if (decimal_number(bad[i], strlen(bad[i]), &number))
			fail_msg("%s is the number %g", bad[i], number);
	assert_false(decimal_number("1\0", 2, &number));
	memset(zeros, '0', sizeof(zeros));
	zeros[1] = '.';
	zeros[999] = '1';
	assert_true(decimal_number(zeros, 1000, &number) && number == 0);
	assert_false(decimal_number(zeros, sizeof(zeros), &number));
}

/* Any number of digits, the point anywhere, and doubles half-way between two: as strtod has it. */
static void numbers_are_rounded_once(void **state)
{
	volatile long double one = 1;
	uint64_t bits = 12345;
	char text[64];
	double number;

	(void)state;
	if (LDBL_MANT_DIG == 64 && one + 0x1p-63L == 1) {
		print_message("this machine, perhaps valgrind, rounds long double to double\n");
		skip();
	}
	for (int i = 0; i < 200000; i++) {
		const int places = i % 19;

		bits = bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		/* Every other time a neighbour of a number half-way: 54 bits, the last one set. */
		snprintf(text, sizeof(text), "%019llu",
			(unsigned long long)(i % 2 ? bits >> 5
						   : ((bits >> 10 | UINT64_C(1) << 53 | 1) +
							     (uint64_t)(i / 2 % 3) - 1)));
		memmove(text + places + 1, text + places, 20 - (size_t)places);
		text[places] = '.';
		assert_true(decimal_number(text + 1, strlen(text + 1), &number) ||
			    !strcmp(text + 1, "."));
		if (number != strtod(text + 1, NULL))
			fail_msg("%s is %.17g", text + 1, number);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_numbers_and_moments),
		cmocka_unit_test(moments_have_cycles),
		cmocka_unit_test(numbers_are_decimal),
		cmocka_unit_test(numbers_are_rounded_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
