/*
 * Option types are rows of functions. Intervals are kept as the text of the row, as users see it,
 * and parsed again for every value: options are read once per run.
 */
#include "base/options/options_value.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kind {
	const char *what; /* one of these */
	const char *join; /* between `what` and the row's `allowed` */
	bool (*valid)(const struct option_row *row);
	bool (*parse)(const struct option_row *row, const char *words, struct option_value *value);
	const char *(*print)(const struct option_value *value, char out[TEXT_NUMBER]);
};

struct interval {
	char low[TEXT_NUMBER], high[TEXT_NUMBER];
	bool low_open, high_open;
	const char *word; /* what follows " | "; NULL: nothing does */
};

static bool interval_split(const char *allowed, struct interval *interval)
{
	char first, last;
	int length = 0;

	if (sscanf(allowed, "%c%31[^,], %31[^])]%c%n", &first, interval->low, interval->high, &last,
		    &length) != 4 ||
		!strchr("[(", first) || !strchr("])", last))
		return false;
	interval->word = strncmp(allowed + length, " | ", 3) ? NULL : allowed + length + 3;
	if (allowed[length] && !interval->word)
		return false;
	interval->low_open = first == '(';
	interval->high_open = last == ')';
	return true;
}

static bool whole_parse(const char *words, int64_t *whole)
{
	char *end;
	long long number;

	if (!isdigit((unsigned char)words[*words == '-' || *words == '+']))
		return false;
	errno = 0;
	number = strtoll(words, &end, 10);
	*whole = number;
	return *end == '\0' && errno == 0;
}

static bool whole_ends(const struct interval *interval, int64_t *low, int64_t *high)
{
	*low = INT64_MIN;
	*high = INT64_MAX;
	return (strcmp(interval->low, "-inf") == 0 || whole_parse(interval->low, low)) &&
	       (strcmp(interval->high, "inf") == 0 || whole_parse(interval->high, high));
}

static bool whole_valid(const struct option_row *row)
{
	struct interval interval;
	int64_t low, high;

	return !row->allowed ||
	       (interval_split(row->allowed, &interval) && whole_ends(&interval, &low, &high) &&
		       (!interval.word || low > 0));
}

static bool int64_parse(const struct option_row *row, const char *words, struct option_value *value)
{
	struct interval interval;
	const bool limited = row->allowed && interval_split(row->allowed, &interval);
	int64_t low, high, whole;

	value->word = limited && interval.word && !strcmp(words, interval.word);
	value->whole = 0;
	if (value->word)
		return true;
	if (!whole_parse(words, &value->whole))
		return false;
	if (!row->allowed)
		return true;
	if (!limited || !whole_ends(&interval, &low, &high))
		return false;
	whole = value->whole;
	/* An open end at infinity excludes nothing. */
	if (interval.low_open && strcmp(interval.low, "-inf") != 0 && whole == low)
		return false;
	if (interval.high_open && strcmp(interval.high, "inf") != 0 && whole == high)
		return false;
	return whole >= low && whole <= high;
}

static bool int_parse(const struct option_row *row, const char *words, struct option_value *value)
{
	return int64_parse(row, words, value) && value->whole >= INT_MIN && value->whole <= INT_MAX;
}

static const char *whole_print(const struct option_value *value, char out[TEXT_NUMBER])
{
	if (value->word)
		return NULL;
	snprintf(out, TEXT_NUMBER, "%" PRId64, value->whole);
	return out;
}

static bool float_valid(const struct option_row *row)
{
	struct interval interval;
	double end;

	return !row->allowed ||
	       (interval_split(row->allowed, &interval) && text_to_double(interval.low, &end) &&
		       text_to_double(interval.high, &end));
}

