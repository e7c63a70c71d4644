/* If a column of numbers turns out to hold categories there is a second pass. */
#include "records/table_scan.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/words/decimal.h"
#include "records/records_types.h"

struct scanning {
	struct table_scan *scan;
	struct table_plan *plan;
	const struct mapped *file;
	struct csv_field *fields;
	struct label_column labels;
	enum time_kind time_kind;
	int64_t last_time;
	int64_t headers;     /* that came again, */
	uint64_t header_row; /* the first of them here */
	struct text no_time; /* why a column is not the time after all */
	bool lenient;
};

uint64_t table_scan_row(const struct table_scan *scan, const struct table_plan *plan, size_t row)
{
	size_t low = 0, high = scan->passed_at.count;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (scan->passed_at.at[middle] <= row)
			low = middle + 1;
		else
			high = middle;
	}
	return row + 1 + plan->headed + (uint64_t)plan->lead_lines +
	       (low ? scan->passed_lines.at[low - 1] : 0);
}

static uint64_t row_number(const struct scanning *s)
{
	return table_scan_row(s->scan, s->plan, s->scan->rows.count);
}

static int no_memory(const struct scanning *s, struct err *err)
{
	return err_memory(err, s->file->path, s->scan->rows.count * 16);
}

/* Takes down a value that may be one of the first of a category. */
static int category_cell(
	struct table_column *column, const struct schema_value *value, size_t most, struct err *err)
{
	int64_t number;

	if (column->vocabulary.names.count >= most)
		return 0;
	number = vocabulary_number(&column->vocabulary, value->words, value->size, err);
	return number < 0 ? (int)number : 0;
}

/* Takes down words as long as there are not many different ones, so that ids are told from others. */
static int meet_words(
	struct table_column *column, const struct schema_value *value, struct err *err)
{
	int64_t number;

	if (column->met.names.count >= TABLE_MET)
		return 0;
	column->cells.looked++;
	number = vocabulary_number(&column->met, value->words, value->size, err);
	return number < 0 ? (int)number : 0;
}

static void count_moment(struct table_column *column, const struct schema_value *value)
{
	enum moment_order order;

	if (!schema_is_time(column->name, value, &order))
		return;
	column->cells.day_first += order == MOMENT_DAY_FIRST;
	column->cells.month_first += order == MOMENT_MONTH_FIRST;
	column->cells.dates++;
	column->cells.clocks += schema_has_clock(value);
}

/* Counts a cell of a column whose kind no key says. */
static void count_cell(
	struct scanning *s, struct table_column *column, const struct schema_value *value)
{
	struct table_cells *cells = &column->cells;
	double number;
	bool written;

	if (s->plan->sizes.dates)
		count_moment(column, value);
	if (value->is == SCHEMA_IS_NUMBER) {
		cells->counting += cells->numbers && value->number == cells->last + 1;
		cells->last = value->number;
		cells->numbers++;
		cells->points += memchr(value->words, '.', value->size) != NULL;
		return;
	}
	written = schema_written_number(value, false, &number);
	if (!cells->words || (!written && cells->written == cells->words)) {
		cells->row = row_number(s);
		schema_shown(value, cells->shown);
	}
	cells->words++;
	cells->written += written;
	cells->commas += schema_written_number(value, true, &number);
	cells->thousands += schema_may_be_thousands(value);
}

/* Whether a column that is one of numbers, whatever comes, takes these words for one or as missing. */
static bool takes_words(const struct scanning *s, const struct table_column *column,
	const struct schema_value *value)
{
	const struct schema_column *made = s->plan->schema && column->input >= 0
						   ? schema_column(s->plan->schema, column->input)
						   : NULL;
	double number;

	return made && (made->lax || schema_written_number(value, made->commas, &number));
}

