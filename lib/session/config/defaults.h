/*
 * Defaults of unset keys, derived from the inputs: rows of numbers or pictures. They are the same
 * for a file, a pipe and a program (docs/reference/defaults.md gives the reasons). Built-in
 * streams have presets instead.
 *
 * A key is left alone if the user set it, or set one that conflicts with it: with run.iterations
 * set, run.step_epochs is not needed, and if single keys make up a method, the others have the
 * paper's values.
 */
#ifndef RETAIN_SESSION_CONFIG_DEFAULTS_H
#define RETAIN_SESSION_CONFIG_DEFAULTS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/options.h"

/* Numbers are the targets of rows, whatever kind is passed. */
enum defaults_kind { DEFAULTS_ROWS, DEFAULTS_PICTURES, DEFAULTS_LARGE_PICTURES, DEFAULTS_NUMBERS };
enum { DEFAULTS_SMALL = 96 }; /* pixels a side; larger pictures are large */

/* From the larger of a picture's height and width; from the value of model.input. */
enum defaults_kind defaults_of_pictures(int side);
enum defaults_kind defaults_of_input(const char *input);

/* Whether anything is left to fill in; if not, the data need not be inspected. */
bool defaults_wanted(const struct options *options);

/* held: hold out some samples to measure retention, even with methods that hold out none. */
int defaults_fill(struct options *options, enum defaults_kind kind, bool held, struct err *err);

/* Sets a key that the user did not set, with the data as its origin; an unknown key is ignored. */
int defaults_set(struct options *options, const char *key, const char *value, struct err *err);

#endif
