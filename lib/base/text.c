/*
 * Numbers are formatted and parsed under the C locale, set for the calling thread only: an
 * embedding program may run under one that writes 0,5.
 */
#define _GNU_SOURCE 1
#include "base/text.h"

#include <ctype.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define DISTANCE_MOST 64
#define TEXT_DIGITS   20 /* of the largest whole number */

static bool text_reserve(struct text *text, size_t more)
{
	size_t capacity = text->capacity ? text->capacity : 256;
	char *data;

	if (text->failed)
		return false;
	while (capacity - text->size <= more) /* room for the final NUL too */
		if (__builtin_mul_overflow(capacity, 2, &capacity)) {
			text->failed = true;
			return false;
		}
	if (capacity == text->capacity)
		return true;
	data = mem_resize(text->data, capacity, 1);
	if (!data) {
		text->failed = true;
		return false;
	}
	text->data = data;
	text->capacity = capacity;
	return true;
}

void text_add_bytes(struct text *text, const char *bytes, size_t size)
{
	if (!text_reserve(text, size))
		return;
	memcpy(text->data + text->size, bytes, size);
	text->size += size;
	text->data[text->size] = '\0';
}

void text_add(struct text *text, const char *words)
{
	text_add_bytes(text, words, strlen(words));
}

void text_addf(struct text *text, const char *format, ...)
{
	size_t room = text->failed ? 0 : text->capacity - text->size;
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(room ? text->data + text->size : NULL, room, format, args);
	va_end(args);
	if (length < 0 || !text_reserve(text, (size_t)length)) {
		if (room)
			text->data[text->size] = '\0';
		text->failed = true;
		return;
	}
	if ((size_t)length >= room) {
		va_start(args, format);
		vsnprintf(text->data + text->size, (size_t)length + 1, format, args);
		va_end(args);
	}
	text->size += (size_t)length;
}

void text_release(struct text *text)
{
	mem_free(text->data);
	*text = (struct text){0};
}

static char *put(char *out, const char *bytes, int size)
{
	memcpy(out, bytes, (size_t)size);
	return out + size;
}

/* Columns of a terminal, as far as characters have one each. */
static int columns_of(const char *words, size_t size)
{
	int columns = 0;

	for (size_t i = 0; i < size; i++)
		columns += (words[i] & 0xc0) != 0x80;
	return columns;
}

/* A per cent sign stays with its number. */
static size_t word_size(const char *words)
{
	const size_t size = strcspn(words, " \n");

	return strncmp(words + size, " %", 2) ? size : size + 1 + strcspn(words + size + 1, " \n");
}

void text_add_wrapped(struct text *text, const char *words, int column, int indent)
{
	enum { WIDTH = 80 };
	const char *end = words; /* of the last word */

	for (words += strspn(words, " \n"); *words; words += strspn(words, " \n")) {
		const bool first = end == words, as_is = !first && end[0] == '\n' && end[1] == ' ';
		const size_t size = as_is ? strcspn(words, "\n") : word_size(words);
		const int columns = columns_of(words, size);

		if (as_is) {
			text_add_bytes(text, end, (size_t)(words - end));
		} else if (!first && column + 1 + columns > WIDTH) {
			text_addf(text, "\n%*s", indent, "");
			column = indent;
		} else if (!first) {
			text_add(text, " ");
			column++;
		}
		text_add_bytes(text, words, size);
		column = as_is ? WIDTH : column + columns;
		end = words += size;
	}
	text_add(text, "\n");
}

void text_add_field(struct text *text, const char *field)
{
	double number;
	const bool formula = text->safe && *field && strchr("=+-@\t\r", *field) &&
			     !text_to_double(field, &number);
	const bool quoted = strpbrk(field, ",\"\r\n");

	text_add(text, quoted ? "\"" : "");
	text_add(text, formula ? "'" : "");
	for (size_t plain; *field; field += plain) {
		plain = strcspn(field, "\"");
		text_add_bytes(text, field, plain);
		if (field[plain]) {
			text_add(text, "\"\"");
			plain++;
		}
	}
	text_add(text, quoted ? "\"" : "");
}

/* The digits of a whole number, of which there are so many; not ended. */
static int put_digits(char out[TEXT_DIGITS], uint64_t whole)
{
	int at = TEXT_DIGITS;

	do
		out[--at] = (char)('0' + whole % 10);
	while (whole /= 10);
	memmove(out, out + at, (size_t)(TEXT_DIGITS - at));
	return TEXT_DIGITS - at;
}

void text_add_whole(struct text *text, int64_t number)
{
	char digits[TEXT_DIGITS];
	const uint64_t size = number < 0 ? -(uint64_t)number : (uint64_t)number;

	if (number < 0)
		text_add_bytes(text, "-", 1);
	text_add_bytes(text, digits, (size_t)put_digits(digits, size));
}

