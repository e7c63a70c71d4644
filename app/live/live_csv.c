/*
 * Lines of CSV. The order of columns is fixed, so that a line says the same
 * whether or not the lines before it were seen: a stream may be taken up again in
 * its midst. A heading is known by its first two names and passed over.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "formats/csv.h"
#include "base/decimal.h"
#include "live/live_line.h"

enum { ID, LABEL, NUMBERS }; /* columns */

static bool is_word(const struct csv_field *field, const char *word)
{
	return field->size == strlen(word) && !memcmp(field->at, word, field->size);
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

static int read_fields(struct csv_field *fields, int n, int kept,
	const struct live_line_shape *shape, const char *where, struct live_line *line,
	float *input, struct err *err)
{
	int code;

	for (int i = 0; i < kept; i++)
		fields[i] = csv_trim(fields[i]);
	if (n > LABEL && is_word(&fields[ID], "id") && is_word(&fields[LABEL], "label"))
		return 0;
	code = read_id(&fields[ID], where, line, err);
	if (!code && n > LABEL)
		code = read_label(&fields[LABEL], shape->classes, where, line, err);
	line->has_input = n > kept || (n > NUMBERS && any_number(fields + NUMBERS, n - NUMBERS));
	if (!code && !line->has_input && !line->has_label)
		code = err_set(err, ERR_INPUT, "%s: has neither input nor label", where);
	if (!code && line->has_input)
		code = read_input(fields + NUMBERS, n - NUMBERS, shape, where, input, err);
	return code;
}

int live_line_csv(const char *bytes, size_t size, const char *where,
	const struct live_line_shape *shape, struct live_line *line, float *input, struct err *err)
{
	const int most = NUMBERS + (int)shape->floats;
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
