/*
 * The plan of a table is made from one line, and again from every valid later heading. Without a
 * schema it waits for the first row, which shows the kinds of columns; from then on the schema
 * belongs to the stream, and a plan only locates its columns.
 */
#include "live/live_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/grow.h"
#include "base/mem.h"
#include "base/words/decimal.h"
#include "live/live_cells.h"
#include "schema/schema.h"
#include "store/journal.h"

#define HEADING "the heading" /* begins sentences about it */
static const char note_heading[] = "table heading", note_rows[] = "table rows";

void live_table_init(struct live_table *table, const struct options *options)
{
	*table = (struct live_table){.options = options, .id = -1};
}

void live_table_release(struct live_table *table)
{
	table_plan_release(&table->plan);
	mem_free(table->columns);
	mem_free(table->cells);
	text_release(&table->heading);
	text_release(&table->lacks);
	*table = (struct live_table){0};
}

bool live_table_is(const char *bytes, size_t size)
{
	struct csv_field cells[2];

	return live_cells(bytes, size, csv_separator(bytes, size), cells, 2) > 1;
}

void live_table_about(const struct live_table *table, struct text *words)
{
	text_addf(words, "a table: ");
	table_plan_about(&table->plan, words);
}

static int cells_room(struct live_table *table, int count, struct err *err)
{
	if (grow_room(&table->cells, &table->cells_room, (size_t)count, sizeof(*table->cells)))
		return 0;
	return err_memory(err, "cells of a table", (size_t)count * sizeof(*table->cells));
}

/* The cells of a line, all of them unless they are more than a table may have. */
static int read_cells(struct live_table *table, const char *bytes, size_t size, char separator,
	int *n, struct err *err)
{
	int code = cells_room(table, 1, err);

	if (code)
		return code;
	*n = live_cells(bytes, size, separator, table->cells, (int)table->cells_room);
	if (*n <= (int)table->cells_room || *n > TABLE_COLUMNS)
		return 0;
	code = cells_room(table, *n, err);
	if (!code)
		live_cells(bytes, size, separator, table->cells, *n);
	return code;
}

/* A column called id, unless a key gives it to something else. */
static int find_id(const struct table_plan *plan)
{
	for (int i = 0; plan->headed && i < plan->count; i++)
		if (!strcasecmp(plan->columns[i].name, "id") && plan->columns[i].role <= TABLE_TEXT)
			return i;
	return -1;
}

/* What columns there are, by a first line or a heading, for a table that knew of none. */
static int plan_of(struct live_table *table, const char *bytes, size_t size, struct err *err)
{
	const struct table_lines lines = {bytes, size, .first_only = true};
	int code = 0;

	text_add_bytes(&table->heading, bytes, size);
	if (table->heading.failed)
		code = err_memory(err, "a heading", size);
	else if (memchr(bytes, '\0', size))
		code = err_set(err, ERR_FORMAT, HEADING " holds a zero byte");
	if (!code)
		code = table_plan_init(&table->plan, HEADING, &lines, table->options, err);
	if (!code && !grow_room(&table->columns, &table->columns_room, (size_t)table->plan.count,
			     sizeof(*table->columns)))
		code = err_memory(err, "columns of a table",
			(size_t)table->plan.count * sizeof(*table->columns));
	if (code) {
		table_plan_release(&table->plan);
		text_release(&table->heading);
		table->plan = (struct table_plan){0};
		return code;
	}
	table->id = find_id(&table->plan);
	if (table->id >= 0)
		table->plan.columns[table->id].role = TABLE_IGNORED;
	return 0;
}

/* The label is where the schema has it or, if it does not know, in no column of an input. */
static void find_label(struct live_table *table, const struct schema *schema)
{
	struct table_plan *plan = &table->plan;
	const char *label = schema_label(schema);

	for (int k = 0; k < plan->targets && !label; k++)
		if (table->columns[plan->target_at[k]] >= 0)
			table_plan_labels(plan, NULL);
	if (label)
		table_plan_labels(plan, label);
}

/* How many columns the first row had. */
static int first_columns(const struct schema *schema)
{
	int count = schema_count(schema);

	while (count && schema_column(schema, count - 1)->late)
		count--;
	return count;
}

/* Whether so many known columns make a heading, of a table that may have become another. */
static bool enough(int first, int found)
{
	return 2 * found >= first;
}

