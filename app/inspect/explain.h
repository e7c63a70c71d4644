/*
 * Which columns of a stream matter, now and over time. A stored run is made once more, in memory;
 * before a time step is learned, one of its samples is asked about again for each column, with
 * that column's value taken from another recent sample. What answers lose by that is what the
 * column is worth: accuracy of classes, mean absolute error of numbers. All answers are given
 * before the label, and the run is not changed by them.
 *
 * Several numbers are each measured in their own spread.
 */
#ifndef RETAIN_INSPECT_EXPLAIN_H
#define RETAIN_INSPECT_EXPLAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json_write.h"
#include "base/text.h"
#include "stored/stored.h"

enum { EXPLAIN_RANGES = 50 }; /* at most */

struct explain_config {
	int ranges;       /* of the stream, of as many time steps each; the last is now */
	int rows;         /* samples of each range to ask about; 0: by the number of columns */
	uint64_t seed;    /* of whose values are taken */
	const char *data; /* what is explained, for messages; borrowed */
};

struct explain;
int explain_new(struct explain **explain, const struct explain_config *config, struct err *err);
void explain_free(struct explain *explain);

/* The look for stored_set_probe; its context is the struct explain. */
int explain_look(void *explain, const struct stored_view *view, struct err *err);

/* Samples asked about so far. */
int64_t explain_asked(const struct explain *explain);

/* A table of the `most` worthiest columns; all of them as one line of JSON. */
void explain_text(const struct explain *explain, int most, struct text *out);
void explain_json(const struct explain *explain, struct jwriter *json);

#endif
