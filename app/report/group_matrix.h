/* Accuracy by model time and data time for a group: the mean of its runs' matrices. */
#ifndef RETAIN_REPORT_GROUP_MATRIX_H
#define RETAIN_REPORT_GROUP_MATRIX_H

#include "log/run_set.h"

enum { GROUP_RANGES = 8 }; /* of data time, at most */

/* The first matrix of a group, whose form applies below; NULL: none. */
const struct run_matrix *group_matrix(const struct run_set *set, int group);

/* A cell; NAN without data. */
double group_cell(
	const struct run_set *set, int group, const struct run_matrix *form, int row, int bin);

/*
 * The mean over the bins of each range for the model at a share of the run, 1 being its end; NAN
 * without data. Returns the number of ranges: eighths of the stream, or its bins (tasks) if these
 * are fewer.
 */
int group_ranges(const struct run_set *set, int group, const struct run_matrix *form, double share,
	double ranges[GROUP_RANGES]);

#endif
