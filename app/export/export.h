/*
 * What the journal of a folder holds, for people and other programs: inputs, what was predicted
 * before the label came, labels, ids and times. It is read as it is at one moment; a process may
 * go on working in the folder. Memory does not grow with the journal.
 *
 * Formats are rows of export_formats:
 *
 *	ndjson  a line for each sample, which is also a line of a live stream (live/live_line.h)
 *	csv     a row for each, below a heading
 *	npz     arrays for NumPy
 *
 * Inputs that still wait for their labels come last, without a label.
 */
#ifndef RETAIN_EXPORT_EXPORT_H
#define RETAIN_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

struct export_wish {
	const char *folder;
	const char *since,
		*until;     /* dates, or seconds since 1970; NULL: from the first, to the last */
	const char *format; /* NULL: by the ending of `out`, else ndjson */
	const char *out;    /* NULL: `to` */
	FILE *to;
	bool bare; /* csv: labels and inputs, of samples that have both: a table to learn again */
};

/* What it came to, and what is missing. */
struct export_result {
	int64_t samples, waiting; /* written */
	int64_t gone;             /* samples that no pool holds any more */
	int64_t timeless;         /* written, or left out if a time was asked for: unknown when */
	int64_t nameless;         /* written without an id */
	int64_t columns;          /* of inputs that are hashes, and cannot be given back */
	int labels;               /* of a sample, and ... */
	const char *target;       /* ... what they are: "class" or "number" */
};

/* ERR_INPUT: the wish cannot be granted, or the folder has no journal. */
int export_run(const struct export_wish *wish, struct export_result *result, struct err *err);

/* The names of the formats, for a sentence. */
#define EXPORT_FORMATS "ndjson, csv, npz"

#endif
