/*
 * Lines of CSV. The order of columns is fixed, so that a line's meaning does not depend on
 * earlier lines: a stream may be resumed in the middle. A heading is recognised by its first two
 * names. It is skipped or, if inputs have names, sets the order of columns from then on; without
 * one they have the order in which they were learned.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/words/decimal.h"
#include "live/live_cells.h"
#include "records/table_plan.h"
#include "schema/schema.h"

enum { ID, LABEL, NUMBERS }; /* columns */
enum { COLUMNS = 1024 };

static bool is_word(const struct csv_field *field, const char *word)
{
	return field->size == strlen(word) && !memcmp(field->at, word, field->size);
}

static bool is_heading(const struct csv_field *fields, int n)
{
	return n > LABEL && is_word(&fields[ID], "id") && is_word(&fields[LABEL], "label");
}

/* A whole number is one; anything else is a name, where names can be. */
static int read_label(const struct csv_field *field, const struct live_line_shape *shape,
	const char *where, struct event *line, struct err *err)
{
	int64_t number;

	line->has_label = field->size > 0;
	if (!line->has_label)
		return 0;
	if (shape->numbers)
		return live_line_one(shape, where, err)
			       ? ERR_INPUT
			       : live_cell_value(field, shape, where, &line->label->number, err);
	if (shape->grows && !decimal_whole(field->at, field->size, &number))
		return live_cell_name(field, shape, where, line, err);
	return live_cell_number(field, shape, where, line, err);
}

static int read_input(const struct csv_field *fields, int n, const struct live_line_shape *shape,
	const char *where, float *input, struct err *err)
{
	if ((size_t)n != shape->floats)
		return err_set(err, ERR_INPUT, "%s: input: has %d numbers, the model takes %zu",
			where, n, shape->floats);
	for (int i = 0; i < n; i++) {
		double number;

		if (shape->missing && !fields[i].size) {
			input[i] = NAN;
			continue;
		}
		if (!decimal_number(fields[i].at, fields[i].size, &number))
			return err_set(
				err, ERR_INPUT, "%s: input: number %d is not a number", where, i);
		if (!isfinite((float)number))
			return err_set(err, ERR_INPUT,
				"%s: input: number %d is too large for 32 bits", where, i);
		input[i] = (float)number;
	}
	return 0;
}

/* Columns that are there and hold something. */
static bool any_number(const struct csv_field *fields, int n)
{
	for (int i = 0; i < n; i++)
		if (fields[i].size)
			return true;
	return false;
}

/* The columns that a heading names, in its order; those of the first row must be there. */
static int find_columns(const struct csv_field *fields, int n, const struct live_line_shape *shape,
	const char *where, int *columns, struct err *err)
{
	char name[TABLE_CELL];

	for (int i = 0; i < shape->columns_count; i++)
		columns[i] = i < n && csv_text(&fields[i], name, sizeof(name))
				     ? schema_find(shape->schema, name, strlen(name))
				     : SCHEMA_LEFT_OUT;
	for (int k = 0; k < schema_count(shape->schema); k++) {
		int at = 0;

		while (at < n && columns[at] != k)
			at++;
		if (at == n && !schema_column(shape->schema, k)->late)
			return err_set(err, ERR_INPUT, "%s: the heading has no column %s", where,
				schema_column(shape->schema, k)->name);
	}
	return 0;
}

/* Columns that have no name yet get it when their first value comes. */
static int set_columns(const struct csv_field *fields, const struct live_line_shape *shape,
	const int *columns, struct err *err)
{
	char name[TABLE_CELL], *copy;

	for (int i = 0; i < shape->columns_count; i++) {
		if (columns[i] != SCHEMA_NEW_FIELD)
			continue;
		csv_text(&fields[i], name, sizeof(name));
		copy = mem_text(name);
		if (!copy)
			return err_memory(err, "columns", strlen(name));
		mem_free(shape->names[i]);
		shape->names[i] = copy;
	}
	memcpy(shape->columns, columns, (size_t)shape->columns_count * sizeof(*columns));
	return 0;
}

static int read_heading(const struct csv_field *fields, int n, const struct live_line_shape *shape,
	const char *where, struct err *err)
{
	const size_t count = (size_t)shape->columns_count;
	int *columns, code;

	if (!shape->schema)
		return 0;
	columns = mem_new(count, sizeof(*columns));
	code = columns ? find_columns(fields, n < shape->columns_count ? n : shape->columns_count,
				 shape, where, columns, err)
		       : err_memory(err, "columns", count * sizeof(*columns));
	if (!code)
		code = set_columns(fields, shape, columns, err);
	mem_free(columns);
	return code;
}

