/* What keys are where nobody set them, by a look at the data that stream.source names. */
#ifndef RETAIN_CONFIG_APP_DEFAULTS_H
#define RETAIN_CONFIG_APP_DEFAULTS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/options.h"

/*
 * Fills in what follows from the data (session/defaults.h): whether they are rows or pictures,
 * how large these are, whether they have an order. Built-in streams are left alone. Data
 * that cannot be read are, too; opening them later says why.
 */
int app_defaults(struct options *options, struct err *err);

/*
 * Whether a word in the place of a config is data to learn from: "-" is standard input, a
 * config is an .ini file or the folder of a run, and what looks like records is records.
 */
bool app_is_data(const char *path);

#endif
