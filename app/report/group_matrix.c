/* Runs whose matrices differ in form from the group's first are ignored. */
#include "report/group_matrix.h"

#include <math.h>

double group_cell(
	const struct run_set *set, int group, const struct run_matrix *form, int row, int bin)
{
	double sum = 0;
	int count = 0;

	for (int i = 0; i < set->count; i++) {
		const struct run_matrix *matrix = &set->entries[i].log->matrix;
		double cell;

		if (set->entries[i].group != group || matrix->rows != form->rows ||
			matrix->bins != form->bins)
			continue;
		cell = matrix->cells[(size_t)row * (size_t)matrix->bins + (size_t)bin];
		if (!isnan(cell)) {
			sum += cell;
			count++;
		}
	}
	return count ? sum / count : NAN;
}

const struct run_matrix *group_matrix(const struct run_set *set, int group)
{
	for (int i = 0; i < set->count; i++)
		if (set->entries[i].group == group && set->entries[i].log->matrix.rows)
			return &set->entries[i].log->matrix;
	return NULL;
}

int group_ranges(const struct run_set *set, int group, const struct run_matrix *form, double share,
	double ranges[GROUP_RANGES])
{
	const int row = (int)ceil(share * form->rows) - 1;
	const int parts = form->bins < GROUP_RANGES ? form->bins : GROUP_RANGES;

	for (int k = 0; k < parts; k++) {
		const int first = (int)lrint((double)k * form->bins / parts);
		const int end = (int)lrint((double)(k + 1) * form->bins / parts);
		double sum = 0;
		int count = 0;

		for (int bin = first; bin < end; bin++) {
			const double cell = group_cell(set, group, form, row, bin);

			if (!isnan(cell)) {
				sum += cell;
				count++;
			}
		}
		ranges[k] = count ? sum / count : NAN;
	}
	return parts;
}
