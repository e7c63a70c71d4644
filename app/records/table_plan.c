/* Columns found by name or number; the rest is a matter of counting. */
#include "records/table_plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "records/columns.h"
#include "formats/decimal.h"

/* So many lines below the first are looked at for what it is. */
enum { HEADER_LINES = 1000 };

const struct option_row table_options[] = {
	{"table", "header", OPTION_CHOICE, "auto", "auto | yes | no",
		"whether the first line names the columns; auto: if it looks like it"},
	{"table", "label", OPTION_TEXT, "", NULL,
		"column of the label, by name or number; empty: the one called label, class, "
		"target or y, or the last"},
	{"table", "time", OPTION_TEXT, "", NULL,
		"column of the time; empty: the one called time, timestamp, date or datetime, if "
		"there is one; -: none"},
	{"table", "categorical", OPTION_TEXT, "auto", NULL,
		"columns of categories, parted by commas; auto: those with a cell that is no "
		"number"},
	{"table", "ignore", OPTION_TEXT, "", NULL, "columns that are left out, parted by commas"},
	{"table", "hash_bits", OPTION_INT, "0", "[0, 20]",
		"categories are hashed into 2 to this many inputs; 0: each has an input of its "
		"own"},
	{"table", "clip", OPTION_FLOAT, "8", "(0, 1e+06]",
		"numbers are at most this many standard deviations from their mean"},
	{NULL},
};

enum table_cell table_cell(struct csv_field cell, double *number)
{
	static const char *const words[] = {"", "NA", "N/A", "nan", "inf", "infinity", "null", "?"};
	const bool sign = cell.size > 1 && (*cell.at == '-' || *cell.at == '+');
	const char *at = cell.at + sign;
	const size_t size = cell.size - sign;

	if (decimal_number(cell.at, cell.size, number))
		return isfinite(*number) ? TABLE_CELL_NUMBER : TABLE_CELL_MISSING;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) == size && !strncasecmp(words[i], at, size))
			return TABLE_CELL_MISSING;
	return TABLE_CELL_WORD;
}

/* The column of this name or number, or -1. */
static int find_column(const struct table_plan *plan, const char *word, size_t size)
{
	int64_t number;

	for (int i = 0; plan->headed && i < plan->count; i++)
		if (strlen(plan->columns[i].name) == size &&
			!strncasecmp(plan->columns[i].name, word, size))
			return i;
	if (decimal_whole(word, size, &number) && number >= 1 && number <= plan->count)
		return (int)number - 1;
	return -1;
}

/* The first of these names that there is, or -1. */
static int find_known(const struct table_plan *plan, const char *const *names)
{
	for (; *names; names++)
		for (int i = 0; plan->headed && i < plan->count; i++)
			if (!strcasecmp(plan->columns[i].name, *names))
				return i;
	return -1;
}

static int find_named(const struct table_plan *plan, const char *path, const char *key,
	const char *word, size_t size, int *column, struct err *err)
{
	*column = find_column(plan, word, size);
	if (*column >= 0)
		return 0;
	return err_set(err, ERR_INPUT, "%s: has no column %.*s, which %s names", path, (int)size,
		word, key);
}

/* Gives all columns of a list a role. */
static int set_roles(struct table_plan *plan, const char *path, const struct options *options,
	const char *key, enum table_role role, struct err *err)
{
	const char *words = options_text(options, key);

	while (*words) {
		const size_t size = strcspn(words, ",");
		const struct csv_field word = csv_trim((struct csv_field){words, size, false});
		int column;

		if (word.size) {
			const int code =
				find_named(plan, path, key, word.at, word.size, &column, err);

			if (code)
				return code;
			plan->columns[column].role = role;
			plan->columns[column].fixed = true;
		}
		words += size + (words[size] == ',');
	}
	return 0;
}

