/* A contact sheet: samples of a stream in the order of time, with their labels, as a PNG. */
#ifndef RETAIN_INSPECT_DATA_SHEET_H
#define RETAIN_INSPECT_DATA_SHEET_H

#include "base/err.h"
#include "base/options.h"
#include "base/text.h"

struct sheet_config {
	int columns, rows;
	int size;         /* pixels a side of a sample on the sheet, at least 16 */
	const char *path; /* of the PNG */
};

/*
 * Samples are spread evenly over the stream that stream.source names, row by row, each once;
 * *shown becomes their number. For data sets the keys image.mean and image.std should be 0 and 1,
 * to get true colours; synthetic pictures are stretched to the full range. Skipped files of the
 * data set are named in left_out (records.h). Rows of numbers are drawn as bars. Any other source
 * is an error (ERR_INPUT).
 */
int data_sheet(const struct sheet_config *config, const struct options *options, int *shown,
	struct text *left_out, struct err *err);

#endif
