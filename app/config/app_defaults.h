/* Defaults of unset keys, derived by inspecting the data that stream.source names. */
#ifndef RETAIN_CONFIG_APP_DEFAULTS_H
#define RETAIN_CONFIG_APP_DEFAULTS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/options.h"

/*
 * Fills in defaults derived from the data (session/config/defaults.h): whether they are rows or
 * pictures, how large these are, whether they have an order. Built-in streams are left alone, and
 * so are unreadable data; opening them later reports the error.
 */
int app_defaults(struct options *options, struct err *err);

/*
 * Whether an argument in the place of a config is data to learn from: "-" is standard input, a
 * config is an .ini file or a run folder, and anything that looks like records is records.
 */
bool app_is_data(const char *path);

#endif
