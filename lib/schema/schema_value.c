/* Classifies a text: missing, a number or words. A pure function of its bytes. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/words/decimal.h"
#include "base/mark.h"
#include "schema/schema_impl.h"

/* Words are a text if there are this many or they are this long; else they name a category. */
enum { TEXT_WORDS = 5, TEXT_BYTES = 64 };

const char *const schema_kinds[] = {"number", "category", "text", "open", "time", NULL};

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool any_of(const char *const *list, const char *words, size_t size)
{
	for (; *list; list++)
		if (strlen(*list) == size && !strncasecmp(*list, words, size))
			return true;
	return false;
}

static enum schema_is kind_of(double number)
{
	return fabs(number) <= (double)FLT_MAX ? SCHEMA_IS_NUMBER : SCHEMA_MISSING;
}

struct schema_value schema_number(double number)
{
	return (struct schema_value){kind_of(number), number, NULL, 0};
}

struct schema_value schema_value(const char *words, size_t size)
{
	static const char *const missing[] = {
		"", "NA", "N/A", "n.a.", "#N/A", "nan", "inf", "infinity", "null", "?", "-", NULL};
	static const char *const yes[] = {"true", NULL}, *const no[] = {"false", NULL};
	struct schema_value value;
	double number;
	size_t sign;

	/* Nearly always, and blanks are no part of a number. */
	if (decimal_number(words, size, &number))
		return (struct schema_value){kind_of(number), number, words, size};
	for (; size && blank(*words); words++)
		size--;
	while (size && blank(words[size - 1]))
		size--;
	value = (struct schema_value){SCHEMA_IS_WORDS, 0, words, size};
	sign = size > 1 && (*words == '-' || *words == '+');
	if (decimal_number(words, size, &value.number))
		value.is = kind_of(value.number);
	else if (any_of(missing, words + sign, size - sign))
		value.is = SCHEMA_MISSING;
	else if (any_of(yes, words, size) || any_of(no, words, size))
		value = (struct schema_value){
			SCHEMA_IS_NUMBER, any_of(yes, words, size), words, size};
	return value;
}

/* What is left of a text that is read from its beginning. */
struct rest {
	const char *at, *end;
};

/* Skips one of a list's words, if the rest begins with it. */
static bool skip_one(struct rest *rest, const char *const *list)
{
	for (; *list; list++) {
		const size_t size = strlen(*list);

		if ((size_t)(rest->end - rest->at) >= size && !memcmp(rest->at, *list, size)) {
			rest->at += size;
			return true;
		}
	}
	return false;
}

static size_t skip_digits(struct rest *rest)
{
	const char *from = rest->at;

	while (rest->at < rest->end && *rest->at >= '0' && *rest->at <= '9')
		rest->at++;
	return (size_t)(rest->at - from);
}

static void copy_digits(const struct rest *rest, size_t count, char *out, size_t *used)
{
	memcpy(out + *used, rest->at - count, count);
	*used += count;
}

/* Digits, in groups of three or in one, without the marks between; false: there are none. */
static bool take_whole(struct rest *rest, const char *const *marks, char *out, size_t *used)
{
	const char *first = rest->at;
	const size_t count = skip_digits(rest);
	const bool grouped = count && count <= 3 && *first != '0';
	struct rest group;

	if (!count)
		return false;
	copy_digits(rest, count, out, used);
	for (group = *rest; grouped && skip_one(&group, marks); *rest = group) {
		if (skip_digits(&group) != 3)
			break;
		copy_digits(&group, 3, out, used);
	}
	return true;
}

/* The fraction, with a decimal point; there need not be one. */
static void take_fraction(struct rest *rest, char mark, char *out, size_t *used)
{
	struct rest digits = {rest->at + 1, rest->end};
	size_t count;

	if (rest->at == rest->end || *rest->at != mark || !(count = skip_digits(&digits)))
		return;
	out[(*used)++] = '.';
	copy_digits(&digits, count, out, used);
	*rest = digits;
}

#define NARROW_BLANK "\xe2\x80\xaf"
#define FIXED_BLANK  "\xc2\xa0"

