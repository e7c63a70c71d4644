/*
 * Lines of a file or of standard input. NDJSON: rows of named values, lists of numbers, or lines
 * of a live stream, {"id": 17, "input": …}. A file may also be one list of such objects. CSV: a table, whose first lines are interpreted as a
 * file's (records/table_plan.h), as far as they are available; for a model without names every
 * line is numbers. A CSV field cannot contain a line end here.
 *
 * The threads parse the lines; the feed keeps their bytes until the next batch.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/words/decimal.h"
#include "base/mem.h"
#include "base/paths.h"
#include "formats/csv.h"
#include "formats/mapped.h"
#include "live/feed.h"
#include "live/feed_file.h"
#include "live/lead.h"
#include "formats/pieces.h"
#include "predict/predict_impl.h"
#include "records/table_plan.h"

enum { LONGEST = 16 << 20, ID = 600 };
static const double WAIT = 0.2;

struct from_lines {
	struct predict_rows rows;
	const struct predict_config *config;
	const struct predict_model *model;
	const struct options *options;
	int file; /* descriptor */
	struct feed *feed;
	bool known, csv; /* what lines are, once the first one has come */
	bool listed;     /* lines were the objects of one list */
	char separator;
	struct table_plan plan; /* of CSV with names */
	struct feed_line lines[PREDICT_BATCH];
	char (*ids)[ID];
	int lines_count;
};

bool predict_is_lines(const char *data)
{
	return !strcmp(data, "-") || path_ends(data, ".ndjson") || path_ends(data, ".jsonl") ||
	       path_ends(data, ".json");
}

static void close_lines(struct predict_rows *rows)
{
	struct from_lines *l = (struct from_lines *)rows;

	feed_close(l->feed);
	if (l->file > 0)
		close(l->file);
	table_plan_release(&l->plan);
	mem_free(l->ids);
	mem_free(l);
}

static bool is_blank(const struct feed_line *line)
{
	size_t at = 0;

	while (at < line->size && strchr(" \t\r", line->bytes[at]) && line->bytes[at])
		at++;
	return at == line->size && !line->cut;
}

/* What lines are shows in the first one and, of a table, in those below it that are there. */
static int look_at_first(struct from_lines *l, const struct feed_line *line, size_t there,
	bool *heading, struct err *err)
{
	size_t at = 0;
	int code;

	while (at < line->size && (line->bytes[at] == ' ' || line->bytes[at] == '\t'))
		at++;
	l->known = true;
	l->csv = at < line->size && line->bytes[at] != '{' && line->bytes[at] != '[';
	l->separator = csv_separator(line->bytes, line->size);
	if (!l->csv || !l->model->schema)
		return 0;
	code = table_plan_init(&l->plan, l->config->data,
		&(struct table_lines){line->bytes, there, .before = (int)line->number - 1},
		l->options, err);
	if (code)
		return code;
	predict_ignored(l->config, &l->plan);
	l->separator = l->plan.separator;
	*heading = l->plan.headed;
	return 0;
}

/*
 * A line before the format is known. *taken: it is no sample, but stands before a table
 * or heads it. False: more lines have to be there to tell.
 */
static bool take_first(
	struct from_lines *l, struct feed_line *line, bool *taken, int *code, struct err *err)
{
	const size_t mark = line->number == 1 ? csv_mark(line->bytes, line->size) : 0;
	enum lead lead;

	line->bytes += mark;
	line->size -= mark;
	lead = lead_of(l->feed, line, LONGEST, 2);
	if (lead == LEAD_OPEN)
		return false;
	*taken = lead == LEAD_LINE;
	*code = *taken ? 0 : look_at_first(l, line, lead_there(l->feed, line), taken, err);
	return true;
}

static int next_lines(struct predict_rows *rows, int *count, struct err *err)
{
	struct from_lines *l = (struct from_lines *)rows;
	struct feed_line line;
	int code = 0;

	*count = 0;
	while (!code && !*count && !(l->config->stop && *l->config->stop)) {
		code = feed_fill(l->feed, WAIT, err);
		while (!code && *count < PREDICT_BATCH && feed_next(l->feed, &line)) {
			bool taken = false;

			if (is_blank(&line))
				continue;
			line.size -= line.size && line.bytes[line.size - 1] == '\r';
			if (!l->known && !line.cut && !take_first(l, &line, &taken, &code, err)) {
				feed_back(l->feed);
				break;
			}
			if (!taken)
				l->lines[(*count)++] = line;
		}
		if (!*count && feed_ended(l->feed))
			break;
	}
	l->lines_count = *count;
	return code;
}

/* A class by a JSON value: its name or its number; or a number. */
static union target cell_of(const struct predict_model *model, const struct jvalue *value)
{
	const char *name = jvalue_text(value);
	char number[32];
	int64_t whole;
	double exact;
	bool truth;

	if (model->shape.numbers && jvalue_number(value, &exact))
		return predict_number(exact);
	if (jvalue_truth(value, &truth))
		name = truth ? "true" : "false";
	if (!name && !jvalue_whole(value, &whole))
		return TARGET_NONE;
	if (!name)
		snprintf(number, sizeof(number), "%" PRId64, whole);
	return predict_label(model, name ? name : number);
}

