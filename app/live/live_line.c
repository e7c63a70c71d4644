/* The table of line formats, and shared code. */
#include "live/live_line.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json_write.h"
#include "live/live_table.h"
#include "schema/schema.h"

bool live_line_is_json(const char *bytes, size_t size)
{
	size_t at = 0;

	while (at < size && (bytes[at] == ' ' || bytes[at] == '\t'))
		at++;
	return at < size && (bytes[at] == '{' || bytes[at] == '[');
}

const struct live_line_format live_line_formats[] = {
	{"ndjson", "a JSON object per line", live_line_ndjson, live_first_ndjson, .lists = true,
		.likely = live_line_is_json},
	{"csv", "id, label and the input's numbers in each line", live_line_csv, live_first_csv},
	{"table", "rows below a heading that names their columns", live_line_table,
		live_first_table, .likely = live_table_is},
	{0},
};

const struct live_line_format *live_line_guess(const char *bytes, size_t size)
{
	const struct live_line_format *row = live_line_formats;

	while (row->name && (!row->likely || !row->likely(bytes, size)))
		row++;
	return row->name ? row : NULL;
}

void live_line_number_id(struct event *line, int64_t number)
{
	snprintf(line->id, sizeof(line->id), "%" PRId64, number);
}

int live_line_text_id(struct event *line, const char *words, const char *where, struct err *err)
{
	struct text quoted = {0};
	struct jwriter json = {.out = &quoted};
	int code = 0;

	jwriter_text(&json, NULL, words);
	if (!text_is_utf8(words))
		code = err_set(err, ERR_INPUT, "%s: id: is not UTF-8", where);
	else if (quoted.failed)
		code = err_memory(err, "an id", strlen(words));
	else if (quoted.size > JOURNAL_KEY)
		code = err_set(err, ERR_INPUT, "%s: id: has %zu bytes as JSON; at most %d can be",
			where, quoted.size, JOURNAL_KEY);
	else
		memcpy(line->id, quoted.data, quoted.size + 1);
	text_release(&quoted);
	return code;
}

int live_line_value(float *label, double number, const char *where, struct err *err)
{
	*label = (float)number;
	return isfinite(*label) ? 0
				: err_set(err, ERR_INPUT,
					  "%s: label: is not a finite number of 32 bits", where);
}

int live_line_one(const struct live_line_shape *shape, const char *where, struct err *err)
{
	return shape->numbers == 1 ? 0
				   : err_set(err, ERR_INPUT,
					     "%s: label: is %d numbers (model.numbers), which "
					     "lines of JSON can have, {\"label\": [1, 2]}, and "
					     "tables in columns of their names, but not a column "
					     "called label",
					     where, shape->numbers);
}

int live_line_label(struct event *line, int64_t label, const struct live_line_shape *shape,
	const char *where, struct err *err)
{
	if (shape->grows && (label < 0 || shape->as_names)) {
		snprintf(line->name, sizeof(line->name), "%" PRId64, label);
		line->negative = label < 0;
		return 0;
	}
	if (label < 0)
		return err_set(err, ERR_INPUT,
			"%s: label: %" PRId64 " is not from 0 to %d, the classes there are; with "
			"model.classes = auto labels may be names, \"%" PRId64 "\"",
			where, label, shape->classes - 1, label);
	if (label >= shape->classes)
		return err_set(err, ERR_INPUT, "%s: label: %" PRId64 " is not from 0 to %d, %s",
			where, label, shape->classes - 1,
			shape->grows ? "what model.classes_most allows" : "the classes there are");
	line->label->class = (int32_t)label;
	return 0;
}

int live_line_name(struct event *line, const char *words, const char *where, struct err *err)
{
	struct err why = {0};

	if (class_list_check(words, &why))
		return err_set(err, ERR_INPUT, "%s: label: %s", where, why.message);
	memcpy(line->name, words, strlen(words) + 1);
	return 0;
}

int live_line_missing(
	const struct live_line_shape *shape, const float *input, const char *where, struct err *err)
{
	for (int i = 0; i < schema_count(shape->schema) && !shape->missing; i++) {
		const struct schema_column *column = schema_column(shape->schema, i);

		if (column->at < shape->floats && isnan(input[column->at]))
			return err_set(err, ERR_INPUT,
				"%s: input: column %s is missing, and inputs are not scaled "
				"(model.scale)",
				where, column->name);
	}
	return 0;
}
