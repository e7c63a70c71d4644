/* Digits are parsed as integers; only exponents go through floating point. */
#include "base/words/moment.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/words/decimal.h"

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

/* Turns an hour of 1 to 12 into one of 0 to 23 if AM or PM follows, perhaps behind a blank. */
static bool half_of_day(const char **text, size_t *size, int *hour)
{
	const size_t blank = *size && **text == ' ';
	const char *mark = *text + blank;

	if (*size < blank + 2 || !strchr("AaPp", *mark) || (mark[1] | 32) != 'm')
		return *hour <= 23;
	*text += blank + 2;
	*size -= blank + 2;
	if (*hour < 1 || *hour > 12)
		return false;
	*hour = *hour % 12 + ((*mark | 32) == 'p' ? 12 : 0);
	return true;
}

static bool clock_time(const char **text, size_t *size, int64_t *microseconds)
{
	int hour, minute, second = 0;
	int64_t part = 0;

	if (!digits(text, size, *size > 1 && (*text)[1] == ':' ? 1 : 2, &hour) ||
		!one_of(text, size, ":") || !digits(text, size, 2, &minute) || minute > 59)
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
	if (!half_of_day(text, size, &hour))
		return false;
	*microseconds = ((int64_t)hour * 3600 + minute * 60 + second) * MICRO + part;
	return true;
}

static bool zone(const char **text, size_t *size, int64_t *microseconds)
{
	bool minus;
	int hours, minutes = 0;

	*microseconds = 0;
	one_of(text, size, " ");
	if (!*size || one_of(text, size, "Zz"))
		return true;
	if (*size == 3 && (!memcmp(*text, "GMT", 3) || !memcmp(*text, "UTC", 3))) {
		*text += 3;
		*size = 0;
		return true;
	}
	minus = **text == '-';
	if (!one_of(text, size, "+-") || !digits(text, size, 2, &hours) || hours > 23)
		return false;
	one_of(text, size, ":");
	if (*size && (!digits(text, size, 2, &minutes) || minutes > 59))
		return false;
	*microseconds = ((int64_t)hours * 3600 + minutes * 60) * MICRO * (minus ? -1 : 1);
	return true;
}

/* One digit or two, and a mark. */
static bool marked(const char **text, size_t *size, const char *mark, int *number)
{
	const size_t count = *size > 1 && !digit((*text)[1]) ? 1 : 2;

	return digits(text, size, count, number) && one_of(text, size, mark);
}

/* One of these English words, whole or its first three letters: its place. 0: none of them. */
static int word_of(const char *const *words, const char **text, size_t *size)
{
	size_t length = 0;

	while (length < *size && ((*text)[length] | 32) >= 'a' && ((*text)[length] | 32) <= 'z')
		length++;
	for (int i = 0; words[i]; i++)
		if ((length == 3 || length == strlen(words[i])) &&
			!strncasecmp(*text, words[i], length)) {
			*text += length;
			*size -= length;
			return i + 1;
		}
	return 0;
}

/* A month, and a mark. */
static bool named(const char **text, size_t *size, const char *mark, int *month)
{
	static const char *const names[] = {"january", "february", "march", "april", "may", "june",
		"july", "august", "september", "october", "november", "december", NULL};

	*month = word_of(names, text, size);
	return *month && one_of(text, size, mark);
}

/* A weekday before a date, "Mon, " or "Monday ", says nothing more. */
static void skip_weekday(const char **text, size_t *size)
{
	static const char *const names[] = {
		"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", NULL};

	if (word_of(names, text, size)) {
		one_of(text, size, ",");
		one_of(text, size, " ");
	}
}

/* Four digits, or two for 1970 to 2069. */
static bool year_digits(const char **text, size_t *size, int *year)
{
	if (*size > 3 && digit((*text)[2]))
		return digits(text, size, 4, year);
	if (!digits(text, size, 2, year))
		return false;
	*year += *year < 70 ? 2000 : 1900;
	return true;
}

/* 2024-02-29, 2024/02/29, or the month alone, 2024-02, whose first day it is. */
static bool year_first(const char **text, size_t *size, int *year, int *month, int *day)
{
	const char mark[] = {(*text)[4], '\0'};

	*day = 1;
	if (!digits(text, size, 4, year) || !one_of(text, size, mark) ||
		!digits(text, size, 2, month))
		return false;
	return (!*size && *mark == '-') || (one_of(text, size, mark) && digits(text, size, 2, day));
}

