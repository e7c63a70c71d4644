/*
 * Every column counts its values and, for each of them, its classes: a value that comes with only
 * one class, for nearly all rows, gives the label away.
 */
#include "inspect/table_info_impl.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "base/mem.h"
#include "base/words/moment.h"
#include "formats/csv.h"
#include "formats/json_rows.h"
#include "records/columns.h"
#include "records/table_target.h"

/* Bytes that a brief look is at. */
enum { BRIEF = 1 << 20 };

static int count_value(struct seen *seen, struct table_info_column *column,
	const struct schema_value *value, int32_t class, bool brief, struct err *err)
{
	int64_t at;

	/* What is judged of values needs all of them. */
	if (column->more && brief)
		return 0;
	at = vocabulary_find(&seen->values, value->words, value->size);
	if (at < 0 && seen->values.names.count == TABLE_INFO_VALUES) {
		column->more = true;
		return 0;
	}
	if (at < 0) {
		at = vocabulary_number(&seen->values, value->words, value->size, err);
		if (at < 0)
			return (int)at;
		if (!grow_room(&seen->counts, &seen->room, (size_t)at + 1, sizeof(*seen->counts)) ||
			!grow_room(&seen->class, &seen->class_room, (size_t)at + 1,
				sizeof(*seen->class)) ||
			!grow_room(&seen->agree, &seen->agree_room, (size_t)at + 1,
				sizeof(*seen->agree)))
			return err_memory(err, "values", (size_t)at * 20);
		seen->counts[at] = seen->agree[at] = 0;
		seen->class[at] = class;
	}
	seen->counts[at]++;
	seen->agree[at] += seen->class[at] == class;
	return 0;
}

/* A value as its column has it: a number with a comma, an odd word that is missing, a large number. */
static void take_as_column(const struct table_column *column, struct schema_value *value)
{
	const bool words = column->role == TABLE_CATEGORY || column->role == TABLE_TEXT;

	if (column->role == TABLE_NUMBER &&
		schema_written_number(value, column->commas, &value->number))
		value->is = SCHEMA_IS_NUMBER;
	else if (value->is == SCHEMA_IS_WORDS && column->lax)
		value->is = SCHEMA_MISSING;
	else if (value->is == SCHEMA_MISSING && words && fabs(value->number) > (double)FLT_MAX)
		value->is = SCHEMA_IS_WORDS;
}

static int count_blanks(const struct schema_value *value)
{
	int blanks = 0;

	for (size_t i = 0; i < value->size; i++)
		blanks += value->words[i] == ' ';
	return blanks;
}

static int count_cell(
	struct survey *s, int i, struct csv_field cell, int32_t class, struct err *err)
{
	struct table_info_column *column = s->info->columns + i;
	struct seen *seen = s->seen + i;
	char copy[TABLE_CELL];
	struct schema_value value = table_value(&cell, copy);
	double number;
	int64_t date;

	take_as_column(s->plan.columns + i, &value);
	if (value.is == SCHEMA_MISSING) {
		column->missing++;
		return 0;
	}
	if (value.is == SCHEMA_IS_WORDS) {
		seen->commas += schema_written_number(&value, true, &number);
		seen->dates += moment_date(value.words, value.size, &date);
		seen->blanks += count_blanks(&value);
		if (!column->words++)
			schema_shown(&value, seen->odd);
	} else {
		const bool first = !column->numbers++;

		seen->wholes += value.number == rint(value.number);
		seen->growing += first || value.number == seen->last + 1;
		seen->last = value.number;
		column->least = first ? value.number : fmin(column->least, value.number);
		column->most = first ? value.number : fmax(column->most, value.number);
		column->mean += (value.number - column->mean) / (double)column->numbers;
	}
	return memchr(value.words, '\0', value.size)
		       ? 0
		       : count_value(seen, column, &value, class, s->brief, err);
}

static int count_rows(struct survey *s, struct err *err)
{
	struct csv_field *fields = mem_new((size_t)s->plan.count, sizeof(*fields));
	int code = fields ? 0 : err_memory(err, "a row", sizeof(*fields));
	size_t used;

	for (size_t row = 0; row < s->scan.rows.count && !code; row++) {
		const size_t at = (size_t)(s->scan.rows.at[row] & TABLE_AT_MASK);
		const int32_t class = (int32_t)(s->scan.rows.at[row] >> TABLE_AT_BITS);
		const int n = csv_row((const char *)s->file.data + at, s->file.size - at,
			s->plan.separator, fields, s->plan.count, &used);

		for (int i = 0; n == s->plan.count && i < n && !code; i++)
			code = count_cell(s, i, fields[i], class, err);
	}
	mem_free(fields);
	return code;
}