/* What a column is shows in its first cell, unless the others say otherwise in the end. */
static int input_cell(struct scanning *s, int i, struct err *err)
{
	struct table_column *column = s->plan->columns + i;
	const bool first = !s->scan->rows.count;
	char copy[TABLE_CELL], shown[CELL_SHOWN];
	const struct schema_value value = table_value(&s->fields[i], copy);

	if (first)
		column->opened = value.is == SCHEMA_MISSING;
	/* Too large a number is a word where there are words, as 12e999 among hexadecimal ids. */
	if (value.is == SCHEMA_MISSING && fabs(value.number) > (double)FLT_MAX &&
		column->role == TABLE_CATEGORY)
		return category_cell(column, &value, (size_t)s->plan->sizes.slots, err);
	if (value.is == SCHEMA_MISSING)
		return 0;
	if (!column->fixed) {
		int code = 0;

		count_cell(s, column, &value);
		if (value.is == SCHEMA_IS_WORDS && !s->plan->keep_ids)
			code = meet_words(column, &value, err);
		if (code)
			return code;
	}
	if (column->role == TABLE_NUMBER && value.is == SCHEMA_IS_WORDS) {
		if (column->fixed && !takes_words(s, column, &value))
			return err_set(err, ERR_FORMAT, "%s is not a number",
				cell_shown(s->fields[i], shown));
		if (!column->fixed && !column->seen)
			column->role =
				first && schema_kind_of(column->name, &value, false) == SCHEMA_TEXT
					? TABLE_TEXT
					: TABLE_CATEGORY;
	}
	column->seen = true;
	if (column->role != TABLE_CATEGORY)
		return 0;
	return category_cell(column, &value, (size_t)s->plan->sizes.slots, err);
}

/* A column that only its name calls the time, and that has none in this row, is an input. */
static int no_time(struct scanning *s, const struct err *why)
{
	text_addf(&s->no_time,
		"column %s is not the time, because of row %" PRIu64 ": %.200s; rows stay in their "
		"order (--ignore %s leaves the column out)\n",
		s->plan->columns[s->plan->time].name, row_number(s), why->message,
		s->plan->columns[s->plan->time].name);
	s->plan->columns[s->plan->time].role = TABLE_NUMBER;
	s->plan->time = -1;
	return COLUMN_AGAIN;
}

static bool guessed_here(const struct scanning *s)
{
	return s->plan->guessed && !s->plan->schema;
}

/*
 * What only a name calls the time is a date, or counts seconds since 1970, or never falls. A
 * date is an input besides.
 */
static int judge_time(struct scanning *s, int64_t time, struct err *why)
{
	struct table_column *column = s->plan->columns + s->plan->time;
	const bool first = !s->scan->rows.count;
	char copy[TABLE_CELL], shown[CELL_SHOWN];
	const struct schema_value value = table_value(&s->fields[s->plan->time], copy);

	count_moment(column, &value);
	column->cells.numbers++;
	if (first || time >= s->last_time || column->cells.dates == column->cells.numbers)
		return 0;
	return err_set(why, ERR_FORMAT, "%s is less than in the row before",
		cell_shown(s->fields[s->plan->time], shown));
}

static int time_cell(struct scanning *s, struct err *err)
{
	const int i = s->plan->time;
	struct err why = {0};
	int64_t time = 0;
	int code = time_column_cell(&s->time_kind, s->fields[i], &time, &why);

	if (!code && guessed_here(s))
		code = judge_time(s, time, &why);
	if (code < 0 && code != ERR_MEMORY && guessed_here(s))
		return no_time(s, &why);
	if (code && err)
		*err = why;
	if (code)
		return code;
	s->last_time = time;
	return numbers_add(&s->scan->times, (uint64_t)time) ? 0 : no_memory(s, err);
}

/* Several labels, which are numbers. *bad: the column of one that is not. */
static int target_cells(struct scanning *s, int *bad, struct err *err)
{
	const struct table_plan *plan = s->plan;
	struct table_values *values = &s->scan->values;
	const size_t first = s->scan->rows.count * (size_t)plan->targets;
	char shown[CELL_SHOWN];

	if (!grow_room(&values->at, &values->room, first + (size_t)plan->targets, sizeof(float)))
		return no_memory(s, err);
	for (int k = 0; k < plan->targets; k++) {
		const struct csv_field cell = csv_trim(&s->fields[plan->target_at[k]]);
		double number;

		*bad = plan->target_at[k];
		if (!table_label_alone(&cell, plan->separator, &number) || !isfinite((float)number))
			return err_set(err, ERR_FORMAT,
				"%s is not a finite number of 32 bits, as each of several labels "
				"is",
				cell_shown(cell, shown));
		values->at[first + (size_t)k] = (float)number;
	}
	return 0;
}