/* Several numbers: a list, an object that has their names, or a row with such fields. */
static void put_several(const struct predict_model *model, const struct jvalue *row,
	const struct jvalue *value, union target *label)
{
	const struct jvalue *table = jvalue_kind(value) == JVALUE_TABLE ? value : row;
	const bool list = jvalue_kind(value) == JVALUE_LIST;
	char name[NUMBER_NAME];

	for (int k = 0; k < model->width; k++)
		label[k] = cell_of(
			model, list ? jvalue_at(value, (size_t)k)
				    : jvalue_find(table, number_said(model->numbers, k, name)));
}

/* Numbers in a list, or in lists within it. */
static int put_numbers(
	const struct jvalue *list, float *input, size_t room, size_t *count, struct err *err)
{
	double number;
	int code = 0;

	for (size_t i = 0; i < jvalue_count(list) && !code; i++) {
		const struct jvalue *value = jvalue_at(list, i);

		if (jvalue_kind(value) == JVALUE_LIST) {
			code = put_numbers(value, input, room, count, err);
			continue;
		}
		if (jvalue_kind(value) == JVALUE_NONE)
			number = (double)NAN;
		else if (!jvalue_number(value, &number))
			return err_set(err, ERR_INPUT, "number %zu is not a number", *count);
		if (*count < room)
			input[*count] = (float)number;
		(*count)++;
	}
	return code;
}

static int put_json(const struct from_lines *l, const struct jvalue *value, int i, float *input,
	union target *label, struct err *err)
{
	const struct predict_model *model = l->model;
	const char *name = model->schema ? schema_label(model->schema) : NULL;
	const struct jvalue *inner = jvalue_find(value, "input"), *id = jvalue_find(value, "id");
	const bool wrapped =
		jvalue_kind(inner) == JVALUE_LIST || jvalue_kind(inner) == JVALUE_TABLE;
	struct text words = {0};
	struct jwriter json = {.out = &words};
	size_t count = 0;
	int64_t whole;
	int code;

	if (model->width > 1)
		put_several(model, value, jvalue_find(value, "label"), label);
	else
		*label = cell_of(model, jvalue_find(value, wrapped || !name ? "label" : name));
	if (wrapped || !model->schema || schema_find(model->schema, "id", 2) < 0) {
		if (jvalue_text(id))
			jwriter_text(&json, NULL, jvalue_text(id));
		else if (jvalue_whole(id, &whole))
			jwriter_whole(&json, NULL, whole);
		if (words.size && words.size < ID)
			memcpy(l->ids[i], words.data, words.size + 1);
		text_release(&words);
	}
	if (!wrapped)
		inner = value;
	if (jvalue_kind(inner) == JVALUE_TABLE && model->schema)
		return schema_encode_row(
			model->schema, inner, input, model->shape.floats, NULL, err);
	if (jvalue_kind(jvalue_at(inner, 0)) == JVALUE_TABLE)
		return err_set(err, ERR_INPUT,
			"is a list of objects; write one a line, as jq -c '.[]' does");
	if (jvalue_kind(inner) != JVALUE_LIST)
		return err_set(err, ERR_INPUT, "%s",
			model->schema ? "is not a row of named values"
				      : "the model takes a list of numbers, not named values");
	code = put_numbers(inner, input, model->shape.floats, &count, err);
	if (!code && count != model->shape.floats)
		code = err_set(err, ERR_INPUT, "has %zu numbers, the model takes %zu", count,
			model->shape.floats);
	return code;
}

/* For a model whose inputs have names: columns as the plan says. */
static int put_columns(const struct from_lines *l, const struct csv_field *fields, int count,
	float *input, union target *label, struct err *err)
{
	const struct schema *schema = l->model->schema;
	char copy[TABLE_CELL];
	int code = 0;

	if (count != l->plan.count)
		return err_set(err, ERR_FORMAT, "has %d columns, and the first row has %d", count,
			l->plan.count);
	schema_blank(schema, input, l->model->shape.floats);
	for (int c = 0; c < count && !code; c++) {
		const struct csv_field cell = csv_trim(&fields[c]);
		const struct schema_value value = table_value(&cell, copy);

		if (l->plan.columns[c].input >= 0)
			code = schema_put(schema, l->plan.columns[c].input, &value, input,
				l->model->shape.floats, err);
	}
	for (int k = 0; k < l->plan.targets && k < l->model->width; k++) {
		const struct csv_field cell = csv_trim(&fields[l->plan.target_at[k]]);

		if (cell.size && l->model->shape.numbers)
			label[k] = predict_number_cell(&cell, l->plan.separator);
		else if (cell.size && csv_text(&cell, copy, sizeof(copy)))
			label[k] = predict_label(l->model, copy);
	}
	return code;
}

