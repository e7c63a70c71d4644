/*
 * Lines of CSV. The order of columns is fixed, so that a line says the same
 * whether or not the lines before it were seen: a stream may be taken up again in
 * its midst. A heading is known by its first two names. It is passed over or, where inputs
 * have names, gives the order of columns from then on; without one they come as they did
 * when they were learned.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "formats/csv.h"
#include "base/decimal.h"
#include "live/live_line.h"
#include "schema/schema.h"

enum { ID, LABEL, NUMBERS }; /* columns */
enum { CELL = 4096, COLUMNS = 1024 };

static bool is_word(const struct csv_field *field, const char *word)
{
	return field->size == strlen(word) && !memcmp(field->at, word, field->size);
}

static bool is_heading(const struct csv_field *fields, int n)
{
	return n > LABEL && is_word(&fields[ID], "id") && is_word(&fields[LABEL], "label");
}

/* A whole number as JSON would write it is one; anything else is a text. */
static int read_id(
	const struct csv_field *field, const char *where, struct live_line *line, struct err *err)
{
	char words[JOURNAL_KEY + 1];
	int64_t number;

	if (!field->size)
		return err_set(err, ERR_INPUT, "%s: has no id", where);
	if (decimal_whole(field->at, field->size, &number)) {
		live_line_number_id(line, number);
		if (is_word(field, line->id))
			return 0;
		line->id[0] = '\0';
	}
	if (memchr(field->at, '\0', field->size))
		return err_set(err, ERR_INPUT, "%s: id: holds a zero byte", where);
	if (!csv_text(field, words, sizeof(words)))
		return err_set(
			err, ERR_INPUT, "%s: id: is longer than %d bytes", where, JOURNAL_KEY);
	return live_line_text_id(line, words, where, err);
}

static int read_label(const struct csv_field *field, int classes, const char *where,
	struct live_line *line, struct err *err)
{
	int64_t label;

	line->has_label = field->size > 0;
	if (!line->has_label)
		return 0;
	if (!decimal_whole(field->at, field->size, &label))
		return err_set(err, ERR_INPUT, "%s: label: must be a whole number", where);
	return live_line_label(line, label, classes, where, err);
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
				err, ERR_INPUT, "%s: input: number %d is no number", where, i);
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

static struct schema_value value_of(const struct csv_field *field, char copy[CELL])
{
	if (field->doubled && csv_text(field, copy, CELL))
		return schema_value(copy, strlen(copy));
	return schema_value(field->at, field->size);
}

/* The columns that a heading names, in its order. */
static int read_heading(const struct csv_field *fields, int n, const struct live_line_shape *shape,
	const char *where, struct err *err)
{
	char name[CELL];

	if (!shape->schema)
		return 0;
	if (n > shape->columns_count)
		n = shape->columns_count;
	for (int i = 0; i < shape->columns_count; i++)
		shape->columns[i] = SCHEMA_LEFT_OUT;
	for (int i = 0; i < n; i++)
		if (csv_text(&fields[i], name, sizeof(name)))
			shape->columns[i] = schema_find(shape->schema, name, strlen(name));
	for (int i = 0; i < schema_count(shape->schema); i++) {
		int at = 0;

		while (at < n && shape->columns[at] != i)
			at++;
		if (at == n)
			return err_set(err, ERR_INPUT, "%s: the heading has no column %s", where,
				schema_column(shape->schema, i)->name);
	}
	return 0;
}

/* Learns a row and makes its input, or does neither. */
static int read_row(const struct csv_field *fields, int n, const struct live_line_shape *shape,
	const char *where, float *input, struct err *err)
{
	const size_t mark = schema_mark(shape->schema);
	char copy[CELL];
	struct err why = {0};
	int code = 0;

	if (n > shape->columns_count)
		return err_set(err, ERR_INPUT, "%s: input: has %d columns, there are %d names",
			where, n, shape->columns_count);
	schema_blank(shape->schema, input);
	for (int i = 0; i < n && !code; i++) {
		const struct schema_value value = value_of(&fields[i], copy);

		if (shape->columns[i] < 0)
			continue;
		code = schema_learn(shape->schema, shape->columns[i], &value, &why);
		if (!code)
			code = schema_put(shape->schema, shape->columns[i], &value, input, &why);
	}
	if (!code)
		return live_line_missing(shape, input, where, err);
	schema_back(shape->schema, mark);
	return err_set(err, code, "%s: input: %s", where, why.message);
}

