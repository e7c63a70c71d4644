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

/* A line whose newline is gone may still have the return before it. */
static int fields_of(const char *bytes, size_t size, struct csv_field *fields, int most)
{
	const size_t mark = csv_mark(bytes, size);
	size_t used;

	if (size > mark && bytes[size - 1] == '\r')
		size--;
	return csv_row(bytes + mark, size - mark, ',', fields, most, &used);
}

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

static int read_name(
	const struct csv_field *field, const char *where, struct live_line *line, struct err *err)
{
	char words[CLASS_NAME + 1];

	if (memchr(field->at, '\0', field->size))
		return err_set(err, ERR_INPUT, "%s: label: holds a zero byte", where);
	if (!csv_text(field, words, sizeof(words)))
		return err_set(
			err, ERR_INPUT, "%s: label: is longer than %d bytes", where, CLASS_NAME);
	return live_line_name(line, words, where, err);
}

/* A whole number is one; anything else is a name, where names can be. */
static int read_label(const struct csv_field *field, const struct live_line_shape *shape,
	const char *where, struct live_line *line, struct err *err)
{
	int64_t label;

	line->has_label = field->size > 0;
	if (!line->has_label)
		return 0;
	if (decimal_whole(field->at, field->size, &label))
		return live_line_label(line, label, shape, where, err);
	if (shape->grows)
		return read_name(field, where, line, err);
	return err_set(err, ERR_INPUT, "%s: label: must be a whole number", where);
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
	const struct live_line_shape *shape, struct live_line *line, float *input, struct err *err)
{
	const int most = NUMBERS + (shape->schema ? shape->columns_count : (int)shape->floats);
	struct csv_field *fields = mem_new((size_t)most, sizeof(*fields));
	int n, code;

	*line = (struct live_line){0};
	if (!fields)
		return err_memory(err, "columns of a line", (size_t)most * sizeof(*fields));
	n = fields_of(bytes, size, fields, most);
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
	char copy[CELL];
	const int count = fields_of(first->heading, first->heading_size, names, COLUMNS);
	int code = schema_new(&made, first->sizes, err);

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
	n = fields_of(bytes, size, fields, (int)most);
	for (int i = 0; i < n; i++)
		fields[i] = csv_trim(fields[i]);
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
