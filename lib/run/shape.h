/* What a learner learns, where no source says it: model.classes and model.input. */
#ifndef RETAIN_RUN_SHAPE_H
#define RETAIN_RUN_SHAPE_H

#include "base/err.h"
#include "base/options.h"

/* The two keys' rows. Ends with a row without a section. */
extern const struct option_row shape_options[];

/* model.input is "32" for vectors or "3,32,32": channels, height, width. */
int shape_read(const struct options *options, int *classes, int *channels, int *height, int *width,
	struct err *err);

#endif