static int read_fields(struct csv_field *fields, int n, int kept,
	const struct live_line_shape *shape, const char *where, struct live_line *line,
	float *input, struct err *err)
{
	int code;

	for (int i = 0; i < kept; i++)
		fields[i] = csv_trim(fields[i]);
	if (is_heading(fields, n))
		return n > kept ? err_set(err, ERR_INPUT, "%s: has more than %d columns", where,
					  kept)
				: read_heading(fields + NUMBERS, n - NUMBERS, shape, where, err);
	code = read_id(&fields[ID], where, line, err);
	if (!code && n > LABEL)
		code = read_label(&fields[LABEL], shape->classes, where, line, err);
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
	const struct live_line_shape *shape, struct live_line *line, float *input, struct err *err)
{
	const int most = NUMBERS + (shape->schema ? shape->columns_count : (int)shape->floats);
	struct csv_field *fields = mem_new((size_t)most, sizeof(*fields));
	const size_t mark = csv_mark(bytes, size);
	size_t used;
	int n, code;

	*line = (struct live_line){0};
	if (!fields)
		return err_memory(err, "columns of a line", (size_t)most * sizeof(*fields));
	n = csv_row(bytes + mark, size - mark, ',', fields, most, &used);
	if (n < 0)
		code = err_set(err, ERR_FORMAT, "%s: %s", where, csv_reason(n));
	else
		code = read_fields(fields, n, n < most ? n : most, shape, where, line, input, err);
	mem_free(fields);
	return code;
}

/* Names come from the heading, kinds from the first row below it. */
int live_first_csv(struct live_first *first, const char *bytes, size_t size,
	const struct schema_sizes *sizes, struct schema **schema, bool *more, struct err *err)
{
	struct csv_field names[COLUMNS], fields[COLUMNS];
	const size_t mark = csv_mark(bytes, size);
	struct schema *made = NULL;
	char copy[CELL];
	size_t used;
	int n = csv_row(bytes + mark, size - mark, ',', fields, COLUMNS, &used), count, code;

	*more = true;
	for (int i = 0; i < n && i < COLUMNS; i++)
		fields[i] = csv_trim(fields[i]);
	if (n > LABEL && n <= COLUMNS && is_heading(fields, n)) {
		mem_free(first->heading);
		first->heading = mem_new(size - mark + 1, 1);
		if (!first->heading)
			return err_memory(err, "a heading", size);
		memcpy(first->heading, bytes + mark, size - mark);
		first->heading_size = size - mark;
		return 0;
	}
	if (n <= NUMBERS || n > COLUMNS || !any_number(fields + NUMBERS, n - NUMBERS))
		return 0;
	*more = false;
	if (!first->heading)
		return 0;
	count = csv_row(first->heading, first->heading_size, ',', names, COLUMNS, &used);
	code = schema_new(&made, sizes, err);
	for (int i = NUMBERS; i < count && !code; i++) {
		const struct csv_field name = csv_trim(names[i]);
		struct schema_value value = {0};

		if (i < n)
			value = value_of(&fields[i], copy);
		code = csv_text(&name, copy, sizeof(copy))
			       ? schema_add(made, copy, strlen(copy), schema_kind_of(&value), false,
					 err)
			       : err_set(err, ERR_INPUT, "a name of the heading is too long");
	}
	if (!code)
		code = schema_end(made, err);
	if (code)
		schema_free(made);
	else
		*schema = made;
	return code;
}