static int read_row(const struct csv_field *fields, int n, const struct live_line_shape *shape,
	const char *where, float *input, struct err *err)
{
	if (n > shape->columns_count)
		return err_set(err, ERR_INPUT, "%s: input: has %d columns, there are %d names",
			where, n, shape->columns_count);
	return live_cells_input(fields, n, shape->columns, shape, where, input, err);
}

static int read_fields(struct csv_field *fields, int n, int kept,
	const struct live_line_shape *shape, const char *where, struct event *line, float *input,
	struct err *err)
{
	int code;

	if (is_heading(fields, n))
		return n > kept ? err_set(err, ERR_INPUT, "%s: has more than %d columns", where,
					  kept)
				: read_heading(fields + NUMBERS, n - NUMBERS, shape, where, err);
	code = live_cell_id(&fields[ID], where, line, err);
	if (!code && n > LABEL)
		code = read_label(&fields[LABEL], shape, where, line, err);
	line->has_input = n > kept || (n > NUMBERS && any_number(fields + NUMBERS, n - NUMBERS));
	if (!code && !line->has_input && !line->has_label)
		code = err_set(err, ERR_INPUT, "%s: has neither input nor label", where);
	if (!code && line->has_input && shape->schema)
		code = n > kept ? err_set(err, ERR_INPUT,
					  "%s: input: has %d columns, there are %d names", where,
					  n - NUMBERS, shape->columns_count)
				: read_row(fields + NUMBERS, n - NUMBERS, shape, where, input, err);
	else if (!code && line->has_input)
		code = read_input(fields + NUMBERS, n - NUMBERS, shape, where, input, err);
	return code;
}

int live_line_csv(const char *bytes, size_t size, const char *where,
	const struct live_line_shape *shape, struct event *line, float *input, struct err *err)
{
	const int most = NUMBERS + (shape->schema ? shape->columns_count : (int)shape->floats);
	struct csv_field *fields = mem_new((size_t)most, sizeof(*fields));
	int n, code;

	*line = (struct event){0};
	if (!fields)
		return err_memory(err, "columns of a line", (size_t)most * sizeof(*fields));
	n = live_cells(bytes, size, ',', fields, most);
	if (n < 0)
		code = err_set(err, ERR_FORMAT, "%s: %s", where, csv_reason(n));
	else
		code = read_fields(fields, n, n < most ? n : most, shape, where, line, input, err);
	mem_free(fields);
	return code;
}

static int keep_heading(struct live_first *first, const char *bytes, size_t size, struct err *err)
{
	mem_free(first->heading);
	first->heading = mem_new(size + 1, 1);
	if (!first->heading)
		return err_memory(err, "a heading", size);
	memcpy(first->heading, bytes, size);
	first->heading_size = size;
	first->headings++;
	return 0;
}

/* Names come from the heading, kinds from the first row below it. */
static int schema_of_fields(
	struct live_first *first, const struct csv_field *fields, int n, struct err *err)
{
	struct csv_field names[COLUMNS];
	struct schema *made = NULL;
	char copy[TABLE_CELL], name[TABLE_CELL];
	const int count = live_cells(first->heading, first->heading_size, ',', names, COLUMNS);
	int code = schema_new(&made, first->sizes, err);

	for (int i = NUMBERS; i < count && !code; i++) {
		struct schema_value value = {0};

		if (i < n)
			value = table_value(&fields[i], copy);
		code = csv_text(&names[i], name, sizeof(name))
			       ? schema_add_for(made, name, &value, err)
			       : err_set(err, ERR_INPUT, "a name of the heading is too long");
	}
	if (!code)
		code = schema_end(made, err);
	if (code)
		schema_free(made);
	else
		first->schema = made;
	return code;
}

static bool all_numbers(const struct csv_field *fields, int n)
{
	double number;

	for (int i = 0; i < n; i++)
		if (fields[i].size && !decimal_number(fields[i].at, fields[i].size, &number))
			return false;
	return true;
}

/* A line without a heading, or of more columns than one could be learned from, is numbers. */
int live_first_csv(struct live_first *first, const char *bytes, size_t size, struct err *err)
{
	const size_t most = size + NUMBERS; /* all of them may be empty */
	struct csv_field *fields = mem_new(most, sizeof(*fields));
	int n, code = 0;

	if (!fields)
		return err_memory(err, "columns of a line", most * sizeof(*fields));
	n = live_cells(bytes, size, ',', fields, (int)most);
	if (is_heading(fields, n) && n <= COLUMNS)
		code = keep_heading(first, bytes, size, err);
	else if (n > NUMBERS && any_number(fields + NUMBERS, n - NUMBERS)) {
		if (first->heading)
			code = schema_of_fields(first, fields, n, err);
		else if (all_numbers(fields + NUMBERS, n - NUMBERS))
			first->floats = (size_t)(n - NUMBERS);
		else
			code = err_set(err, ERR_INPUT,
				"not all columns are numbers, and no heading names them");
	}
	mem_free(fields);
	return code;
}