static int put_csv(const struct from_lines *l, const struct feed_line *line, float *input,
	union target *label, struct err *err)
{
	struct csv_field fields[TABLE_COLUMNS];
	const size_t floats = l->model->shape.floats;
	size_t used;
	int count = csv_row(line->bytes, line->size, l->separator, fields, TABLE_COLUMNS, &used);

	if (count < 1)
		return err_set(err, ERR_FORMAT, "%s", csv_reason(count));
	if (count > TABLE_COLUMNS)
		return err_set(err, ERR_FORMAT, "has more than %d columns", TABLE_COLUMNS);
	if (l->model->schema)
		return put_columns(l, fields, count, input, label, err);
	if ((size_t)count != floats)
		return err_set(
			err, ERR_INPUT, "has %d numbers, the model takes %zu", count, floats);
	for (size_t i = 0; i < floats; i++) {
		const struct csv_field cell = csv_trim(&fields[i]);
		const struct schema_value value = schema_value(cell.at, cell.size);

		if (value.is == SCHEMA_IS_WORDS)
			return err_set(err, ERR_INPUT, "%.*s is not a number",
				(int)(cell.size < 60 ? cell.size : 60), cell.at);
		input[i] = value.is == SCHEMA_IS_NUMBER ? (float)value.number : NAN;
	}
	return 0;
}

static int make_line(struct predict_rows *rows, int i, int worker, float *input,
	union target *label, struct err *err)
{
	struct from_lines *l = (struct from_lines *)rows;
	const struct feed_line *line = &l->lines[i];
	struct jvalue *value = NULL;
	char where[300];
	struct err why = {0};
	int code;

	(void)worker;
	snprintf(where, sizeof(where), "%.250s, %s %" PRId64,
		strcmp(l->config->data, "-") ? l->config->data : "standard input",
		l->listed ? "object" : "line", line->number);
	l->ids[i][0] = '\0';
	if (line->cut)
		return err_set(err, ERR_FORMAT, "%s: is too long", where);
	if (l->csv) {
		code = put_csv(l, line, input, label, &why);
	} else {
		code = jvalue_read(&value, line->bytes, line->size, where, err);
		if (code)
			return code;
		code = put_json(l, value, i, input, label, &why);
		jvalue_free(value);
	}
	return code ? err_set(err, code, "%s: %s", where, why.message) : 0;
}

static const char *id_of(struct predict_rows *rows, int i)
{
	const struct from_lines *l = (const struct from_lines *)rows;

	return l->ids[i][0] ? l->ids[i] : NULL;
}

static const struct predict_rows_type from_lines = {
	.next = next_lines, .make = make_line, .id = id_of, .close = close_lines};

/* Whether bytes begin as a list of objects. */
static bool begins_objects(const char *at, size_t size)
{
	const char *end = at + size;
	int found = 0;

	for (at += csv_mark(at, size); at < end && found < 2; at++)
		if (*at == "[{"[found])
			found++;
		else if (!*at || !strchr(" \t\r\n", *at))
			break;
	return found == 2;
}

/* A file that is one list of objects becomes lines in memory; any other is read as it is. */
static int open_file(struct from_lines *l, const char *path, struct err *err)
{
	struct mapped file;
	char *copy;
	size_t size, mark;
	int code = mapped_open(&file, path, MAPPED_UNPACK, NULL); /* a pipe cannot be mapped */

	l->listed = !code && begins_objects((const char *)file.data, file.size);
	if (!l->listed) {
		mapped_close(&file);
		l->file = open(path, O_RDONLY | O_CLOEXEC);
		return l->file >= 0 ? 0
				    : err_set(err, ERR_FILE, "%s: cannot open: %s", path,
					      strerror(errno));
	}
	mark = csv_mark((const char *)file.data, file.size);
	size = file.size - mark;
	copy = mem_new(size, 1);
	code = copy ? mapped_copy(&file, mark, size, copy, err) : err_memory(err, path, size);
	if (!code && pieces_to_lines(copy, &size))
		code = err_set(err, ERR_FORMAT, "%s: the list is not JSON", path);
	if (!code)
		l->file = feed_bytes(path, copy, size, err);
	if (!code && l->file < 0)
		code = l->file;
	mem_free(copy);
	mapped_close(&file);
	return code;
}

int predict_lines_open(struct predict_rows **rows, const struct predict_config *config,
	const struct predict_model *model, const struct options *options, struct err *err)
{
	struct from_lines *l = mem_new(1, sizeof(*l));

	*rows = NULL;
	if (!l)
		return err_memory(err, "lines", sizeof(*l));
	*rows = &l->rows;
	l->rows.type = &from_lines;
	l->rows.live = true;
	l->config = config;
	l->model = model;
	l->options = options;
	l->ids = mem_new(PREDICT_BATCH, sizeof(*l->ids));
	if (!l->ids)
		return err_memory(err, "lines", PREDICT_BATCH * sizeof(*l->ids));
	if (strcmp(config->data, "-") != 0) {
		const int code = open_file(l, config->data, err);

		if (code)
			return code;
	}
	return feed_open(&l->feed, l->file, LONGEST, err);
}
