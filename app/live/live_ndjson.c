/* Lines of NDJSON: one table each. */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/words/moment.h"
#include "live/live_line.h"
#include "schema/schema.h"

enum { DEEPEST = 3 };                 /* channels, height, width */
static const double WHEN_MOST = 1e11; /* seconds: beyond, it is milliseconds */

static int read_id(
	const struct jvalue *table, const char *where, struct event *line, struct err *err)
{
	const struct jvalue *value = jvalue_find(table, "id");
	const char *words = jvalue_text(value);
	int64_t number;

	if (words)
		return live_line_text_id(line, words, where, err);
	if (!jvalue_whole(value, &number))
		return err_set(err, ERR_INPUT, "%s: %s", where,
			value ? "id: must be a text or a whole number" : "has no id");
	live_line_number_id(line, number);
	return 0;
}

/* Where numbers go, and how many there were. */
struct numbers {
	float *out;
	size_t room, count;
	bool missing; /* values may be */
	const char *where;
};

static void put(struct numbers *numbers, float number)
{
	if (numbers->count < numbers->room)
		numbers->out[numbers->count] = number;
	numbers->count++;
}

static int read_numbers(
	const struct jvalue *value, int depth, struct numbers *numbers, struct err *err)
{
	const size_t count = jvalue_count(value);
	double number;
	int code = 0;

	if (jvalue_number(value, &number)) {
		if (!isfinite((float)number))
			return err_set(err, ERR_INPUT,
				"%s: input: number %zu is too large for 32 bits", numbers->where,
				numbers->count);
		put(numbers, (float)number);
		return 0;
	}
	if (numbers->missing && depth && jvalue_kind(value) == JVALUE_NONE) {
		put(numbers, NAN);
		return 0;
	}
	if (jvalue_kind(value) != JVALUE_LIST || depth == DEEPEST)
		return err_set(err, ERR_INPUT, "%s: input: number %zu is not a number",
			numbers->where, numbers->count);
	for (size_t i = 0; i < count && !code; i++)
		code = read_numbers(jvalue_at(value, i), depth + 1, numbers, err);
	return code;
}

static int read_row(const struct jvalue *row, const char *where,
	const struct live_line_shape *shape, float *input, struct err *err)
{
	struct err why = {0};
	int code;

	if (!shape->schema)
		return err_set(err, ERR_INPUT,
			"%s: input: has names, and the model takes numbers; without model.input it "
			"learns what names are",
			where);
	/* A mere question may come from any thread, and teaches the schema nothing. */
	code = shape->anonymous ? 0 : schema_learn_row(shape->schema, row, &why);
	if (!code)
		code = schema_encode_row(shape->schema, row, input, shape->floats, NULL, &why);
	if (code)
		return err_set(err, code, "%s: input: %s", where, why.message);
	return live_line_missing(shape, input, where, err);
}

static int read_input(const struct jvalue *value, const char *where,
	const struct live_line_shape *shape, float *input, struct err *err)
{
	const size_t floats = shape->floats;
	struct numbers numbers = {
		.out = input, .room = floats, .missing = shape->missing, .where = where};
	int code;

	if (shape->unknown)
		return 0;
	if (jvalue_kind(value) == JVALUE_TABLE)
		return read_row(value, where, shape, input, err);
	if (shape->schema)
		return err_set(err, ERR_INPUT, "%s: input: must be a table of named values", where);
	if (jvalue_kind(value) != JVALUE_LIST)
		return err_set(err, ERR_INPUT, "%s: input: must be a list of numbers", where);
	code = read_numbers(value, 0, &numbers, err);
	if (!code && numbers.count != floats)
		code = err_set(err, ERR_INPUT, "%s: input: has %zu numbers, the model takes %zu",
			where, numbers.count, floats);
	return code;
}

/* A list of as many numbers, or an object that has each of their names. */
static int read_several(const struct jvalue *value, const char *where,
	const struct live_line_shape *shape, struct event *line, struct err *err)
{
	const bool named = jvalue_kind(value) == JVALUE_TABLE;
	char name[NUMBER_NAME];

	if ((!named && jvalue_kind(value) != JVALUE_LIST) ||
		jvalue_count(value) != (size_t)shape->numbers)
		return err_set(err, ERR_INPUT,
			"%s: label: must be a list of %d numbers, or an object of them by name "
			"(model.numbers = %.100s)",
			where, shape->numbers, shape->number_names);
	for (int k = 0; k < shape->numbers; k++) {
		const struct jvalue *one =
			named ? jvalue_find(value, number_said(shape->number_names, k, name))
			      : jvalue_at(value, (size_t)k);
		double number;

		if (!jvalue_number(one, &number) || !isfinite((float)number))
			return err_set(err, ERR_INPUT, "%s: label: %s is %s", where,
				number_said(shape->number_names, k, name),
				one ? "not a finite number of 32 bits" : "missing");
		line->label[k].number = (float)number;
	}
	return 0;
}

