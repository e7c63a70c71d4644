/*
 * Figures of accuracy by data time: ranges at the end, and maps. A group is the mean of its runs.
 */
#include <math.h>

#include "report/figure_impl.h"
#include "report/group_matrix.h"
#include "report/plot.h"

int figure_ranges(
	struct text *out, const struct run_set *set, const struct figure *figure, struct err *err)
{
	struct {
		double x[GROUP_RANGES], y[GROUP_RANGES];
	} *ranges = mem_new((size_t)set->group_count, sizeof(*ranges));
	struct plot_line *lines = mem_new((size_t)set->group_count, sizeof(*lines));
	struct plot plot = {.width = PANEL_WIDTH,
		.height = PANEL_HEIGHT,
		.title = figure->share > 0 ? "Accuracy by time range, at half of the run"
					   : "Accuracy by time range, at the end",
		.x_label = "time of the data, share of the stream",
		.y_label = "accuracy, %",
		.x_most = 1,
		.percent_x = true,
		.from_zero = true,
		.accuracy = true,
		.level = NAN,
		.lines = lines};

	if (!ranges || !lines) {
		mem_free(ranges);
		mem_free(lines);
		return err_memory(err, "a figure", (size_t)set->group_count * sizeof(*ranges));
	}
	for (int group = 0; group < set->group_count; group++) {
		const struct run_matrix *matrix = group_matrix(set, group);
		double *x = ranges[group].x, *y = ranges[group].y;
		int parts;

		if (!matrix)
			continue;
		parts = group_ranges(set, group, matrix, figure->share > 0 ? figure->share : 1, y);
		for (int k = 0; k < parts; k++) {
			x[k] = (k + 0.5) / parts;
			y[k] *= 100;
		}
		lines[plot.line_count++] =
			(struct plot_line){.x = x, .y = y, .count = parts, .colour = group};
	}
	plot_begin(out, PANEL_WIDTH,
		PANEL_HEIGHT + figure_legend(NULL, set, PANEL_HEIGHT, PANEL_WIDTH) + 6, plot.title);
	plot_panel(out, &plot);
	figure_legend(out, set, PANEL_HEIGHT, PANEL_WIDTH);
	plot_end(out);
	mem_free(ranges);
	mem_free(lines);
	return plot.line_count ? 0 : figure_nothing(figure, err);
}

static double best_cell(const struct run_set *set)
{
	double best = 0;

	for (int i = 0; i < set->count; i++) {
		const struct run_matrix *matrix = &set->entries[i].log->matrix;

		for (size_t k = 0; k < (size_t)matrix->rows * (size_t)matrix->bins; k++)
			best = fmax(best, isnan(matrix->cells[k]) ? 0 : matrix->cells[k]);
	}
	return best > 0 ? best : 1;
}

static int draw_matrix(struct text *out, const struct run_set *set, int group, int place,
	double most, struct err *err)
{
	const struct run_matrix *matrix = group_matrix(set, group);
	const size_t bins = (size_t)matrix->bins;
	double *cells = mem_new((size_t)matrix->rows * bins, sizeof(*cells));

	if (!cells)
		return err_memory(err, "a figure", (size_t)matrix->rows * bins * sizeof(*cells));
	for (int row = 0; row < matrix->rows; row++)
		for (int bin = 0; bin < matrix->bins; bin++)
			cells[(size_t)row * bins + (size_t)bin] =
				group_cell(set, group, matrix, row, bin);
	plot_map(out, &(struct plot_map){.left = place % 2 * SMALL_WIDTH,
			      .top = place / 2 * SMALL_HEIGHT,
			      .width = SMALL_WIDTH,
			      .height = SMALL_HEIGHT,
			      .title = set->groups[group].name,
			      .rows = matrix->rows,
			      .columns = matrix->bins,
			      .cells = cells,
			      .now = matrix->seen,
			      .most = most});
	mem_free(cells);
	return 0;
}

int figure_matrix(
	struct text *out, const struct run_set *set, const struct figure *figure, struct err *err)
{
	const double most = best_cell(set);
	int count = 0, code = 0, place = 0;

	for (int group = 0; group < set->group_count; group++)
		count += group_matrix(set, group) != NULL;
	if (!count)
		return figure_nothing(figure, err);
	plot_begin(out, count > 1 ? 2 * SMALL_WIDTH : SMALL_WIDTH, SMALL_HEIGHT * ((count + 1) / 2),
		"Accuracy by model time and data time");
	for (int group = 0; group < set->group_count && !code; group++)
		if (group_matrix(set, group))
			code = draw_matrix(out, set, group, place++, most, err);
	plot_end(out);
	return code;
}