static int find_roles(
	struct table_plan *plan, const char *path, const struct options *options, struct err *err)
{
	static const char *const labels[] = {"label", "class", "target", "y", NULL};
	static const char *const times[] = {"time", "timestamp", "date", "datetime", NULL};
	const char *label = options_text(options, "table.label");
	const char *time = options_text(options, "table.time");
	const bool automatic = !strcmp(options_text(options, "table.categorical"), "auto");
	int code = 0;

	plan->label = find_known(plan, labels);
	if (plan->label < 0)
		plan->label = plan->count - 1;
	plan->time = strcmp(time, "-") != 0 ? find_known(plan, times) : -1;
	if (*label)
		code = find_named(
			plan, path, "table.label", label, strlen(label), &plan->label, err);
	if (!code && *time && strcmp(time, "-") != 0)
		code = find_named(plan, path, "table.time", time, strlen(time), &plan->time, err);
	if (!code && !automatic)
		code = set_roles(plan, path, options, "table.categorical", TABLE_CATEGORY, err);
	for (int i = 0; i < plan->count && !automatic; i++)
		plan->columns[i].fixed = true;
	if (!code)
		code = set_roles(plan, path, options, "table.ignore", TABLE_IGNORED, err);
	if (code)
		return code;
	if (plan->time == plan->label)
		return err_set(err, ERR_INPUT, "%s: column %s is both label and time", path,
			plan->columns[plan->label].name);
	plan->columns[plan->label].role = TABLE_LABEL;
	if (plan->time >= 0)
		plan->columns[plan->time].role = TABLE_TIME;
	return 0;
}

/* What the first line holds, and what stands below it. */
struct first_line {
	bool word, number; /* it has some */
	bool counts;       /* its numbers count up by one */
	bool heads;        /* a word of it stands above numbers alone */
	bool again;        /* a word of it comes again below */
};

static struct first_line look_at_first(const struct csv_field *fields, int count)
{
	struct first_line first = {.counts = true};
	int64_t last = 0, whole = 0;
	double number;

	for (int i = 0; i < count; i++) {
		const struct csv_field cell = csv_trim(fields[i]);
		const enum table_cell kind = table_cell(cell, &number);

		first.word |= kind == TABLE_CELL_WORD;
		if (kind != TABLE_CELL_NUMBER)
			continue;
		first.counts &= decimal_whole(cell.at, cell.size, &whole) &&
				(!first.number || (uint64_t)whole == (uint64_t)last + 1);
		first.number = true;
		last = whole;
	}
	return first;
}

/* Compares the first line, whose fields are given, with lines from `bytes` on. */
static void look_below(struct first_line *first, const struct csv_field *fields,
	const struct table_plan *plan, const char *bytes, size_t size)
{
	bool numbers[TABLE_COLUMNS] = {0}, words[TABLE_COLUMNS] = {0};
	struct csv_field below[TABLE_COLUMNS];
	size_t used;
	double number;

	for (int line = 0; line < HEADER_LINES && size; line++, bytes += used, size -= used) {
		const int n = csv_row(bytes, size, plan->separator, below, TABLE_COLUMNS, &used);

		if (n < 0)
			break;
		for (int i = 0; n == plan->count && i < n; i++) {
			const struct csv_field cell = csv_trim(below[i]), top = csv_trim(fields[i]);
			const enum table_cell kind = table_cell(cell, &number);

			numbers[i] |= kind == TABLE_CELL_NUMBER;
			words[i] |= kind == TABLE_CELL_WORD;
			first->again |= kind == TABLE_CELL_WORD && cell.size == top.size &&
					!memcmp(cell.at, top.at, top.size);
		}
	}
	for (int i = 0; i < plan->count; i++)
		first->heads |= numbers[i] && !words[i] &&
				table_cell(csv_trim(fields[i]), &number) == TABLE_CELL_WORD;
}

/* The rule is the header's. */
static bool is_header(const struct table_plan *plan, const struct csv_field *fields,
	const char *below, size_t size)
{
	struct first_line first = look_at_first(fields, plan->count);

	if (!first.word || !first.counts)
		return false;
	look_below(&first, fields, plan, below, size);
	return (!first.number && first.heads) || !first.again;
}