static int read_label(const struct jvalue *value, const char *where,
	const struct live_line_shape *shape, struct event *line, struct err *err)
{
	const char *words = shape->grows ? jvalue_text(value) : NULL;
	double number;
	int64_t label;
	bool truth;

	if (shape->numbers > 1)
		return read_several(value, where, shape, line, err);
	if (shape->numbers)
		return jvalue_number(value, &number)
			       ? live_line_value(&line->label->number, number, where, err)
			       : err_set(err, ERR_INPUT,
					 "%s: label: must be a number (model.target = number)",
					 where);
	if (shape->grows && jvalue_truth(value, &truth))
		words = truth ? "true" : "false";
	if (words)
		return live_line_name(line, words, where, err);
	line->fraction = shape->open && jvalue_number(value, &number) && number != floor(number);
	if (!jvalue_whole(value, &label))
		return err_set(err, ERR_INPUT, "%s: label: must be a whole number%s", where,
			shape->grows ? ", a text, true or false" : "");
	return live_line_label(line, label, shape, where, err);
}

static int read_wish(const struct jvalue *table, const char *where,
	const struct live_line_shape *shape, struct event *line, struct err *err)
{
	const struct jvalue *question = jvalue_find(table, "for"), *top = jvalue_find(table, "top");
	struct err why = {0};
	int64_t number = 0;
	int code = 0;

	if (question)
		code = answers_wish_for(&line->wish, jvalue_text(question), &why);
	if (!code && top && shape->numbers)
		return err_set(err, ERR_INPUT, "%s: top: is for classes, and model.target = number",
			where);
	if (!code && top) {
		jvalue_whole(top, &number);
		code = answers_wish_top(&line->wish, number, &why);
	}
	return code ? err_set(err, code, "%s: %s", where, why.message) : 0;
}

/* The session checks its size. */
static int read_weight(
	const struct jvalue *weight, const char *where, struct event *line, struct err *err)
{
	double number;

	if (!weight || jvalue_kind(weight) == JVALUE_NONE)
		return 0;
	if (!jvalue_number(weight, &number))
		return err_set(err, ERR_INPUT, "%s: weight: is not a number", where);
	line->has_weight = true;
	line->weight = (float)number;
	return 0;
}

static int read_when(
	const struct jvalue *when, const char *where, struct event *line, struct err *err)
{
	const char *words = jvalue_text(when);
	int64_t micros = 0;
	double seconds = 0;

	if (!when || jvalue_kind(when) == JVALUE_NONE)
		return 0;
	if (jvalue_number(when, &seconds) && seconds > 0 && seconds < WHEN_MOST)
		micros = (int64_t)(seconds * 1e6);
	else if (!words || !moment_date(words, strlen(words), &micros) || micros <= 0)
		return err_set(err, ERR_INPUT,
			"%s: when: is neither a date, such as \"2024-02-29T12:30:00Z\", nor "
			"seconds "
			"since 1970",
			where);
	line->when = micros / 1000;
	return 0;
}

int live_line_object(const struct jvalue *table, const char *where,
	const struct live_line_shape *shape, struct event *line, float *input, struct err *err)
{
	const struct jvalue *numbers = jvalue_find(table, "input");
	const struct jvalue *label = jvalue_find(table, "label");
	int code;

	*line = (struct event){0};
	/* It comes later. */
	if (jvalue_kind(label) == JVALUE_NONE)
		label = NULL;
	if (jvalue_kind(table) != JVALUE_TABLE)
		return err_set(err, ERR_FORMAT, "%s: is not a JSON object", where);
	code = shape->anonymous && !jvalue_find(table, "id") ? 0 : read_id(table, where, line, err);
	if (!code && !numbers && !label)
		code = err_set(err, ERR_INPUT, "%s: has neither input nor label", where);
	if (!code && numbers)
		code = read_input(numbers, where, shape, input, err);
	if (!code && label)
		code = read_label(label, where, shape, line, err);
	if (!code && label)
		code = read_weight(jvalue_find(table, "weight"), where, line, err);
	if (!code && numbers)
		code = read_wish(table, where, shape, line, err);
	if (!code && numbers)
		code = read_when(jvalue_find(table, "when"), where, line, err);
	line->has_input = numbers != NULL;
	line->has_label = label != NULL;
	return code;
}

int live_line_json(const char *bytes, size_t size, const char *where,
	const struct live_line_shape *shape, struct event *line, float *input, struct err *err)
{
	struct jvalue *value = NULL;
	int code;

	*line = (struct event){0};
	code = jvalue_read(&value, bytes, size, where, err);
	if (!code)
		code = live_line_object(value, where, shape, line, input, err);
	jvalue_free(value);
	return code;
}

int live_line_ndjson(const char *bytes, size_t size, const char *where,
	const struct live_line_shape *shape, struct event *line, float *input, struct err *err)
{
	if (live_line_quick(bytes, size, shape, line, input))
		return 0;
	return live_line_json(bytes, size, where, shape, line, input, err);
}

/* What is wrong with numbers is said when they are read. */
int live_first_object(struct live_first *first, const struct jvalue *value, struct err *err)
{
	const struct jvalue *input = jvalue_find(value, "input");
	struct numbers numbers = {.missing = true, .where = ""};

	if (jvalue_kind(input) == JVALUE_TABLE)
		return schema_of_row(&first->schema, first->sizes, input, err);
	if (jvalue_kind(input) == JVALUE_LIST && !read_numbers(input, 0, &numbers, NULL))
		first->floats = numbers.count;
	return 0;
}

int live_first_ndjson(struct live_first *first, const char *bytes, size_t size, struct err *err)
{
	struct jvalue *value = NULL;
	int code = jvalue_read(&value, bytes, size, "line", err);

	if (code)
		return code == ERR_MEMORY ? code : 0;
	code = live_first_object(first, value, err);
	jvalue_free(value);
	return code;
}