static void show_values(struct table_info_column *column, const struct seen *seen)
{
	bool taken[TABLE_INFO_VALUES] = {0};

	for (int k = 0; k < TABLE_INFO_SHOWN; k++) {
		int64_t best = -1;

		for (size_t i = 0; i < seen->values.names.count; i++)
			if (!taken[i] && (best < 0 || seen->counts[i] > seen->counts[best]))
				best = (int64_t)i;
		if (best < 0)
			return;
		taken[best] = true;
		snprintf(column->shown[k].name, TABLE_INFO_NAME, "%.60s",
			name_list_at(&seen->values.names, (size_t)best));
		column->shown[k].count = seen->counts[best];
		column->shown_count = k + 1;
	}
}

static void describe(struct survey *s)
{
	static const char *const roles[] = {
		[TABLE_LABEL] = "label", [TABLE_TIME] = "time", [TABLE_IGNORED] = "ignored"};

	for (int i = 0; i < s->plan.count; i++) {
		const struct table_column *from = s->plan.columns + i;
		struct table_info_column *column = s->info->columns + i;

		column->kind = roles[from->role > TABLE_TEXT ? from->role : TABLE_LABEL];
		column->number = from->role == TABLE_LABEL && s->number;
		if (from->input >= 0) {
			const struct schema_column *made =
				schema_column(s->plan.schema, from->input);

			column->kind = schema_kinds[made->kind];
			column->inputs = (int)made->inputs;
		}
		column->different = (int64_t)s->seen[i].values.names.count;
		show_values(column, s->seen + i);
	}
	table_judge(s);
}

/* A table's beginning, as a file of whole lines. */
static void cut_short(struct survey *s)
{
	if (s->file.size <= BRIEF)
		return;
	s->cut = true;
	s->file.size = BRIEF;
	while (s->file.size > 1 && s->file.data[s->file.size - 1] != '\n')
		s->file.size--;
}

static int survey(struct survey *s, const char *path, const struct options *options, bool brief,
	struct err *err)
{
	struct table_info *info = s->info;
	float *numbers = NULL;
	bool json;
	int code = json_rows_open(&s->file, &json, path, err);

	s->as_it_lies = !strcmp(options_text(options, "stream.order"), "time") ||
			!strcmp(options_text(options, "stream.order"), "given");
	s->brief = brief;
	if (!code && brief)
		cut_short(s);
	if (!code)
		code = table_plan_init(&s->plan, path,
			&(struct table_lines){
				(const char *)s->file.data, s->file.size, .headed = json},
			options, err);
	if (!code)
		code = table_scan(&s->scan, &s->plan, &s->file, records_lenient(options), err);
	if (!code)
		code = table_target(&numbers, &s->scan, &s->plan, path, options, err);
	s->number = numbers || s->plan.targets > 1;
	mem_free(numbers);
	if (code)
		return code;
	info->rows = (int64_t)s->scan.rows.count;
	info->headed = s->plan.headed;
	info->columns = mem_new((size_t)s->plan.count, sizeof(*info->columns));
	s->seen = mem_new((size_t)s->plan.count, sizeof(*s->seen));
	if (!info->columns || !s->seen)
		return err_memory(err, "columns", (size_t)s->plan.count * sizeof(*info->columns));
	info->count = s->plan.count;
	for (int i = 0; i < info->count; i++)
		memcpy(info->columns[i].name, s->plan.columns[i].name, TABLE_INFO_NAME);
	code = count_rows(s, err);
	if (!code)
		describe(s);
	return code;
}

bool table_info_is(const struct options *options)
{
	return records_tabular(options_text(options, "stream.source"));
}

int table_info(struct table_info *info, const struct options *options, bool brief, struct err *err)
{
	const char *path = records_words_path(options_text(options, "stream.source"));
	struct survey s = {.info = info};
	int code;

	*info = (struct table_info){0};
	code = survey(&s, path, options, brief, err);
	for (int i = 0; i < s.plan.count && s.seen; i++) {
		vocabulary_release(&s.seen[i].values);
		mem_free(s.seen[i].counts);
		mem_free(s.seen[i].class);
		mem_free(s.seen[i].agree);
	}
	mem_free(s.seen);
	table_scan_release(&s.scan);
	table_plan_release(&s.plan);
	mapped_close(&s.file);
	if (code)
		table_info_release(info);
	return code;
}

void table_info_release(struct table_info *info)
{
	mem_free(info->columns);
	mem_free(info->wrong);
	*info = (struct table_info){0};
}
