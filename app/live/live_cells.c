/* Ids, labels and inputs from cells: shared by lines of CSV and rows of a table. */
#include "live/live_cells.h"

#include <math.h>
#include <string.h>

#include "base/words/decimal.h"
#include "live/live_table.h"
#include "records/table_plan.h"
#include "schema/schema.h"

int live_cells(const char *bytes, size_t size, char separator, struct csv_field *cells, int most)
{
	const size_t mark = csv_mark(bytes, size);
	size_t used;
	int n;

	/* A line whose newline is gone may still have the return before it. */
	if (size > mark && bytes[size - 1] == '\r')
		size--;
	if (size == mark) {
		cells[0] = (struct csv_field){bytes, 0, false};
		return 1;
	}
	n = csv_row(bytes + mark, size - mark, separator, cells, most, &used);
	for (int i = 0; i < n && i < most; i++)
		cells[i] = csv_trim(&cells[i]);
	return n;
}

int live_cell_id(
	const struct csv_field *cell, const char *where, struct event *line, struct err *err)
{
	char words[JOURNAL_KEY + 1];
	int64_t number;

	if (!cell->size)
		return err_set(err, ERR_INPUT, "%s: has no id", where);
	if (decimal_whole(cell->at, cell->size, &number)) {
		live_line_number_id(line, number);
		if (strlen(line->id) == cell->size && !memcmp(line->id, cell->at, cell->size))
			return 0;
		line->id[0] = '\0';
	}
	if (memchr(cell->at, '\0', cell->size))
		return err_set(err, ERR_INPUT, "%s: id: holds a zero byte", where);
	if (!csv_text(cell, words, sizeof(words)))
		return err_set(
			err, ERR_INPUT, "%s: id: is longer than %d bytes", where, JOURNAL_KEY);
	return live_line_text_id(line, words, where, err);
}

static bool read_number(
	const struct csv_field *cell, const struct live_line_shape *shape, double *number)
{
	return table_label_alone(cell, shape->table ? shape->table->plan.separator : ',', number);
}

int live_cell_value(const struct csv_field *cell, const struct live_line_shape *shape,
	const char *where, float *label, struct err *err)
{
	double number;

	if (!read_number(cell, shape, &number))
		return err_set(err, ERR_INPUT,
			"%s: label: \"%.*s\" is not a number, and model.target = number", where,
			(int)(cell->size < 60 ? cell->size : 60), cell->at);
	return live_line_value(label, number, where, err);
}

static bool is_fraction(const struct csv_field *cell, const struct live_line_shape *shape)
{
	double number;

	return read_number(cell, shape, &number) && isfinite(number) && number != floor(number);
}

int live_cell_name(const struct csv_field *cell, const struct live_line_shape *shape,
	const char *where, struct event *line, struct err *err)
{
	char words[CLASS_NAME + 1];

	line->fraction = shape->open && is_fraction(cell, shape);
	if (memchr(cell->at, '\0', cell->size))
		return err_set(err, ERR_INPUT, "%s: label: holds a zero byte", where);
	if (!csv_text(cell, words, sizeof(words)))
		return err_set(
			err, ERR_INPUT, "%s: label: is longer than %d bytes", where, CLASS_NAME);
	return live_line_name(line, words, where, err);
}

int live_cell_number(const struct csv_field *cell, const struct live_line_shape *shape,
	const char *where, struct event *line, struct err *err)
{
	int64_t label;

	line->fraction = shape->open && is_fraction(cell, shape);
	if (!decimal_whole(cell->at, cell->size, &label))
		return err_set(err, ERR_INPUT, "%s: label: must be a whole number", where);
	return live_line_label(line, label, shape, where, err);
}

int live_cells_input(const struct csv_field *cells, int n, const int *columns,
	const struct live_line_shape *shape, const char *where, float *input, struct err *err)
{
	const size_t mark = schema_mark(shape->schema);
	char copy[TABLE_CELL];
	struct err why = {0};
	int code = 0;

	schema_blank(shape->schema, input, shape->floats);
	for (int i = 0; i < n && !code; i++) {
		const struct schema_value value = table_value(&cells[i], copy);

		if (columns[i] >= 0) {
			code = schema_learn(shape->schema, columns[i], &value, &why);
			if (!code)
				code = schema_put(shape->schema, columns[i], &value, input,
					shape->floats, &why);
		} else if (columns[i] == SCHEMA_NEW_FIELD) {
			const char *name = columns == shape->columns
						   ? shape->names[i]
						   : shape->table->plan.columns[i].name;

			code = schema_learn_new(shape->schema, name, &value, &why);
			schema_put_new(shape->schema, name, &value, input, shape->floats);
		}
	}
	if (!code)
		return live_line_missing(shape, input, where, err);
	schema_back(shape->schema, mark);
	return err_set(err, code, "%s: input: %s", where, why.message);
}
