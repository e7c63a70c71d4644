/*
 * Columns of dates and times: their inputs are the days since 1970, and where a moment is in its
 * week, its year and, if there is a time of day, its day. One number each: a sine and a cosine
 * would bring Sunday beside Monday, but cost more where the time says nothing than they gain where
 * it does. A time of day alone is one of the first of January 1970: only what changes is an input
 * that says anything.
 */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/words/moment.h"
#include "schema/schema_impl.h"

/* Seconds since 1970 that are taken for a time: from 1990 to 2070. */
static const double EARLIEST = 631152000, LATEST = 3155760000;

/* What a number of seconds, or of milliseconds, must be divided by; 0: it is no time. */
static double unit_of(double number)
{
	const double seconds[] = {1, 1e3, 1e6};

	for (size_t i = 0; i < sizeof(seconds) / sizeof(*seconds); i++)
		if (number >= EARLIEST * seconds[i] && number < LATEST * seconds[i])
			return seconds[i];
	return 0;
}

/* The words of a name, which end at what is no letter, or where a capital follows a small one. */
static size_t next_word(const char **at, const char **word)
{
	const char *end;

	while (**at && !isalpha((unsigned char)**at))
		++*at;
	*word = end = *at;
	while (isalpha((unsigned char)*end) &&
		(end == *at || !isupper((unsigned char)*end) || !islower((unsigned char)end[-1])))
		end++;
	*at = end;
	return (size_t)(end - *word);
}

static bool names_time(const char *name)
{
	static const char *const words[] = {"time", "date", "datetime", "timestamp", "epoch",
		"unixtime", "stamp", "ts", "at", "when", NULL};
	const char *word;
	size_t size;

	while ((size = next_word(&name, &word)))
		for (const char *const *known = words; *known; known++)
			if (strlen(*known) == size && !strncasecmp(*known, word, size))
				return true;
	return false;
}

bool schema_is_time(const char *name, const struct schema_value *value, enum moment_order *order)
{
	int64_t moment;

	*order = MOMENT_EITHER;
	if (value->is == SCHEMA_IS_NUMBER)
		return (unit_of(value->number) > 0 || moment_packed(value->number, &moment)) &&
		       names_time(name);
	return value->is == SCHEMA_IS_WORDS &&
	       (moment_date(value->words, value->size, &moment) ||
		       moment_clock(value->words, value->size, &moment) ||
		       moment_slashed(value->words, value->size, false, &moment, order));
}

bool schema_has_clock(const struct schema_value *value)
{
	return value->is == SCHEMA_IS_NUMBER ? value->number > 99999999
					     : memchr(value->words, ':', value->size) != NULL;
}

bool schema_moment(const struct schema_value *value, bool day_first, int64_t *microseconds)
{
	const double unit = value->is == SCHEMA_IS_NUMBER ? unit_of(value->number) : 0;
	enum moment_order order;

	if (value->is == SCHEMA_IS_NUMBER && !(unit > 0))
		return moment_packed(value->number, microseconds);
	*microseconds = unit > 0 ? (int64_t)(value->number / unit * 1e6) : 0;
	return unit > 0 || (value->is == SCHEMA_IS_WORDS &&
				   (moment_date(value->words, value->size, microseconds) ||
					   moment_clock(value->words, value->size, microseconds) ||
					   moment_slashed(value->words, value->size, day_first,
						   microseconds, &order)));
}

void schema_put_moment(const struct schema_column *column, int64_t microseconds, float *inputs)
{
	const struct moment_cycles at = moment_cycles(microseconds);

	inputs[0] = (float)at.days;
	inputs[1] = (float)at.week;
	inputs[2] = (float)at.year;
	if (column->clock)
		inputs[3] = (float)at.day;
}
