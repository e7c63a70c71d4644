/* Accuracy by model time and data time of a group: the mean of its runs' matrices. */
#ifndef RETAIN_REPORT_GROUP_MATRIX_H
#define RETAIN_REPORT_GROUP_MATRIX_H

#include "log/run_set.h"

enum { GROUP_RANGES = 8 }; /* of data time, at most */

/* The first matrix of a group, whose form is meant below; NULL: there is none. */
const struct run_matrix *group_matrix(const struct run_set *set, int group);

/* A cell; NAN without data. */
double group_cell(
	const struct run_set *set, int group, const struct run_matrix *form, int row, int bin);

/*
 * By the last model, the mean over the bins of each range; NAN without data. Returns how many
 * ranges there are: eighths of the stream, or its bins (tasks) where these are fewer.
 */
int group_ranges(const struct run_set *set, int group, const struct run_matrix *form,
	double ranges[GROUP_RANGES]);

#endif
