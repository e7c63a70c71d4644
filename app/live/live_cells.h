/* Interprets the cells of a row, for line formats with separated fields. */
#ifndef RETAIN_LIVE_LIVE_CELLS_H
#define RETAIN_LIVE_LIVE_CELLS_H

#include "formats/csv.h"
#include "live/live_line.h"

/* Splits a line without its newline into trimmed cells; returns the count, or a code of csv_row. */
int live_cells(const char *bytes, size_t size, char separator, struct csv_field *cells, int most);

/* An id: an integer in JSON syntax is a number; anything else is text. */
int live_cell_id(
	const struct csv_field *cell, const char *where, struct event *line, struct err *err);

/* A label that is a number; a class by its name, and by its number. */
int live_cell_value(const struct csv_field *cell, const struct live_line_shape *shape,
	const char *where, float *label, struct err *err);
int live_cell_name(const struct csv_field *cell, const struct live_line_shape *shape,
	const char *where, struct event *line, struct err *err);
int live_cell_number(const struct csv_field *cell, const struct live_line_shape *shape,
	const char *where, struct event *line, struct err *err);

/*
 * Learns the cells of a row and encodes its input, or does neither. columns[i] is the column of
 * the shape's schema for cell i; negative: none.
 */
int live_cells_input(const struct csv_field *cells, int n, const int *columns,
	const struct live_line_shape *shape, const char *where, float *input, struct err *err);

#endif
