/*
 * What a row's type means: reading a value from words, writing it back, and
 * saying what would be right. For options.c alone.
 */
#ifndef RETAIN_BASE_OPTIONS_VALUE_H
#define RETAIN_BASE_OPTIONS_VALUE_H

#include "base/options.h"

struct option_value {
	int64_t whole; /* bool, int, int64, and a choice's place in `allowed` */
	double number; /* float; NAN: the word that the row allows */
	bool word;     /* int, int64: the word that the row allows; `whole` is 0 */
};

/* Whether `allowed` can be understood and fits the type. */
bool option_row_valid(const struct option_row *row);

/* False if the words are not a value that the row allows. They must have no blanks around them. */
bool option_value_parse(
	const struct option_row *row, const char *words, struct option_value *value);

/* The value as a config file writes it. NULL: texts, choices and a number's word, which are written
 * as the words they were parsed from. */
const char *option_value_print(
	const struct option_row *row, const struct option_value *value, char out[TEXT_NUMBER]);

/* "a whole number in [1, 64]", "one of sgd | adam", ... */
void option_row_describe(const struct option_row *row, char *out, size_t size);

#endif
