/*
 * The configuration of the command: the library's keys (run/config.h) and those of
 * streams, of runs over stored data and of live streams.
 */
#ifndef RETAIN_CONFIG_APP_CONFIG_H
#define RETAIN_CONFIG_APP_CONFIG_H

#include "run/config.h"

extern const struct config_scope app_scope;

/* What stream.preset may name; ends with a row without a name. */
extern const struct bundle presets[];

#endif
