/* Writes the split of a data set as manifests. */
#ifndef RETAIN_INSPECT_DATA_SPLIT_H
#define RETAIN_INSPECT_DATA_SPLIT_H

#include <stdint.h>

#include "base/err.h"
#include "base/options.h"

/* The number of records of each manifest. */
struct data_split {
	int64_t stream, eval, prepare;
	int64_t without_class; /* records that are in none */
};

/*
 * Writes FOLDER/stream.csv, FOLDER/eval.csv and, if it is not empty, FOLDER/prepare.csv: path,
 * label, time, in the order of the stream, by stream.order, eval, prepare, min_class and limit.
 * If records have no times, time is a counter. Existing files are replaced, each atomically.
 */
int data_split(struct data_split *split, const struct options *options, const char *folder,
	struct err *err);

#endif