bool schema_written_number(const struct schema_value *value, bool commas, double *number)
{
	static const char *const signs[] = {"-", "+", NULL},
				 *const blanks[] = {" ", FIXED_BLANK, NARROW_BLANK, NULL},
				 *const units[] = {"$", "€", "£", "¥", "₹", "%", NULL},
				 *const in_point[] = {",", "'", FIXED_BLANK, NARROW_BLANK, NULL},
				 *const in_comma[] = {".", "'", FIXED_BLANK, NARROW_BLANK, NULL};
	struct rest rest = {value->words, value->words + value->size};
	char point[TEXT_NUMBER];
	size_t used = 1;
	bool sign;

	if (value->is != SCHEMA_IS_WORDS || value->size + 1 >= sizeof(point))
		return false;
	*point = *rest.at == '-' ? '-' : '+';
	sign = skip_one(&rest, signs);
	if (skip_one(&rest, units)) {
		skip_one(&rest, blanks);
		if (!sign) {
			*point = rest.at < rest.end && *rest.at == '-' ? '-' : '+';
			skip_one(&rest, signs);
		}
	}
	if (!take_whole(&rest, commas ? in_comma : in_point, point, &used))
		return false;
	take_fraction(&rest, commas ? ',' : '.', point, &used);
	skip_one(&rest, blanks);
	skip_one(&rest, units);
	return rest.at == rest.end && decimal_number(point, used, number) &&
	       fabs(*number) <= (double)FLT_MAX;
}

bool schema_may_be_thousands(const struct schema_value *value)
{
	double in_point, in_comma;

	return schema_written_number(value, false, &in_point) &&
	       schema_written_number(value, true, &in_comma) && in_point != in_comma;
}

enum schema_kind schema_kind_of(const char *name, const struct schema_value *value, bool dates)
{
	enum moment_order order;
	double number;
	int words = 0;

	if (dates && schema_is_time(name, value, &order))
		return SCHEMA_TIME;
	if (value->is != SCHEMA_IS_WORDS)
		return value->is == SCHEMA_MISSING ? SCHEMA_OPEN : SCHEMA_NUMBER;
	for (size_t i = 0; i < value->size; i++)
		words += !blank(value->words[i]) && (!i || blank(value->words[i - 1]));
	if (schema_written_number(value, false, &number))
		return SCHEMA_NUMBER;
	return words >= TEXT_WORDS || value->size > TEXT_BYTES ? SCHEMA_TEXT : SCHEMA_CATEGORY;
}

/* The length of the character that begins here, within `left` bytes; 0: it is none. */
static size_t character(const char *at, size_t left)
{
	unsigned char copy[5] = {0};
	int length;

	memcpy(copy, at, left < 4 ? left : 4);
	length = *copy ? text_utf8(copy) : 0;
	return length > 0 && (size_t)length <= left ? (size_t)length : 0;
}

size_t schema_word(const char *words, size_t size, char out[SCHEMA_WORD + 1])
{
	size_t used = 0;

	for (size_t i = 0, step; i < size && used < SCHEMA_WORD; i += step ? step : 1) {
		step = character(words + i, size - i);
		if (!step) {
			out[used++] = '?';
			continue;
		}
		if (used + step > SCHEMA_WORD)
			break;
		memcpy(out + used, words + i, step);
		used += step;
	}
	out[used] = '\0';
	return used;
}

uint64_t schema_hash(const char *name, const char *words, size_t size)
{
	uint64_t hash = mark_add(mark_words(MARK_NOTHING, name), words, size);

	/* The mark's lower bits are poorly mixed. */
	hash ^= hash >> 32;
	hash *= UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static bool letter(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c >= 0x80;
}

void schema_put_text(
	const struct schema_column *column, const char *words, size_t size, float *inputs)
{
	char word[SCHEMA_WORD];

	for (size_t i = 0, used; i < size; i++) {
		for (used = 0; i < size && letter((unsigned char)words[i]); i++)
			if (used < sizeof(word))
				word[used++] = words[i] >= 'A' && words[i] <= 'Z'
						       ? (char)(words[i] - 'A' + 'a')
						       : words[i];
		if (used)
			inputs[schema_hash(column->name, word, used) % column->inputs] = 1;
	}
}

const char *schema_shown(const struct schema_value *value, char out[SCHEMA_SHOWN])
{
	char number[TEXT_NUMBER];
	const char *words = value->words;
	size_t size = value->size, i;

	if (!words) {
		if (isnan(value->number))
			strcpy(number, "nan");
		else
			text_from_double(number, value->number);
		words = number;
		size = strlen(number);
	}
	for (i = 0; i < size && i < 57; i++)
		out[i] = (unsigned char)words[i] < ' ' || words[i] == 0x7f ? '.' : words[i];
	strcpy(out + i, i < size ? "..." : "");
	return out;
}
