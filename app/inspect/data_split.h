/* Cuts of a data set, written down as manifests that anyone can read. */
#ifndef RETAIN_INSPECT_DATA_SPLIT_H
#define RETAIN_INSPECT_DATA_SPLIT_H

#include <stdint.h>

#include "base/err.h"
#include "base/options.h"

/* How many records each manifest has. */
struct data_split {
	int64_t stream, eval, prepare;
	int64_t without_class; /* records that are in none */
};

/*
 * Writes FOLDER/stream.csv, FOLDER/eval.csv and, where something is cut off for
 * it, FOLDER/prepare.csv: path, label, time, in the order of the stream, as
 * stream.order, eval, prepare, min_class and limit say. Where records have no
 * times, time counts them. Existing files are replaced, each whole or not at all.
 */
int data_split(struct data_split *split, const struct options *options, const char *folder,
	struct err *err);

#endif
