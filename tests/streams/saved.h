/* For tests of constants that no config sets. */
#ifndef RETAIN_TESTS_STREAMS_SAVED_H
#define RETAIN_TESTS_STREAMS_SAVED_H

#include "base/options.h"

/* Sets a key as a saved config does, which may change what are constants otherwise. */
static inline int set_as_saved(struct options *options, const char *setting, struct err *err)
{
	char key[OPTION_KEY];
	const char *value = options_split(setting, key);

	return options_put(options, key, value, ORIGIN_FOLDER, "test", err);
}

#endif