/*
 * What the heading of another file lacks is missing below it, and said; but one that lacks most is
 * of another table, and a first row without names has them all.
 */
static int check_lacks(struct live_table *table, const struct schema *schema, struct err *err)
{
	const struct table_plan *plan = &table->plan;
	const int first = first_columns(schema);
	const char *lacks = NULL;
	int found = 0;

	for (int k = 0; k < first; k++) {
		int at = 0;

		while (at < plan->count && table->columns[at] != k)
			at++;
		found += at < plan->count;
		if (at < plan->count)
			continue;
		lacks = schema_column(schema, k)->name;
		text_addf(&table->lacks, "%s%s", table->lacks.size ? ", " : "", lacks);
	}
	return !lacks || (plan->headed && !table->begun && enough(first, found))
		       ? 0
		       : err_set(err, ERR_INPUT, HEADING " has no column %s", lacks);
}

/* Where the schema's columns are, and of which kinds. */
static int find_columns(struct live_table *table, const struct schema *schema, struct err *err)
{
	static const enum table_role roles[] = {[SCHEMA_NUMBER] = TABLE_NUMBER,
		[SCHEMA_CATEGORY] = TABLE_CATEGORY,
		[SCHEMA_TEXT] = TABLE_TEXT,
		[SCHEMA_OPEN] = TABLE_NUMBER,
		[SCHEMA_TIME] = TABLE_DATE};
	const struct table_plan *plan = &table->plan;

	for (int i = 0; i < plan->count; i++) {
		const char *name = plan->columns[i].name;

		table->columns[i] = schema_find(schema, name, strlen(name));
		if (i == table->id || (table->columns[i] == SCHEMA_NEW_FIELD &&
					      plan->columns[i].role > TABLE_TEXT))
			table->columns[i] = SCHEMA_LEFT_OUT;
		if (table->columns[i] >= 0)
			plan->columns[i].role =
				roles[schema_column(schema, table->columns[i])->kind];
	}
	find_label(table, schema);
	return check_lacks(table, schema, err);
}

/*
 * Columns anew, by a line that may be a heading. A line that turns out to be none, or a bad one,
 * leaves the table as it was. *headed: the line names columns.
 */
static int plan_again(struct live_table *table, const char *bytes, size_t size,
	const struct schema *schema, bool *headed, struct err *err)
{
	struct live_table next;
	int code;

	live_table_init(&next, table->options);
	next.begun = table->begun;
	code = plan_of(&next, bytes, size, err);
	if (!code)
		code = find_columns(&next, schema, err);
	*headed = !code && next.plan.headed;
	if (code || (table->plan.count && !*headed)) {
		live_table_release(&next);
		return code;
	}
	next.cells = table->cells;
	next.cells_room = table->cells_room;
	next.rows = table->rows;
	next.kept = table->kept;
	table->cells = NULL;
	live_table_release(table);
	*table = next;
	return 0;
}

/*
 * A heading has the names of all columns, each once, and the label's, unless it names inputs
 * alone; or, with the label's, of at least half of them where another file begins. A row may have
 * some of them as values.
 */
static bool may_be_heading(const struct live_table *table, int n, const struct schema *schema)
{
	const char *label = schema_label(schema);
	bool found[TABLE_COLUMNS] = {false}, labelled = false;
	const int first = first_columns(schema);
	char name[TABLE_CELL];
	int columns = 0, others = 0;

	if (!label && table->plan.count && table->plan.label >= 0)
		label = table->plan.columns[table->plan.label].name;
	/* Most rows are known not to be one by their first few cells. */
	for (int i = 0; i < n && enough(first, columns + n - i); i++) {
		const bool fits = csv_text(&table->cells[i], name, sizeof(name));
		const int k = fits ? schema_find(schema, name, strlen(name)) : -1;

		if (k >= 0 && (k >= TABLE_COLUMNS || found[k]))
			return false;
		if (k >= 0)
			found[k] = true;
		columns += k >= 0;
		others += k < 0;
		labelled = labelled || (fits && label && !strcmp(name, label));
	}
	return columns >= first ? labelled || !label || !others
				: !table->begun && labelled && columns && enough(first, columns);
}

static bool any_input(const struct live_table *table, const struct csv_field *cells, int n)
{
	for (int i = 0; i < n; i++)
		if (table->columns[i] >= 0 && cells[i].size)
			return true;
	return false;
}

