/*
 * The configuration of the command: the library's keys (session/config/config.h) and those of
 * streams, of runs over stored data and of live streams.
 */
#ifndef RETAIN_CONFIG_APP_CONFIG_H
#define RETAIN_CONFIG_APP_CONFIG_H

#include "session/config/config.h"

extern const struct config_scope app_scope;

/* A key and its value; NULL value: the key is left unchanged. */
struct setting {
	const char *key, *value;
};

/*
 * Options, for options_free, from a file or run folder (NULL: none), from settings that end with
 * a row without a key (NULL: none) and from `count` strings "section.key=value".
 */
int app_config_make(struct options **options, const char *file, const struct setting *settings,
	const char *const *words, int count, struct err *err);

/* Values of stream.preset; ends with a row without a name. */
extern const struct bundle presets[];

#endif