static int row_cells(struct scanning *s, uint64_t at, struct err *err)
{
	struct table_plan *plan = s->plan;
	int64_t label = plan->label >= 0 ? 0 : RECORD_NO_LABEL;
	int again = 0;

	for (int i = 0; i < plan->count; i++) {
		const enum table_role role = plan->columns[i].role;
		int code = 0;

		if (role == TABLE_LABEL && plan->targets == 1)
			code = label_column_cell(&s->labels, s->fields[i], &label, err);
		else if (role == TABLE_TIME)
			code = time_cell(s, err);
		else if (role <= TABLE_TEXT)
			code = input_cell(s, i, err);
		/* The row may be a good one once the column has become another kind. */
		if (code < 0)
			return again && code != ERR_MEMORY
				       ? COLUMN_AGAIN
				       : columns_bad_cell(s->file, row_number(s),
						 plan->columns[i].name, code, err);
		again |= code;
	}
	if (again)
		return COLUMN_AGAIN;
	if (plan->targets > 1) {
		int bad = plan->label;
		const int code = target_cells(s, &bad, err);

		if (code)
			return columns_bad_cell(
				s->file, row_number(s), plan->columns[bad].name, code, err);
	}
	return numbers_add(&s->scan->rows, at | (uint64_t)label << TABLE_AT_BITS)
		       ? 0
		       : no_memory(s, err);
}

/* Makes a bad record of a row that makes no sense, which ends with its line; or it is an error. */
static int skip_row(struct scanning *s, size_t at, int64_t *used, int code, struct err *err)
{
	struct table_scan *scan = s->scan;

	if (!s->lenient || code == ERR_MEMORY || code == COLUMN_AGAIN)
		return code;
	if (scan->times.count > scan->rows.count)
		scan->times.count = scan->rows.count;
	if (s->plan->targets > 1 &&
		!grow_room(&scan->values.at, &scan->values.room,
			(scan->rows.count + 1) * (size_t)s->plan->targets, sizeof(float)))
		return no_memory(s, err);
	if ((s->plan->time >= 0 && !numbers_add(&scan->times, (uint64_t)s->last_time)) ||
		!numbers_add(&scan->rows, at | RECORD_NO_LABEL << TABLE_AT_BITS))
		return no_memory(s, err);
	*used = (int64_t)columns_line(s->file, at);
	return 0;
}

/* The size of blank lines that begin here, and how many they are. */
static size_t blank_lines(const struct scanning *s, size_t at, uint64_t *lines)
{
	const unsigned char *bytes = s->file->data;
	size_t end = at;

	for (size_t i = at; i < s->file->size; i++) {
		if (bytes[i] != ' ' && bytes[i] != '\r' && bytes[i] != '\n')
			return end - at;
		if (bytes[i] == '\n') {
			++*lines;
			end = i + 1;
		}
	}
	return s->file->size - at;
}

/* The size of the line that begins here if it is the header, as where files were put together. */
static size_t header_again(const struct scanning *s, size_t at)
{
	const size_t size = s->plan->header;
	const char *header = (const char *)s->file->data + s->plan->lead;
	const char *bytes = (const char *)s->file->data;
	const size_t mark = csv_mark(bytes + at, s->file->size - at);

	if (!s->plan->headed)
		return 0;
	at += mark;
	if (s->file->size - at < size || memcmp(bytes + at, header, size) != 0 ||
		(s->file->size - at > size && bytes[at + size] != '\n' && bytes[at + size] != '\r'))
		return 0;
	return mark + size + columns_line(s->file, at + size);
}

/* Passes over lines that are no rows. Their size, or an error. */
static int64_t pass_over(struct scanning *s, size_t at, struct err *err)
{
	struct table_scan *scan = s->scan;
	const size_t before = scan->passed_lines.count;
	uint64_t lines = 0;
	size_t size = blank_lines(s, at, &lines);

	if (!size && (size = header_again(s, at))) {
		lines = 1;
		if (!s->headers++)
			s->header_row = row_number(s);
	}
	if (!size)
		return 0;
	if (before)
		lines += scan->passed_lines.at[before - 1];
	if (!numbers_add(&scan->passed_at, scan->rows.count) ||
		!numbers_add(&scan->passed_lines, lines))
		return no_memory(s, err);
	return (int64_t)size;
}

static void begin_pass(struct scanning *s)
{
	struct table_scan *scan = s->scan;

	scan->rows.count = scan->times.count = 0;
	scan->passed_at.count = scan->passed_lines.count = 0;
	s->headers = 0;
	for (int i = 0; i < s->plan->count; i++) {
		struct table_column *column = s->plan->columns + i;

		vocabulary_release(&column->vocabulary);
		vocabulary_release(&column->met);
		column->cells = (struct table_cells){0};
		column->seen = false;
	}
}