/* glibc's C locale is static: asking for it neither allocates nor fails. */
static locale_t c_locale(void)
{
	return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/*
 * Digits with a point before the last `places` of them, or with an exponent, as printf's %g has
 * it.
 */
static bool put_decimal(char *out, uint64_t whole, int places)
{
	enum { FEW = 5, LEAST = -4 }; /* 1e+05 is shorter than 100000; 0.0001 has no exponent */
	char digits[TEXT_DIGITS];
	const int n = put_digits(digits, whole);
	const int exponent = n - 1 - places, before = n - places;

	if (whole % 10 == 0 && (places || n > FEW))
		return false;
	if (!places) {
		out = put(out, digits, n);
	} else if (exponent < LEAST) {
		out = put(out, digits, 1);
		out = put(out, ".", n > 1);
		out = put(out, digits + 1, n - 1);
		out = put(out, "e-", 2);
		out = put(
			out, (char[]){(char)('0' - exponent / 10), (char)('0' - exponent % 10)}, 2);
	} else if (before <= 0) {
		out = put(put(out, "0.000", 2 - before), digits, n);
	} else {
		out = put(out, digits, before);
		out = put(put(out, ".", 1), digits + before, places);
	}
	*out = '\0';
	return true;
}

/*
 * Most numbers that are written have few digits: they are whole / 10^places. Both are exact, so
 * their quotient is rounded as reading the decimal is. Up to 15 digits name one double each, so
 * printf would come to the same ones.
 */
static bool plain_double(char out[TEXT_NUMBER], double number)
{
	static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
		1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
	const double size = fabs(number);

	if (signbit(number))
		*out++ = '-';
	if (size == 0) {
		memcpy(out, "0", 2);
		return true;
	}
	for (int places = 0; places < (int)(sizeof(powers) / sizeof(*powers)); places++) {
		const double scaled = size * powers[places] + 0.5;
		uint64_t whole;

		if (!(scaled < 1e15))
			return false;
		whole = (uint64_t)scaled;
		if ((double)whole / powers[places] == size)
			return put_decimal(out, whole, places);
	}
	return false;
}

void text_from_double(char out[TEXT_NUMBER], double number)
{
	locale_t before;
	char tried[TEXT_NUMBER];

	if (plain_double(out, number))
		return;
	before = uselocale(c_locale());
	out[0] = '\0';
	/* Fewest digits is not always shortest: 1e+02, 100. */
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(tried, sizeof(tried), "%.*g", digits, number);
		if (strtod(tried, NULL) == number && (!*out || strlen(tried) <= strlen(out)))
			memcpy(out, tried, sizeof(tried));
	}
	uselocale(before);
}

/* 6 digits are never too many; 9 always tell. */
void text_from_float(char out[TEXT_NUMBER], float number)
{
	const locale_t before = uselocale(c_locale());
	char tried[2 * TEXT_NUMBER];

	for (int digits = 6; digits <= 9; digits++) {
		snprintf(tried, sizeof(tried), "%.*g", digits, (double)number);
		if (strtof(tried, NULL) == number)
			break;
	}
	uselocale(before);
	memcpy(out, tried, TEXT_NUMBER);
}

bool text_to_double(const char *words, double *number)
{
	locale_t before = uselocale(c_locale());
	char *end;

	*number = strtod(words, &end);
	uselocale(before);
	return end != words && *end == '\0' && !isspace((unsigned char)*words);
}

static int least(int a, int b)
{
	return a < b ? a : b;
}

int text_distance(const char *a, const char *b)
{
	/* Row i % 3 holds the distances of a's first i characters to every beginning of b; a swap
	 * looks two rows back. */
	int rows[3][DISTANCE_MOST];
	size_t m = strlen(a), n = strlen(b);

	if (m >= DISTANCE_MOST || n >= DISTANCE_MOST)
		return INT_MAX;
	for (size_t j = 0; j <= n; j++)
		rows[0][j] = (int)j;
	for (size_t i = 1; i <= m; i++) {
		int *row = rows[i % 3], *above = rows[(i - 1) % 3], *second = rows[(i + 1) % 3];

		row[0] = (int)i;
		for (size_t j = 1; j <= n; j++) {
			int changed = above[j - 1] + (a[i - 1] != b[j - 1]);

			row[j] = least(changed, 1 + least(above[j], row[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], 1 + second[j - 2]);
		}
	}
	return rows[m % 3][n];
}

int text_utf8(const unsigned char *at)
{
	static const struct {
		unsigned char first, last; /* of the leading byte */
		unsigned char low, high;   /* of the second byte */
		int length;
	} forms[] = {
		{0x00, 0x7f, 0, 0, 1},
		{0xc2, 0xdf, 0x80, 0xbf, 2},
		{0xe0, 0xe0, 0xa0, 0xbf, 3},
		{0xe1, 0xec, 0x80, 0xbf, 3},
		{0xed, 0xed, 0x80, 0x9f, 3},
		{0xee, 0xef, 0x80, 0xbf, 3},
		{0xf0, 0xf0, 0x90, 0xbf, 4},
		{0xf1, 0xf3, 0x80, 0xbf, 4},
		{0xf4, 0xf4, 0x80, 0x8f, 4},
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (*at < forms[i].first || *at > forms[i].last)
			continue;
		if (forms[i].length > 1 && (at[1] < forms[i].low || at[1] > forms[i].high))
			return 0;
		for (int k = 2; k < forms[i].length; k++)
			if ((at[k] & 0xc0) != 0x80)
				return 0;
		return forms[i].length;
	}
	return 0;
}

bool text_is_utf8(const char *words)
{
	int length;

	for (; *words; words += length) {
		length = text_utf8((const unsigned char *)words);
		if (!length)
			return false;
	}
	return true;
}

void text_tame(char *words)
{
	const unsigned char *at = (const unsigned char *)words;
	char *out = words;

	while (*at) {
		const int length = text_utf8(at);
		const bool control = (*at < ' ' && *at != '\n' && *at != '\t') || *at == 0x7f ||
				     (*at >= 0x80 && *at < 0xa0) || (*at == 0xc2 && at[1] < 0xa0);
		const size_t bytes = length ? (size_t)length : 1;

		if (control)
			*out++ = '?';
		else
			memmove(out, at, bytes);
		out += control ? 0 : bytes;
		at += bytes;
	}
	*out = '\0';
}
