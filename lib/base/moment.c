/* Digits are parsed as integers; only exponents go through floating point. */
#include "base/moment.h"

#include <math.h>
#include <string.h>

#include "base/decimal.h"

#define MICRO 1000000

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Digits of a fraction as millionths; the number of digits that were there. */
static size_t fraction(const char *text, size_t size, int64_t *millionths)
{
	int64_t unit = MICRO / 10;
	size_t i = 0;

	for (*millionths = 0; i < size && digit(text[i]); i++, unit /= 10)
		*millionths += unit * (text[i] - '0');
	return i;
}

bool moment_seconds(const char *text, size_t size, int64_t *microseconds)
{
	const char *dot = memchr(text, '.', size);
	const size_t before = dot ? (size_t)(dot - text) : size,
		     after = dot ? size - before - 1 : 0;
	int64_t whole, part = 0;
	double number;

	if (decimal_whole(text, before, &whole) &&
		(!dot || fraction(dot + 1, after, &part) == after)) {
		part = *text == '-' ? -part : part;
		return !__builtin_mul_overflow(whole, MICRO, &whole) &&
		       !__builtin_add_overflow(whole, part, microseconds);
	}
	if (!decimal_number(text, size, &number) || fabs(number) > 9e12)
		return false;
	*microseconds = (int64_t)(number * MICRO);
	return true;
}

/* Exactly n digits. */
static bool digits(const char **text, size_t *size, size_t n, int *number)
{
	*number = 0;
	if (*size < n)
		return false;
	for (size_t i = 0; i < n; i++, ++*text, --*size) {
		if (!digit(**text))
			return false;
		*number = *number * 10 + (**text - '0');
	}
	return true;
}

static bool one_of(const char **text, size_t *size, const char *allowed)
{
	if (!*size || !**text || !strchr(allowed, **text))
		return false;
	++*text;
	--*size;
	return true;
}

static int days_of_month(int year, int month)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return days[month - 1] + (month == 2 && leap);
}

/* Days since 1970, with years that begin in March, so that leap days come last. */
static int64_t days_since_1970(int year, int month, int day)
{
	const int y = year - (month <= 2), of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;

	return (int64_t)y * 365 + y / 4 - y / 100 + y / 400 + of_year - 719468;
}

static bool clock_time(const char **text, size_t *size, int64_t *microseconds)
{
	int hour, minute, second = 0;
	int64_t part = 0;

	if (!digits(text, size, 2, &hour) || !one_of(text, size, ":") ||
		!digits(text, size, 2, &minute) || hour > 23 || minute > 59)
		return false;
	if (one_of(text, size, ":") && (!digits(text, size, 2, &second) || second > 60))
		return false;
	if (one_of(text, size, ".,")) {
		const size_t used = fraction(*text, *size, &part);

		if (!used)
			return false;
		*text += used;
		*size -= used;
	}
	*microseconds = ((int64_t)hour * 3600 + minute * 60 + second) * MICRO + part;
	return true;
}

static bool zone(const char **text, size_t *size, int64_t *microseconds)
{
	const bool minus = *size && **text == '-';
	int hours, minutes = 0;

	*microseconds = 0;
	if (!*size || one_of(text, size, "Zz"))
		return true;
	if (!one_of(text, size, "+-") || !digits(text, size, 2, &hours) || hours > 23)
		return false;
	one_of(text, size, ":");
	if (*size && (!digits(text, size, 2, &minutes) || minutes > 59))
		return false;
	*microseconds = ((int64_t)hours * 3600 + minutes * 60) * MICRO * (minus ? -1 : 1);
	return true;
}

/* One digit or two, and a point. */
static bool pointed(const char **text, size_t *size, int *number)
{
	const size_t count = *size > 1 && (*text)[1] == '.' ? 1 : 2;

	return digits(text, size, count, number) && one_of(text, size, ".");
}

static bool calendar(const char **text, size_t *size, int *year, int *month, int *day)
{
	const char mark[] = {*size > 4 ? (*text)[4] : '\0', '\0'};

	if (mark[0] == '-' || mark[0] == '/')
		return digits(text, size, 4, year) && one_of(text, size, mark) &&
		       digits(text, size, 2, month) && one_of(text, size, mark) &&
		       digits(text, size, 2, day);
	return pointed(text, size, day) && pointed(text, size, month) &&
	       digits(text, size, 4, year);
}

bool moment_date(const char *text, size_t size, int64_t *microseconds)
{
	int64_t time = 0, shift = 0;
	int year, month, day;

	if (!calendar(&text, &size, &year, &month, &day))
		return false;
	if (month < 1 || month > 12 || day < 1 || day > days_of_month(year, month))
		return false;
	if (one_of(&text, &size, "Tt ") &&
		(!clock_time(&text, &size, &time) || !zone(&text, &size, &shift)))
		return false;
	if (size)
		return false;
	*microseconds = days_since_1970(year, month, day) * 86400 * MICRO + time - shift;
	return true;
}

/* Rounds down, also before 1970. */
static int64_t whole_days(int64_t microseconds)
{
	const int64_t day = INT64_C(86400) * MICRO;

	return microseconds / day - (microseconds % day < 0);
}

/* The year's share that has passed, of 366 days, by the days before a year's first of March. */
static double year_share(int64_t days)
{
	enum { CENTURIES = 146097, SHIFT = 719468 }; /* days of 400 years; since March of year 0 */
	const int64_t since = days + SHIFT;
	const int64_t of =
		since - (since >= 0 ? since : since - CENTURIES + 1) / CENTURIES * CENTURIES;
	const int64_t years = (of - of / 1460 + of / 36524 - of / (CENTURIES - 1)) / 365;
	const int64_t day = of - (365 * years + years / 4 - years / 100);

	return (double)(day >= 306 ? day - 306 : day + 60) / 366;
}

struct moment_cycles moment_cycles(int64_t microseconds)
{
	const int64_t days = whole_days(microseconds);
	const double day = (double)(microseconds - days * 86400 * MICRO) / (86400.0 * MICRO);

	return (struct moment_cycles){.days = (double)days + day,
		.day = day,
		.week = (double)(((days + 3) % 7 + 7) % 7) / 7, /* 1970 began on a Thursday */
		.year = year_share(days)};
}
