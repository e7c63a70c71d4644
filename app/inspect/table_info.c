/*
 * Every column counts its values and, for each of them, the classes that it comes with:
 * a value that comes with one class only, for nearly all rows, gives the label away.
 */
#include "inspect/table_info.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "base/mem.h"
#include "formats/csv.h"
#include "records/columns.h"
#include "records/table_plan.h"
#include "records/table_scan.h"

enum { ROWS_LEAST = 20, QUANTITY = 50, WRONG_MOST = 40 };

/* What a column is seen to hold. */
struct seen {
	struct vocabulary values;
	int64_t *counts; /* of each value */
	size_t room;
	int32_t *class; /* of each value: that of its first row */
	int64_t *agree; /* its rows that have that class, too */
	size_t class_room, agree_room;
	int64_t commas, wholes, growing;
	double last;
	char odd[CELL_SHOWN]; /* the first word */
};

struct survey {
	struct table_info *info;
	struct table_plan plan;
	struct table_scan scan;
	struct mapped file;
	struct seen *seen;
	size_t wrong_room;
};

static void wrong(struct survey *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void wrong(struct survey *s, const char *format, ...)
{
	struct table_info *info = s->info;
	va_list list;

	if (info->wrong_count == WRONG_MOST ||
		!grow_room(&info->wrong, &s->wrong_room, (size_t)info->wrong_count + 1,
			sizeof(*info->wrong)))
		return;
	va_start(list, format);
	vsnprintf(info->wrong[info->wrong_count++], sizeof(*info->wrong), format, list);
	va_end(list);
}

/* "1,5", "-12,75": a number with a decimal comma. */
static bool is_comma_number(const struct schema_value *value)
{
	size_t digits = 0, after = 0, commas = 0;

	for (size_t i = 0; i < value->size; i++) {
		const char c = value->words[i];

		if (c == ',')
			commas++;
		else if (c >= '0' && c <= '9')
			commas ? after++ : digits++;
		else if (i || (c != '-' && c != '+'))
			return false;
	}
	return commas == 1 && digits && after;
}

static int count_value(struct seen *seen, struct table_info_column *column,
	const struct schema_value *value, int32_t class, struct err *err)
{
	int64_t at = vocabulary_find(&seen->values, value->words, value->size);

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

static int count_cell(
	struct survey *s, int i, struct csv_field cell, int32_t class, struct err *err)
{
	struct table_info_column *column = s->info->columns + i;
	struct seen *seen = s->seen + i;
	char copy[TABLE_CELL];
	const struct schema_value value = table_value(csv_trim(cell), copy);

	if (value.is == SCHEMA_MISSING) {
		column->missing++;
		return 0;
	}
	if (value.is == SCHEMA_IS_WORDS) {
		seen->commas += is_comma_number(&value);
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
		       : count_value(seen, column, &value, class, err);
}

static int count_rows(struct survey *s, struct err *err)
{
	const uint64_t mask = (UINT64_C(1) << TABLE_AT_BITS) - 1;
	struct csv_field *fields = mem_new((size_t)s->plan.count, sizeof(*fields));
	int code = fields ? 0 : err_memory(err, "a row", sizeof(*fields));
	size_t used;

	for (size_t row = 0; row < s->scan.rows.count && !code; row++) {
		const size_t at = (size_t)(s->scan.rows.at[row] & mask);
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

/* The share of rows that a guess by this column's values alone gets right. */
static double told_by(const struct seen *seen, int64_t rows)
{
	int64_t right = 0;

	for (size_t i = 0; i < seen->values.names.count; i++)
		right += seen->agree[i];
	return rows ? (double)right / (double)rows : 0;
}

static void judge_input(struct survey *s, int i, double majority)
{
	const struct table_info_column *column = s->info->columns + i;
	const struct seen *seen = s->seen + i;
	const int64_t rows = s->info->rows, there = rows - column->missing;
	const bool unique = !column->more ? column->different == there
					  : seen->growing == there; /* more than can be counted */
	const bool number = s->plan.columns[i].role == TABLE_NUMBER;

	const bool commas = seen->commas && 10 * seen->commas >= 9 * column->words;

	if (!there)
		wrong(s, "column %s: has no values", column->name);
	else if (column->different == 1 && !column->more && !column->missing)
		wrong(s, "column %s: is always %s; it tells nothing", column->name,
			name_list_at(&seen->values.names, 0));
	else if (rows >= ROWS_LEAST && unique && !commas && (!number || seen->growing == there))
		wrong(s,
			"column %s: no value comes twice, as in an id; leave it out: "
			"table.ignore=%s",
			column->name, column->name);
	else if (rows >= ROWS_LEAST && !column->more && column->different <= rows / 4 &&
		 majority < 0.98 && told_by(seen, there) > 0.995 && there > rows / 2)
		wrong(s,
			"column %s: gives the label away (%.1f %% of the rows by its value alone); "
			"was it known before the label?",
			column->name, 100 * told_by(seen, there));
	if (commas)
		wrong(s, "column %s: %s is no number; write decimal points, not commas",
			column->name, seen->odd);
	else if (s->plan.columns[i].role == TABLE_CATEGORY && column->words &&
		 column->numbers > 9 * column->words)
		wrong(s,
			"column %s: %" PRId64 " of %" PRId64
			" cells are no numbers (%s), so all are categories; empty cells would be "
			"missing",
			column->name, column->words, there, seen->odd);
	else if (s->plan.columns[i].role == TABLE_CATEGORY &&
		 (column->more || column->different > s->plan.sizes.slots))
		wrong(s,
			"column %s: has %s%" PRId64 " different values; the first %d have an input "
			"each, the rest share them (schema.slots)",
			column->name, column->more ? "more than " : "", column->different,
			s->plan.sizes.slots);
}

static void judge_label(struct survey *s, double *majority)
{
	const struct table_info_column *column = s->info->columns + s->plan.label;
	const struct seen *seen = s->seen + s->plan.label;
	const int64_t rows = s->info->rows;
	const bool named = s->scan.class_names.count;

	*majority = column->shown_count ? (double)column->shown[0].count / (double)rows : 1;
	if (column->different == 1 && !column->more)
		wrong(s, "label %s: is always %s; there is nothing to learn", column->name,
			column->shown[0].name);
	else if (column->numbers == rows && seen->wholes < rows)
		wrong(s,
			"label %s: has numbers with fractions; it looks like a quantity, and "
			"retain "
			"learns classes",
			column->name);
	else if (column->numbers == rows &&
		 (column->more || (column->different > QUANTITY && 10 * column->different > rows)))
		wrong(s,
			"label %s: has %s%" PRId64 " different numbers in %" PRId64
			" rows; it looks like a quantity, and retain learns classes",
			column->name, column->more ? "more than " : "", column->different, rows);
	else if (column->numbers == rows && named && column->most + 1 > (double)column->different)
		wrong(s,
			"label %s: has %" PRId64
			" different numbers from %g to %g; they are taken as names (table.labels)",
			column->name, column->different, column->least, column->most);
	else if (column->numbers == rows && column->most + 1 > (double)column->different)
		wrong(s,
			"label %s: has %" PRId64
			" different numbers from %g to %g; classes are 0 to "
			"%g, those between and below never come",
			column->name, column->different, column->least, column->most, column->most);
	else if (10 * (int64_t)s->scan.classes > rows && rows >= ROWS_LEAST)
		wrong(s,
			"label %s: has %d classes in %" PRId64
			" rows; is it the right column (table.label)?",
			column->name, s->scan.classes, rows);
}

static void describe(struct survey *s)
{
	static const char *const roles[] = {
		[TABLE_LABEL] = "label", [TABLE_TIME] = "time", [TABLE_IGNORED] = "ignored"};
	double majority = 1;

	for (int i = 0; i < s->plan.count; i++) {
		const struct table_column *from = s->plan.columns + i;
		struct table_info_column *column = s->info->columns + i;

		column->kind = roles[from->role > TABLE_TEXT ? from->role : TABLE_LABEL];
		if (from->input >= 0) {
			const struct schema_column *made =
				schema_column(s->plan.schema, from->input);

			column->kind = schema_kinds[made->kind];
			column->inputs = (int)made->inputs;
		}
		column->different = (int64_t)s->seen[i].values.names.count;
		show_values(column, s->seen + i);
	}
	if (s->plan.label >= 0)
		judge_label(s, &majority);
	for (int i = 0; i < s->plan.count; i++)
		if (s->plan.columns[i].input >= 0)
			judge_input(s, i, majority);
}

static int survey(
	struct survey *s, const char *path, const struct options *options, struct err *err)
{
	struct table_info *info = s->info;
	int code = mapped_open(&s->file, path, MAPPED_UNPACK, err);

	if (!code)
		code = table_plan_init(&s->plan, path,
			&(struct table_lines){(const char *)s->file.data, s->file.size}, options,
			err);
	if (!code)
		code = table_scan(&s->scan, &s->plan, &s->file, records_lenient(options), err);
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

int table_info(struct table_info *info, const struct options *options, struct err *err)
{
	const char *path = records_words_path(options_text(options, "stream.source"));
	struct survey s = {.info = info};
	int code;

	*info = (struct table_info){0};
	code = survey(&s, path, options, err);
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
