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

/* The digits before and after the one comma of 12,5; 0: these are other words. */
static size_t around_comma(const struct schema_value *value, size_t *before)
{
	size_t after = 0, commas = 0;

	*before = 0;
	for (size_t i = 0; i < value->size; i++) {
		const char c = value->words[i];

		if (c == ',')
			commas++;
		else if (c >= '0' && c <= '9')
			commas ? after++ : ++*before;
		else if (i || (c != '-' && c != '+'))
			return 0;
	}
	return commas == 1 && *before ? after : 0;
}

bool schema_comma_number(const struct schema_value *value, double *number)
{
	char point[TEXT_NUMBER];
	size_t before;

	if (value->is != SCHEMA_IS_WORDS || value->size >= sizeof(point) ||
		!around_comma(value, &before))
		return false;
	for (size_t i = 0; i < value->size; i++)
		point[i] = value->words[i] == ',' ? '.' : value->words[i];
	return decimal_number(point, value->size, number) && fabs(*number) <= (double)FLT_MAX;
}

bool schema_may_be_thousands(const struct schema_value *value)
{
	const size_t sign = value->size && (*value->words == '-' || *value->words == '+');
	size_t before;

	return around_comma(value, &before) == 3 && before <= 3 && value->words[sign] != '0';
}

enum schema_kind schema_kind_of(const char *name, const struct schema_value *value, bool dates)
{
	enum moment_order order;
	int words = 0;

	if (dates && schema_is_time(name, value, &order))
		return SCHEMA_TIME;
	if (value->is != SCHEMA_IS_WORDS)
		return value->is == SCHEMA_MISSING ? SCHEMA_OPEN : SCHEMA_NUMBER;
	for (size_t i = 0; i < value->size; i++)
		words += !blank(value->words[i]) && (!i || blank(value->words[i - 1]));
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