/* Numbers, in a column each: all of them, or none yet. */
static int read_numbers(const struct live_table *table, int n, const struct live_line_shape *shape,
	const char *where, struct event *line, struct err *err)
{
	const struct table_plan *plan = &table->plan;
	int code = 0, there = 0;

	for (int k = 0; k < plan->targets; k++)
		there += plan->target_at[k] < n && table->cells[plan->target_at[k]].size;
	line->has_label = there > 0;
	if (!there)
		return 0;
	if (there != shape->numbers)
		return err_set(err, ERR_INPUT,
			"%s: label: has %d of %d numbers (model.numbers = %.100s, table.label "
			"names "
			"their columns)",
			where, there, shape->numbers, shape->number_names);
	for (int k = 0; k < there && !code; k++)
		code = live_cell_value(&table->cells[plan->target_at[k]], shape, where,
			&line->label[k].number, err);
	return code;
}

/* A name, also of digits, unless classes are numbers: a folder that a file began may have those. */
static int read_label(const struct csv_field *cell, const struct live_line_shape *shape,
	const char *where, struct event *line, struct err *err)
{
	int64_t number;

	line->has_label = cell->size > 0;
	if (!line->has_label)
		return 0;
	if (shape->grows && !(shape->as_numbers && decimal_whole(cell->at, cell->size, &number)))
		return live_cell_name(cell, shape, where, line, err);
	return live_cell_number(cell, shape, where, line, err);
}

/* Rows that have ids may end early, as late labels do. */
static int check_width(const struct live_table *table, int n, struct err *err)
{
	const int count = table->plan.count;

	if (n < 0)
		return err_set(err, ERR_FORMAT, "%s", csv_reason(n));
	if (n == count || (n < count && n > table->id && table->id >= 0))
		return 0;
	return err_set(err, ERR_INPUT, "has %d column%s, %s has %d", n, n == 1 ? "" : "s",
		table->plan.headed ? HEADING : "the first row", count);
}

static int read_row(struct live_table *table, int n, const struct live_line_shape *shape,
	const char *where, struct event *line, float *input, struct err *err)
{
	const int label = table->plan.label;
	int code = 0;

	if (table->id >= 0)
		code = live_cell_id(&table->cells[table->id], where, line, err);
	else
		live_line_number_id(line, ++table->rows);
	if (!code && shape->numbers)
		code = read_numbers(table, n, shape, where, line, err);
	else if (!code && label >= 0 && label < n)
		code = read_label(&table->cells[label], shape, where, line, err);
	line->has_input = table->id < 0 || any_input(table, table->cells, n);
	if (!code && !line->has_input && !line->has_label)
		code = err_set(err, ERR_INPUT, "%s: has neither input nor label", where);
	if (!code && line->has_input)
		code = live_cells_input(table->cells, n, table->columns, shape, where, input, err);
	return code;
}

int live_line_table(const char *bytes, size_t size, const char *where,
	const struct live_line_shape *shape, struct event *line, float *input, struct err *err)
{
	struct live_table *table = shape->table;
	struct err why = {0};
	bool heading = false, named;
	int n, code;

	*line = (struct event){0};
	if (!table || !shape->schema)
		return err_set(err, ERR_INPUT, "%s: rows of a table come as inputs that have names",
			where);
	code = read_cells(table, bytes, size,
		table->plan.count ? table->plan.separator : csv_separator(bytes, size), &n, err);
	if (code)
		return code;
	if (n <= TABLE_COLUMNS && may_be_heading(table, n, shape->schema))
		code = plan_again(table, bytes, size, shape->schema, &heading, &why);
	else if (!table->plan.count)
		code = plan_again(table, bytes, size, shape->schema, &named, &why);
	if (!code && !heading)
		code = check_width(table, n, &why);
	table->begun = true;
	if (code)
		return err_set(err, code, "%s: %s", where, why.message);
	return heading ? 0 : read_row(table, n, shape, where, line, input, err);
}

/* A number as 12,5 that cannot have a decimal point. */
static bool has_comma(const struct schema_value *value)
{
	double number;

	return schema_written_number(value, true, &number) &&
	       !schema_written_number(value, false, &number);
}

/* Whether a comma parts thousands is not known of a first 1,234 between semicolons. */
static enum schema_kind kind_of(
	const struct live_table *table, const char *name, const struct schema_value *value)
{
	return table->plan.separator != ',' && schema_may_be_thousands(value)
		       ? SCHEMA_CATEGORY
		       : schema_kind_of(name, value, table->plan.sizes.dates);
}

