/* Most numbers are plain: they need no copy, no locale and no strtod. */
#include "base/words/decimal.h"

#include <float.h>
#include <string.h>

#include "base/text.h"

/* Exact decimals of doubles have up to 1077 bytes. */
enum { SIZE_MOST = 1100 };

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

bool decimal_whole(const char *text, size_t size, int64_t *number)
{
	const bool minus = size && *text == '-';
	size_t i = size && (*text == '-' || *text == '+');
	int64_t sum = 0;

	if (i == size)
		return false;
	for (; i < size; i++) {
		if (!digit(text[i]) || __builtin_mul_overflow(sum, 10, &sum) ||
			__builtin_sub_overflow(sum, text[i] - '0', &sum))
			return false;
	}
	/* Summed below zero, where there is one more number. */
	if (!minus && sum == INT64_MIN)
		return false;
	*number = minus ? sum : -sum;
	return true;
}

/* The double that is nearest to sum / 10^places; false: not to be known this way. */
static bool quotient(int64_t sum, size_t places, double *number)
{
#if LDBL_MANT_DIG == 64
	static const long double powers[] = {1, 1e1L, 1e2L, 1e3L, 1e4L, 1e5L, 1e6L, 1e7L, 1e8L,
		1e9L, 1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L};
	static const double exact_powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
		1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
	long double exact;
	uint64_t bits;

	/* Both are doubles, and their quotient is rounded once: the usual case, and a quick one. */
	if (sum <= INT64_C(1) << DBL_MANT_DIG) {
		*number = (double)sum / exact_powers[places];
		return true;
	}
	exact = (long double)sum / powers[places];
	/* Rounded twice is rounded wrongly only half-way between two doubles. */
	memcpy(&bits, &exact, sizeof(bits));
	*number = (double)exact;
	return (bits & 0x7ff) != 0x400;
#else
	static const double powers[] = {
		1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

	if (sum > INT64_C(999999999999999) || places > 15)
		return false;
	*number = (double)sum / powers[places];
	return true;
#endif
}

/* The digits from `at` on are added to the sum; returns where they end. */
static inline size_t take_digits(const char *text, size_t at, size_t size, uint64_t *sum)
{
	for (; at < size && digit(text[at]); at++)
		*sum = *sum * 10 + (uint64_t)(text[at] - '0');
	return at;
}

/*
 * Up to 18 digits with a point among them, as most numbers in files are: both whole
 * numbers are exact, and their quotient is rounded as strtod's is.
 */
static bool plain_number(const char *text, size_t size, double *number)
{
	enum { DIGITS = 18 };
	const size_t sign = size && *text == '-';
	uint64_t sum = 0;
	const size_t whole = take_digits(text, sign, size, &sum);
	const size_t point = whole < size && text[whole] == '.';
	const size_t end = point ? take_digits(text, whole + 1, size, &sum) : whole;
	const size_t digits = end - sign - point;

	if (end < size || !digits || digits > DIGITS ||
		!quotient((int64_t)sum, point ? end - whole - 1 : 0, number))
		return false;
	if (sign)
		*number = -*number;
	return true;
}

/* Whether bytes are written as decimal.h says a number is. */
static bool is_number(const char *text, size_t size)
{
	size_t i = size && (*text == '-' || *text == '+'), digits = 0, from;

	for (bool point = false; i < size && (digit(text[i]) || (text[i] == '.' && !point)); i++) {
		point |= text[i] == '.';
		digits += text[i] != '.';
	}
	if (i == size || !digits)
		return digits;
	if (text[i] != 'e' && text[i] != 'E')
		return false;
	i++;
	i += i < size && (text[i] == '-' || text[i] == '+');
	for (from = i; i < size && digit(text[i]); i++)
		;
	return i == size && i > from;
}

bool decimal_number(const char *text, size_t size, double *number)
{
	char copy[SIZE_MOST];

	if (plain_number(text, size, number))
		return true;
	if (size >= sizeof(copy) || !is_number(text, size))
		return false;
	memcpy(copy, text, size);
	copy[size] = '\0';
	return text_to_double(copy, number);
}
