/*
 * The transform (images/transform.h) of a data set's records to inputs, chosen by the records and
 * by the keys of section image. Records that are plain numbers are not transformed.
 *
 * A view is immutable; every thread has its own scratch.
 */
#ifndef RETAIN_STREAMS_VIEW_H
#define RETAIN_STREAMS_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json_write.h"
#include "base/options.h"
#include "records/records.h"
#include "images/transform.h"

struct view {
	int channels, height, width; /* of an input */
	bool augments;               /* training differs from evaluation */
	const char *kind;            /* of the transform; NULL: records are numbers */
	struct records_info record;
	struct transform transform; /* of images and pixels */
};

/* Reads the options for such records; run.seed determines the randomness. */
int view_init(struct view *view, const struct records_info *info, const struct options *options,
	struct err *err);

/* A record's input, for a place in training or, with NULL, for evaluation. */
int view_input(const struct view *view, struct transform_scratch *scratch,
	const struct record_bytes *bytes, const struct transform_place *place, float *out,
	struct err *err);

/*
 * The same keys as JSON, so that others can transform images in this way: {"size": 32,
 * "transform": "pad", …}.
 */
void view_write(const struct view *view, struct jwriter *json, const char *name);

/* image.* keys. Ends with a row without a section. */
extern const struct option_row view_options[];

#endif