/* What the first row shows of columns whose kind no key says. */
static void see_kinds(struct live_table *table, int n)
{
	static const enum table_role roles[] = {[SCHEMA_NUMBER] = TABLE_NUMBER,
		[SCHEMA_CATEGORY] = TABLE_CATEGORY,
		[SCHEMA_TEXT] = TABLE_TEXT,
		[SCHEMA_TIME] = TABLE_DATE};
	enum moment_order order;
	char copy[TABLE_CELL];

	for (int i = 0; i < table->plan.count; i++) {
		struct table_column *column = table->plan.columns + i;
		struct schema_value value = {0};

		if (i < n)
			value = table_value(&table->cells[i], copy);
		/* As in a file: a date is an input, although it is the time. */
		if (column->role == TABLE_TIME && table->plan.guessed && table->plan.sizes.dates &&
			schema_is_time(column->name, &value, &order))
			column->role = TABLE_NUMBER;
		if (column->role > TABLE_TEXT)
			continue;
		column->opened = value.is == SCHEMA_MISSING;
		column->seen = column->fixed || !column->opened;
		if (column->fixed || !column->seen)
			continue;
		column->commas = has_comma(&value);
		column->role =
			column->commas ? TABLE_NUMBER : roles[kind_of(table, column->name, &value)];
		column->clock = column->role == TABLE_DATE && schema_has_clock(&value);
		column->day_first = column->role == TABLE_DATE &&
				    schema_is_time(column->name, &value, &order) &&
				    order == MOMENT_DAY_FIRST;
	}
}

static int schema_of(struct live_table *table, struct live_first *first, int n, struct err *err)
{
	int code = check_width(table, n, err);

	if (code)
		return code;
	see_kinds(table, n);
	code = table_plan_end(&table->plan, HEADING, err);
	first->schema = table->plan.schema;
	table->plan.schema = NULL;
	if (!code)
		code = find_columns(table, first->schema, err);
	if (code) {
		schema_free(first->schema);
		first->schema = NULL;
	}
	return code;
}

/* A first line that does not fit the [table] keys is a configuration error: it ends the run. */
static int first_plan(struct live_table *table, const char *bytes, size_t size, struct err *err)
{
	int n, code = read_cells(table, bytes, size, csv_separator(bytes, size), &n, err);

	if (code)
		return code;
	if (n < 0)
		return err_set(err, ERR_FORMAT, "%s", csv_reason(n));
	if (n < 2 || n > TABLE_COLUMNS)
		return err_set(err, ERR_FORMAT, "has %d column%s; a table has 2 to %d", n,
			n == 1 ? "" : "s", TABLE_COLUMNS);
	code = plan_of(table, bytes, size, err);
	return code == ERR_INPUT ? ERR_STATE : code;
}

int live_first_table(struct live_first *first, const char *bytes, size_t size, struct err *err)
{
	struct live_table *table = first->table;
	const bool new = !table->plan.count;
	int n, code = new ? first_plan(table, bytes, size, err) : 0;

	if (code)
		return code;
	if (new && table->plan.headed) {
		first->headings++;
		return 0;
	}
	code = read_cells(table, bytes, size, table->plan.separator, &n, err);
	return code ? code : schema_of(table, first, n, err);
}

int live_table_note(
	struct live_table *table, struct journal *journal, const char *last_id, struct err *err)
{
	const int64_t row = strtoll(last_id, NULL, 10); /* or the id of another sender's input */
	int code = 0;

	if (!table->noted)
		code = journal_note(journal, note_heading, table->heading.data, err);
	table->noted |= !code;
	if (code || row <= table->kept || row > table->rows)
		return code;
	table->kept = row;
	return journal_note(journal, note_rows, last_id, err);
}

int live_table_noted(struct live_table *table, struct journal *journal, const struct schema *schema,
	struct err *err)
{
	char *heading = NULL, *rows = NULL;
	bool named;
	int code = journal_noted(journal, note_heading, &heading, err);

	if (!code)
		code = journal_noted(journal, note_rows, &rows, err);
	if (!code && heading && schema)
		code = plan_again(table, heading, strlen(heading), schema, &named, err);
	if (rows)
		table->rows = table->kept = strtoll(rows, NULL, 10);
	table->noted = !code;
	mem_free(heading);
	mem_free(rows);
	return code;
}
