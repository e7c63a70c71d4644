/*
 * Numbers are formatted and read under the C locale, set for the calling
 * thread only: an embedding program may well run under one that writes 0,5.
 */
#define _GNU_SOURCE 1
#include "base/text.h"

#include <ctype.h>
#include <limits.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define DISTANCE_MOST 64

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
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (length < 0 || !text_reserve(text, (size_t)length)) {
		text->failed = true;
		return;
	}
	va_start(args, format);
	vsnprintf(text->data + text->size, (size_t)length + 1, format, args);
	va_end(args);
	text->size += (size_t)length;
}

void text_release(struct text *text)
{
	mem_free(text->data);
	*text = (struct text){0};
}

/* glibc's C locale is static: asking for it neither allocates nor fails. */
static locale_t c_locale(void)
{
	return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

void text_from_double(char out[TEXT_NUMBER], double number)
{
	locale_t before = uselocale(c_locale());
	char tried[TEXT_NUMBER];

	out[0] = '\0';
	/* Fewest digits is not always shortest: 1e+02, 100. */
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(tried, sizeof(tried), "%.*g", digits, number);
		if (strtod(tried, NULL) == number && (!*out || strlen(tried) <= strlen(out)))
			memcpy(out, tried, sizeof(tried));
	}
	uselocale(before);
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
