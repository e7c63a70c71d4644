/*
 * The shape of inputs and targets where no source defines it: model.classes and model.input.
 * Either may be auto: classes then grow with the labels, and the first input gives the input's
 * size.
 */
#ifndef RETAIN_SESSION_CONFIG_SHAPE_H
#define RETAIN_SESSION_CONFIG_SHAPE_H

#include "base/err.h"
#include "base/options.h"
#include "learn/learner.h"

/* The keys' rows. Ends with a row without a section. */
extern const struct option_row shape_options[];

/*
 * Fills in classes, classes_most, channels, height and width; all else is 0. model.input is
 * "32" for vectors or "3,32,32": channels, height, width. auto: 0, 1, 1.
 */
int shape_read(const struct options *options, struct learner_config *config, struct err *err);

#endif
