/*
 * What reading a config file needs of options.c beyond the public functions:
 * telling a key that stands twice in one file from one that two files set.
 */
#ifndef RETAIN_BASE_OPTIONS_SET_H
#define RETAIN_BASE_OPTIONS_SET_H

#include "base/options.h"

/* Announces one more file and returns its number. */
unsigned options_reading(struct options *options);

/* options_set, but an error if the same file has set the key before. */
int options_set_line(struct options *options, unsigned reading, int line, const char *key,
	const char *value, const char *source, struct err *err);

#endif