static bool float_parse(const struct option_row *row, const char *words, struct option_value *value)
{
	struct interval interval;
	const bool limited = row->allowed && interval_split(row->allowed, &interval);
	double low, high, number;

	if (limited && interval.word && !strcmp(words, interval.word)) {
		value->number = NAN;
		return true;
	}
	if (!text_to_double(words, &number) || !isfinite(number))
		return false;
	value->number = number;
	if (!row->allowed)
		return true;
	return limited && text_to_double(interval.low, &low) &&
	       text_to_double(interval.high, &high) &&
	       (interval.low_open ? number > low : number >= low) &&
	       (interval.high_open ? number < high : number <= high);
}

static const char *float_print(const struct option_value *value, char out[TEXT_NUMBER])
{
	if (isnan(value->number))
		return NULL;
	text_from_double(out, value->number);
	return out;
}

static bool bool_parse(const struct option_row *row, const char *words, struct option_value *value)
{
	static const char *const spellings[] = {
		"false", "true", "no", "yes", "off", "on", "0", "1"};

	(void)row;
	for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++)
		if (strcmp(words, spellings[i]) == 0) {
			value->whole = i % 2;
			return true;
		}
	return false;
}

static const char *bool_print(const struct option_value *value, char out[TEXT_NUMBER])
{
	(void)out;
	return value->whole ? "true" : "false";
}

static bool choice_parse(
	const struct option_row *row, const char *words, struct option_value *value)
{
	const char *at = row->allowed;
	size_t size = strlen(words);

	for (value->whole = 0; at; value->whole++) {
		at += strspn(at, " ");
		if (size > 0 && strcspn(at, " |") == size && strncmp(at, words, size) == 0)
			return true;
		at = strchr(at, '|');
		at = at ? at + 1 : NULL;
	}
	return false;
}

static bool choice_valid(const struct option_row *row)
{
	return row->allowed != NULL;
}

/* Whatever a line of a config file can hold as a value, and nothing else. */
static bool text_parse(const struct option_row *row, const char *words, struct option_value *value)
{
	char before = ' ';

	(void)row;
	(void)value;
	for (; *words; before = *words++)
		if ((unsigned char)*words < ' ' || *words == '\x7f' ||
			(*words == ';' && before == ' '))
			return false;
	return true;
}

static bool unlimited(const struct option_row *row)
{
	return row->allowed == NULL;
}

static const struct kind kinds[] = {
	[OPTION_BOOL] = {"true or false", "", unlimited, bool_parse, bool_print},
	[OPTION_INT] = {"a whole number", " in ", whole_valid, int_parse, whole_print},
	[OPTION_INT64] = {"a whole number", " in ", whole_valid, int64_parse, whole_print},
	[OPTION_FLOAT] = {"a number", " in ", float_valid, float_parse, float_print},
	[OPTION_TEXT] = {"one line of text without \" ;\"", "", unlimited, text_parse, NULL},
	[OPTION_CHOICE] = {"one of", " ", choice_valid, choice_parse, NULL},
};

bool option_row_valid(const struct option_row *row)
{
	return (size_t)row->type < sizeof(kinds) / sizeof(kinds[0]) && kinds[row->type].valid(row);
}

bool option_value_parse(const struct option_row *row, const char *words, struct option_value *value)
{
	return kinds[row->type].parse(row, words, value);
}

const char *option_value_print(
	const struct option_row *row, const struct option_value *value, char out[TEXT_NUMBER])
{
	return kinds[row->type].print ? kinds[row->type].print(value, out) : NULL;
}

void option_row_describe(const struct option_row *row, char *out, size_t size)
{
	const struct kind *kind = &kinds[row->type];

	/* An int without a range still has one, and a user who exceeds it should read it. */
	if (row->type == OPTION_INT && !row->allowed)
		snprintf(out, size, "%s in [%d, %d]", kind->what, INT_MIN, INT_MAX);
	else
		snprintf(out, size, "%s%s%s", kind->what, row->allowed ? kind->join : "",
			row->allowed ? row->allowed : "");
}
