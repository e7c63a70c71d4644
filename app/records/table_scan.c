/* When a column of numbers turns out to hold categories the pass begins anew. */
#include "records/table_scan.h"

#include "base/mem.h"
#include "records/records_types.h"

struct scanning {
	struct table_scan *scan;
	struct table_plan *plan;
	const struct mapped *file;
	struct csv_field *fields;
	struct label_column labels;
	enum time_kind time_kind;
	int64_t last_time;
	bool lenient;
};

static uint64_t row_number(const struct scanning *s)
{
	return s->scan->rows.count + 1 + s->plan->headed;
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

/* What a column is shows in its first cell, save that a word makes a number a category. */
static int input_cell(struct scanning *s, int i, struct err *err)
{
	struct table_column *column = s->plan->columns + i;
	const bool first = !s->scan->rows.count;
	char copy[TABLE_CELL], shown[CELL_SHOWN];
	const struct schema_value value = table_value(csv_trim(s->fields[i]), copy);

	if (first)
		column->opened = value.is == SCHEMA_MISSING;
	if (value.is == SCHEMA_MISSING)
		return 0;
	if (column->role == TABLE_NUMBER && value.is == SCHEMA_IS_WORDS) {
		if (column->fixed)
			return err_set(err, ERR_FORMAT, "%s is no number",
				cell_shown(s->fields[i], shown));
		column->role = first && schema_kind_of(&value) == SCHEMA_TEXT ? TABLE_TEXT
									      : TABLE_CATEGORY;
		if (column->seen)
			return COLUMN_AGAIN;
	}
	column->seen = true;
	if (column->role != TABLE_CATEGORY)
		return 0;
	return category_cell(column, &value, (size_t)s->plan->sizes.slots, err);
}

static int time_cell(struct scanning *s, struct err *err)
{
	const int i = s->plan->time;
	int64_t time = 0;
	const int code = time_column_cell(&s->time_kind, s->fields[i], &time, err);

	if (code)
		return code;
	s->last_time = time;
	return numbers_add(&s->scan->times, (uint64_t)time) ? 0 : no_memory(s, err);
}

static int row_cells(struct scanning *s, uint64_t at, struct err *err)
{
	struct table_plan *plan = s->plan;
	int64_t label = plan->label >= 0 ? 0 : RECORD_NO_LABEL;
	int again = 0;

	for (int i = 0; i < plan->count; i++) {
		const enum table_role role = plan->columns[i].role;
		int code = 0;

		if (role == TABLE_LABEL)
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
	if ((s->plan->time >= 0 && !numbers_add(&scan->times, (uint64_t)s->last_time)) ||
		!numbers_add(&scan->rows, at | RECORD_NO_LABEL << TABLE_AT_BITS))
		return no_memory(s, err);
	*used = (int64_t)columns_line(s->file, at);
	return 0;
}

static int read_rows(struct scanning *s, struct err *err)
{
	struct table_scan *scan = s->scan;
	size_t at = csv_mark((const char *)s->file->data, s->file->size);
	bool header = s->plan->headed;
	int64_t used;

	scan->rows.count = scan->times.count = 0;
	for (int i = 0; i < s->plan->count; i++) {
		vocabulary_release(&s->plan->columns[i].vocabulary);
		s->plan->columns[i].seen = false;
	}
	for (; at < s->file->size; at += (size_t)used) {
		int code;

		used = columns_row(s->file, at, s->plan->separator, s->plan->count, TABLE_ROW,
			header ? 1 : row_number(s), s->fields, err);
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
	const int code = label_column_end(&s->labels, &s->scan->classes, &ranks, err);

	if (code || !ranks)
		return code;
	for (size_t i = 0; i < rows->count; i++)
		if (rows->at[i] >> TABLE_AT_BITS != RECORD_NO_LABEL)
			rows->at[i] = (rows->at[i] & ((UINT64_C(1) << TABLE_AT_BITS) - 1)) |
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
	return code ? code : finish_labels(s, err);
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
	label_column_release(&s.labels);
	mem_free(s.fields);
	return code ? code : table_plan_end(plan, file->path, err);
}

void table_scan_release(struct table_scan *scan)
{
	numbers_release(&scan->rows);
	numbers_release(&scan->times);
	name_list_release(&scan->class_names);
	*scan = (struct table_scan){0};
}