/* February 29, 2024 and Feb 29 2024. */
static bool month_first(const char **text, size_t *size, int *year, int *month, int *day)
{
	if (!named(text, size, " ", month) || *size < 2 ||
		!digits(text, size, digit((*text)[1]) ? 2 : 1, day))
		return false;
	one_of(text, size, ",");
	return one_of(text, size, " ") && digits(text, size, 4, year);
}

static bool calendar(const char **text, size_t *size, int *year, int *month, int *day)
{
	size_t second;
	char after[] = {'\0', '\0'};

	skip_weekday(text, size);
	if (*size > 4 && !digit(**text))
		return month_first(text, size, year, month, day);
	if (*size > 4 && digit((*text)[2]) && ((*text)[4] == '-' || (*text)[4] == '/'))
		return year_first(text, size, year, month, day);
	second = *size > 1 && digit((*text)[1]) ? 2 : 1;
	after[0] = *size > second ? (*text)[second] : '\0';
	if (after[0] == '-' || after[0] == ' ' || after[0] == '/')
		return marked(text, size, after, day) && named(text, size, after, month) &&
		       digits(text, size, 4, year);
	return marked(text, size, ".", day) && marked(text, size, ".", month) &&
	       digits(text, size, 4, year);
}

/* A calendar day, and what follows it. */
static bool moment(
	const char *text, size_t size, int year, int month, int day, int64_t *microseconds)
{
	int64_t time = 0, shift = 0;

	if (month < 1 || month > 12 || day < 1 || day > days_of_month(year, month))
		return false;
	if (size > 1 && text[1] == ' ')
		one_of(&text, &size, ","); /* 1/31/2024, 9:30 PM */
	if (one_of(&text, &size, "Tt :") &&
		(!clock_time(&text, &size, &time) || !zone(&text, &size, &shift)))
		return false;
	if (size)
		return false;
	*microseconds = days_since_1970(year, month, day) * 86400 * MICRO + time - shift;
	return true;
}

bool moment_date(const char *text, size_t size, int64_t *microseconds)
{
	int year, month, day;

	return calendar(&text, &size, &year, &month, &day) &&
	       moment(text, size, year, month, day, microseconds);
}

bool moment_slashed(const char *text, size_t size, bool day_first, int64_t *microseconds,
	enum moment_order *order)
{
	const char *mark = memchr(text, '-', size < 3 ? size : 3) ? "-" : "/";
	int first, second, year;

	if (!marked(&text, &size, mark, &first) || !marked(&text, &size, mark, &second) ||
		!year_digits(&text, &size, &year))
		return false;
	*order = first > 12 ? MOMENT_DAY_FIRST : second > 12 ? MOMENT_MONTH_FIRST : MOMENT_EITHER;
	if (*order == MOMENT_DAY_FIRST || (*order == MOMENT_EITHER && day_first))
		return moment(text, size, year, second, first, microseconds);
	return moment(text, size, year, first, second, microseconds);
}

bool moment_clock(const char *text, size_t size, int64_t *microseconds)
{
	return size > 4 && digit(text[1]) && clock_time(&text, &size, microseconds) && !size;
}

bool moment_packed(double number, int64_t *microseconds)
{
	char text[20];
	int64_t time = 0;
	const int size = number >= 19000101 && number < 22000101000000
				 ? snprintf(text, sizeof(text), "%.0f", number)
				 : 0;
	int part[6] = {0};
	const char *at = text;
	size_t left = (size_t)size;

	if ((size != 8 && size != 12 && size != 14) || floor(number) != number)
		return false;
	for (int i = 0; left; i++)
		digits(&at, &left, i ? 2 : 4, &part[i]);
	if (part[0] < 1900 || part[0] >= 2200 || part[3] > 23 || part[4] > 59 || part[5] > 60 ||
		!moment(at, 0, part[0], part[1], part[2], microseconds))
		return false;
	time = (int64_t)part[3] * 3600 + part[4] * 60 + part[5];
	*microseconds += time * MICRO;
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
