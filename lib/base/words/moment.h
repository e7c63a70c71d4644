/*
 * Times in text, as in tables. Whole texts, of `size` bytes; independent of locale and time zone.
 */
#ifndef RETAIN_BASE_WORDS_MOMENT_H
#define RETAIN_BASE_WORDS_MOMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Seconds with a fraction, as microseconds (truncated). */
bool moment_seconds(const char *text, size_t size, int64_t *microseconds);

/*
 * A date: ISO 8601, 2024-02-29 or 2024-02 (its first day), or 2024/02/29, or 29.02.2024 (day,
 * month, year; also 1.2.2024), or 29-Feb-2024, 29 February 2024, 29/Feb/2024, February 29, 2024;
 * perhaps behind a weekday (Thu, 29 Feb 2024). With T12:30, T12:30:59 or T12:30:59.5 (or a blank
 * or a colon for the T; also 9:30 PM), with Z, GMT or +01:00 (default UTC). As microseconds since
 * 1970.
 */
bool moment_date(const char *text, size_t size, int64_t *microseconds);

/*
 * The same for 2/29/2024, 29-02-2024 and 2/29/24, which do not say whether the day comes first. A
 * date that can be read one way only is, whatever day_first says, and `order` tells. Two digits
 * are a year of 1970 to 2069.
 */
enum moment_order { MOMENT_EITHER, MOMENT_DAY_FIRST, MOMENT_MONTH_FIRST };
bool moment_slashed(const char *text, size_t size, bool day_first, int64_t *microseconds,
	enum moment_order *order);

/* A time of day without a date, 09:30 or 21:30:59.5; as microseconds since midnight. */
bool moment_clock(const char *text, size_t size, int64_t *microseconds);

/* A date written as one number: 20240229, 202402291230 or 20240229123059, of 1900 to 2199. */
bool moment_packed(double number, int64_t *microseconds);

/* Where a moment is in its day, week and year, each in [0, 1); weeks begin on Monday. */
struct moment_cycles {
	double days; /* since 1970, with a fraction */
	double day, week, year;
};
struct moment_cycles moment_cycles(int64_t microseconds);

#endif
