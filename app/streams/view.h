/*
 * How the records of a data set are seen: which transform (images/transform.h)
 * takes their bytes to inputs, chosen by what the records are and by the keys of
 * the section image. Records that are numbers already are taken as they are.
 *
 * A view is constant once made; every thread has a scratch of its own.
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

/* What the options say for such records; run.seed decides what is random. */
int view_init(struct view *view, const struct records_info *info, const struct options *options,
	struct err *err);

/* A record's input, for a place in training or, with NULL, for evaluation. */
int view_input(const struct view *view, struct transform_scratch *scratch,
	const struct record_bytes *bytes, const struct transform_place *place, float *out,
	struct err *err);

/*
 * The same keys as JSON, so that others see images in this way: {"size": 32, "transform": "pad",
 * …}.
 */
void view_write(const struct view *view, struct jwriter *json, const char *name);

/* image.* keys. Ends with a row without a section. */
extern const struct option_row view_options[];

#endif