/* Names from the first row if it is a header, else numbers. */
static void name_columns(struct table_plan *plan, const struct csv_field *fields)
{
	for (int i = 0; i < plan->count; i++) {
		struct table_column *column = plan->columns + i;
		const struct csv_field cell = csv_trim(fields[i]);

		if (!plan->headed || !csv_text(&cell, column->name, sizeof(column->name)) ||
			!*column->name)
			snprintf(column->name, sizeof(column->name), "%d", i + 1);
	}
}

int table_plan_init(struct table_plan *plan, const struct mapped *file,
	const struct options *options, struct err *err)
{
	const size_t mark = csv_mark((const char *)file->data, file->size);
	const char *bytes = (const char *)file->data + mark;
	const size_t size = file->size - mark;
	const char *header = options_text(options, "table.header");
	struct csv_field *fields;
	size_t used;

	*plan = (struct table_plan){.hash_bits = options_int(options, "table.hash_bits"),
		.clip = options_float(options, "table.clip")};
	if (!size)
		return err_set(err, ERR_FORMAT, "%s: is empty", file->path);
	fields = mem_new(TABLE_COLUMNS, sizeof(*fields));
	plan->columns = mem_new(TABLE_COLUMNS, sizeof(*plan->columns));
	if (!fields || !plan->columns) {
		mem_free(fields);
		return err_memory(err, file->path, TABLE_COLUMNS * sizeof(*plan->columns));
	}
	plan->separator = csv_separator(bytes, size);
	plan->count = csv_row(bytes, size, plan->separator, fields, TABLE_COLUMNS, &used);
	if (plan->count >= 2 && plan->count <= TABLE_COLUMNS) {
		plan->headed = !strcmp(header, "auto")
				       ? is_header(plan, fields, bytes + used, size - used)
				       : !strcmp(header, "yes");
		name_columns(plan, fields);
	}
	mem_free(fields);
	if (plan->count < 0)
		return err_set(
			err, ERR_FORMAT, "%s, row 1: %s", file->path, csv_reason(plan->count));
	if (plan->count < 2 || plan->count > TABLE_COLUMNS)
		return err_set(err, ERR_FORMAT, "%s, row 1: has %d columns; a table has 2 to %d",
			file->path, plan->count, TABLE_COLUMNS);
	return find_roles(plan, file->path, options, err);
}

int table_plan_end(struct table_plan *plan, const struct mapped *file, struct err *err)
{
	size_t at = 0;
	bool hashed = false;

	for (int i = 0; i < plan->count; i++) {
		struct table_column *column = plan->columns + i;
		uint32_t *ranks = NULL;

		column->at = at;
		if (column->role == TABLE_NUMBER) {
			at++;
		} else if (column->role == TABLE_CATEGORY && !plan->hash_bits) {
			const int code = vocabulary_sort(&column->vocabulary, &ranks, err);

			mem_free(ranks);
			if (code)
				return code;
			at += column->vocabulary.names.count;
		}
		hashed |= column->role == TABLE_CATEGORY && plan->hash_bits;
	}
	/* Hashed columns share their inputs, behind all others. */
	for (int i = 0; i < plan->count && hashed; i++)
		if (plan->columns[i].role == TABLE_CATEGORY)
			plan->columns[i].at = at;
	plan->floats = at + (hashed ? (size_t)1 << plan->hash_bits : 0);
	if (plan->floats < 1 || plan->floats > TABLE_FLOATS)
		return err_set(err, ERR_INPUT, "%s: its columns make %zu inputs", file->path,
			plan->floats);
	return 0;
}

void table_plan_release(struct table_plan *plan)
{
	for (int i = 0; plan->columns && i < plan->count; i++)
		vocabulary_release(&plan->columns[i].vocabulary);
	mem_free(plan->columns);
	*plan = (struct table_plan){0};
}