static int read_rows(struct scanning *s, struct err *err)
{
	size_t at = s->plan->lead;
	bool header = s->plan->headed;
	int64_t used;

	begin_pass(s);
	for (; at < s->file->size; at += (size_t)used) {
		int code;

		used = header ? 0 : pass_over(s, at, err);
		if (used < 0)
			return (int)used;
		if (used)
			continue;
		used = columns_row(s->file, at, s->plan->separator, s->plan->count, TABLE_ROW,
			header ? (uint64_t)s->plan->lead_lines + 1 : row_number(s), s->fields, err);
		if (used == 0)
			break;
		if (header && used > 0) {
			header = false;
			continue;
		}
		if (header)
			return (int)used;
		code = used > 0 ? row_cells(s, at, err) : (int)used;
		if (code)
			code = skip_row(s, at, &used, code, err);
		if (code)
			return code;
	}
	return 0;
}

static int finish_labels(struct scanning *s, struct err *err)
{
	struct numbers *rows = &s->scan->rows;
	uint32_t *ranks;
	int code;

	s->scan->classes = 1;
	if (s->plan->targets > 1)
		return 0;
	code = label_column_end(&s->labels, &s->scan->classes, &ranks, err);
	if (code || !ranks)
		return code;
	for (size_t i = 0; i < rows->count; i++)
		if (rows->at[i] >> TABLE_AT_BITS != RECORD_NO_LABEL)
			rows->at[i] = (rows->at[i] & TABLE_AT_MASK) |
				      (uint64_t)ranks[rows->at[i] >> TABLE_AT_BITS]
					      << TABLE_AT_BITS;
	mem_free(ranks);
	s->scan->class_names = s->labels.vocabulary.names;
	s->labels.vocabulary.names = (struct name_list){0};
	return 0;
}

static int read_all(struct scanning *s, struct err *err)
{
	const int code = read_rows(s, err);

	if (!code && !s->scan->rows.count)
		return err_set(err, ERR_FORMAT, "%s: has no rows%s", s->file->path,
			s->plan->headed ? " below its header (table.header = no: it has none)"
					: "");
	if (!code && table_plan_settle(s->plan))
		return COLUMN_AGAIN;
	return code ? code : finish_labels(s, err);
}

static void settle_time(struct table_plan *plan)
{
	struct table_column *column = plan->columns + plan->time;

	if (!plan->sizes.dates || column->cells.dates < column->cells.numbers)
		return;
	column->role = TABLE_DATE;
	column->seen = true;
	column->clock = column->cells.clocks > 0;
}

static void note_headers(const struct scanning *s)
{
	if (s->headers)
		text_addf(&s->plan->notes,
			"its header comes again in row %" PRIu64 "%s; %s skipped\n", s->header_row,
			s->headers > 1 ? " and below" : "",
			s->headers > 1 ? "such lines are" : "it is");
}

int table_scan(struct table_scan *scan, struct table_plan *plan, const struct mapped *file,
	bool lenient, struct err *err)
{
	struct scanning s = {.scan = scan,
		.plan = plan,
		.file = file,
		.labels.kind = plan->labels,
		.lenient = lenient};
	int code = 0;

	*scan = (struct table_scan){0};
	if (file->size >> TABLE_AT_BITS)
		return err_set(err, ERR_INPUT, "%s: is larger than a terabyte", file->path);
	s.fields = mem_new((size_t)plan->count, sizeof(*s.fields));
	if (!s.fields)
		code = no_memory(&s, err);
	if (!code)
		do
			code = read_all(&s, err);
		while (code == COLUMN_AGAIN);
	if (!code && plan->time >= 0 && guessed_here(&s))
		settle_time(plan);
	if (!code)
		note_headers(&s);
	if (!code && s.no_time.size)
		text_addf(&plan->notes, "%s", s.no_time.data);
	text_release(&s.no_time);
	label_column_release(&s.labels);
	mem_free(s.fields);
	return code ? code : table_plan_end(plan, file->path, err);
}

void table_scan_release(struct table_scan *scan)
{
	numbers_release(&scan->rows);
	numbers_release(&scan->times);
	numbers_release(&scan->passed_at);
	numbers_release(&scan->passed_lines);
	mem_free(scan->values.at);
	name_list_release(&scan->class_names);
	*scan = (struct table_scan){0};
}
