/* Finds columns by name or number; the rest is counting. */
#include "records/table_plan.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/words/decimal.h"
#include "base/mem.h"
#include "base/text.h"
#include "records/columns.h"
#include "records/table_first.h"

const struct option_row table_options[] = {
	{"table", "header", OPTION_CHOICE, "auto", "auto | yes | no",
		"whether the first line names the columns; auto detects it"},
	{"table", "label", OPTION_TEXT, "", NULL,
		"label column, by name or number; several with commas between them are numbers; "
		"empty is the one called label, class, target or y, or else the last",
		.typed = "--label"},
	{"table", "labels", OPTION_CHOICE, "auto", "auto | numbers | names",
		"whether integer labels are class numbers from 0, or names; auto is names if most "
		"numbers up to the largest never occur"},
	{"table", "time", OPTION_TEXT, "", NULL,
		"time column; empty is the one called time, timestamp, date or datetime, if any; - "
		"is none",
		.typed = "--time"},
	{"table", "categorical", OPTION_TEXT, "auto", NULL,
		"categorical columns, separated by commas; auto adds those with cells that are not "
		"numbers"},
	{"table", "text", OPTION_TEXT, "", NULL,
		"text columns, separated by commas, besides those that start with a text"},
	{"table", "ignore", OPTION_TEXT, "", NULL, "columns to ignore, separated by commas",
		.typed = "--ignore"},
	{"table", "ids", OPTION_CHOICE, "ignore", "ignore | keep",
		"columns of a file whose values never come again, and row numbers", 0, "keep"},
	{NULL},
};

struct schema_value table_value(const struct csv_field *field, char copy[TABLE_CELL])
{
	const struct csv_field cell = csv_trim(field);

	if (cell.doubled && csv_text(&cell, copy, TABLE_CELL))
		return schema_value(copy, strlen(copy));
	return schema_value(cell.at, cell.size);
}

bool table_label_number(const struct csv_field *cell, bool commas, double *number)
{
	struct schema_value value;

	if (decimal_number(cell->at, cell->size, number))
		return true;
	value = schema_value(cell->at, cell->size);
	return schema_written_number(&value, commas, number);
}

bool table_label_alone(const struct csv_field *cell, char separator, double *number)
{
	return table_label_number(cell, separator == ';', number) ||
	       table_label_number(cell, separator != ';', number);
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

/*
 * The input of a schema that a column is, or what schema_find says. Earlier versions called columns
 * by their numbers whose names have 64 bytes or more.
 */
static int find_input(const struct table_plan *plan, int i)
{
	const char *name = plan->columns[i].name;
	const int input = schema_find(plan->schema, name, strlen(name));
	char number[16];

	if (input >= 0 || strlen(name) < 64)
		return input;
	snprintf(number, sizeof(number), "%d", i + 1);
	return schema_find(plan->schema, number, strlen(number));
}

/* The first of these names that there is and that is neither ignored nor a schema's input, or -1. */
static int find_known(const struct table_plan *plan, const char *const *names)
{
	for (; *names; names++)
		for (int i = 0; plan->headed && i < plan->count; i++)
			if (!strcasecmp(plan->columns[i].name, *names) &&
				plan->columns[i].role != TABLE_IGNORED &&
				!(plan->schema && find_input(plan, i) >= 0))
				return i;
	return -1;
}

/* The column whose name is most like a word; NULL: none is. */
static const char *nearest_column(const struct table_plan *plan, const char *word, size_t size)
{
	const char *nearest = NULL;
	char copy[TABLE_NAME];
	int best = 2 + (int)size / 3;

	if (size >= sizeof(copy))
		return NULL;
	memcpy(copy, word, size);
	copy[size] = '\0';
	for (int i = 0; plan->headed && i < plan->count; i++) {
		const int distance = text_distance(plan->columns[i].name, copy);

		if (distance < best) {
			best = distance;
			nearest = plan->columns[i].name;
		}
	}
	return nearest;
}

static int find_named(const struct table_plan *plan, const char *path,
	const struct options *options, const char *key, const char *word, size_t size, int *column,
	struct err *err)
{
	enum { LISTED = 200 }; /* bytes of other names */
	struct text names = {0};
	const char *nearest, *typed = options_row(options, key)->typed;
	int code;

	*column = find_column(plan, word, size);
	if (*column >= 0)
		return 0;
	nearest = nearest_column(plan, word, size);
	for (int i = 0; plan->headed && i < plan->count && names.size < LISTED; i++)
		text_addf(&names, "%s%s", i ? ", " : "", plan->columns[i].name);
	code = err_set(err, ERR_INPUT, "%s: has no column %.*s, which %s%s%s%s names%s%s%s%s%.*s%s",
		path, (int)size, word, key, typed ? " (" : "", typed ? typed : "", typed ? ")" : "",
		nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "",
		!names.size ? ""
		: nearest   ? " It has "
			    : "; it has ",
		LISTED, names.size && !names.failed ? names.data : "",
		names.size >= LISTED ? "..." : "");
	text_release(&names);
	return code;
}

static bool is_auto(struct csv_field word)
{
	return word.size == 4 && !memcmp(word.at, "auto", 4);
}

/* Whether a list of columns has the word auto, which leaves the others as they turn out. */
static bool has_auto(const char *words)
{
	for (size_t size; *words; words += size + (words[size] == ',')) {
		size = strcspn(words, ",");
		if (is_auto(csv_trim(&(struct csv_field){words, size, false})))
			return true;
	}
	return false;
}

/* Gives all columns of a list a role. "auto" among categories names none. */
static int set_roles(struct table_plan *plan, const char *path, const struct options *options,
	const char *key, enum table_role role, struct err *err)
{
	const char *words = options_text(options, key);

	while (*words) {
		const size_t size = strcspn(words, ",");
		const struct csv_field word = csv_trim(&(struct csv_field){words, size, false});
		int column;

		if (word.size && !(role == TABLE_CATEGORY && is_auto(word))) {
			const int code = find_named(
				plan, path, options, key, word.at, word.size, &column, err);

			if (code)
				return code;
			plan->columns[column].role = role;
			plan->columns[column].fixed = true;
		}
		words += size + (words[size] == ',');
	}
	return 0;
}

/* The columns that a schema names: all of its own must be there, others are left out. */
static int follow_schema(
	struct table_plan *plan, const char *path, const struct options *options, struct err *err)
{
	static const enum table_role roles[] = {[SCHEMA_NUMBER] = TABLE_NUMBER,
		[SCHEMA_CATEGORY] = TABLE_CATEGORY,
		[SCHEMA_TEXT] = TABLE_TEXT,
		[SCHEMA_OPEN] = TABLE_NUMBER,
		[SCHEMA_TIME] = TABLE_DATE};
	const struct schema *schema = plan->schema;
	struct text missing = {0};
	int code = 0, count = 0;

	for (int i = 0; i < plan->count; i++) {
		struct table_column *column = plan->columns + i;
		const int input = find_input(plan, i);

		if (column->role > TABLE_TEXT)
			continue;
		column->input = input >= 0 ? input : -1;
		column->role =
			input >= 0 ? roles[schema_column(schema, input)->kind] : TABLE_IGNORED;
		column->fixed = input < 0 || schema_column(schema, input)->kind != SCHEMA_OPEN;
	}
	for (int i = 0; i < schema_count(schema); i++) {
		int at = 0;

		while (at < plan->count && plan->columns[at].input != i)
			at++;
		if (at == plan->count)
			text_addf(&missing, "%s%s", count++ ? ", " : "",
				schema_column(schema, i)->name);
	}
	if (count)
		code = err_set(err, ERR_INPUT, "%s: has no column%s %.200s, which %s needs", path,
			count > 1 ? "s" : "", missing.data ? missing.data : "",
			options_text(options, "schema.from"));
	text_release(&missing);
	return code;
}

static void set_label(struct table_plan *plan, int column)
{
	plan->label = column;
	plan->targets = column >= 0;
	plan->target_at[0] = column;
}

/* The word that stands before the next comma, and what follows it; NULL: nothing does. */
static struct csv_field next_word(const char **words)
{
	const size_t size = strcspn(*words, ",");
	const struct csv_field word = csv_trim(&(struct csv_field){*words, size, false});

	*words = (*words)[size] ? *words + size + 1 : NULL;
	return word;
}

static bool is_target(const struct table_plan *plan, int column)
{
	for (int k = 0; k < plan->targets; k++)
		if (plan->target_at[k] == column)
			return true;
	return false;
}

bool table_plan_labels(struct table_plan *plan, const char *words)
{
	set_label(plan, words ? find_column(plan, words, strlen(words)) : -1);
	for (const char *at = plan->targets ? NULL : words; at;) {
		const struct csv_field word = next_word(&at);
		const int column = find_column(plan, word.at, word.size);

		if (column < 0 || is_target(plan, column) || plan->targets == TARGET_WIDTH) {
			set_label(plan, -1);
			return false;
		}
		plan->target_at[plan->targets++] = column;
	}
	plan->label = plan->target_at[0];
	return plan->targets > 0;
}

/* What is wrong with words that name no labels. */
static int refuse_labels(const struct table_plan *plan, const char *path,
	const struct options *options, struct err *err)
{
	const char *words = options_text(options, "table.label");
	int column, count = 1;

	for (const char *at = words; at; count++) {
		const struct csv_field word = next_word(&at);
		const int code = find_named(
			plan, path, options, "table.label", word.at, word.size, &column, err);

		if (code)
			return code;
	}
	return err_set(err, ERR_INPUT,
		"%s: table.label = %.200s: names %s; labels are up to %d different columns", path,
		words, count > TARGET_WIDTH ? "too many columns" : "a column twice", TARGET_WIDTH);
}

/* Several have names that model.numbers can have. */
static int check_labels(struct table_plan *plan, const char *path, struct err *err)
{
	for (int k = 0; k < plan->targets; k++) {
		struct table_column *column = plan->columns + plan->target_at[k];

		if (plan->target_at[k] == plan->time)
			return err_set(err, ERR_INPUT, "%s: column %s is both label and time", path,
				column->name);
		if (plan->targets > 1 && numbers_count(column->name) != 1 &&
			!decimal_whole(column->name, strlen(column->name), &(int64_t){0}))
			return err_set(err, ERR_INPUT,
				"%s: column %s: the name of one of several labels has no commas or "
				"quotes",
				path, column->name);
		column->role = TABLE_LABEL;
		text_addf(&plan->label_names, "%s%s", k ? "," : "", column->name);
	}
	return plan->label_names.failed ? err_memory(err, path, plan->label_names.size) : 0;
}

/*
 * Where no key says so. A schema knows what one label is called, model.numbers what several are;
 * one that was made of rows in lines, whose label stands beside them, does not, and it is called as
 * there. Without a schema a name tells, or it is the last column.
 */
static void usual_label(struct table_plan *plan, const char *numbers)
{
	static const char *const names[] = {"label", "class", "target", "y", NULL};
	static const char *const beside_y[] = {"z", NULL};
	static const char *const beside[] = {"label", NULL};
	const char *label = plan->schema ? schema_label(plan->schema) : NULL;
	int known = find_known(plan, plan->schema ? beside : names), last = plan->count - 1;

	if (label || *numbers) {
		if (table_plan_labels(plan, label ? label : numbers) || label)
			return;
	}
	/* Where there are x, y and z, they are a place. */
	if (!plan->schema && known >= 0 && !strcasecmp(plan->columns[known].name, "y") &&
		find_known(plan, beside_y) >= 0)
		known = -1;
	while (last > 0 && plan->columns[last].role == TABLE_IGNORED)
		last--;
	set_label(plan, plan->schema || known >= 0 ? known : last);
}

/* The names that numbers have, which are perhaps those of columns. */
static const char *number_names(const struct options *options)
{
	const char *words =
		options_has(options, "model.numbers") ? options_text(options, "model.numbers") : "";
	char name[NUMBER_NAME];

	return numbers_count(words) && *number_name(words, 0, name) ? words : "";
}

static int find_roles(
	struct table_plan *plan, const char *path, const struct options *options, struct err *err)
{
	static const char *const times[] = {"time", "timestamp", "date", "datetime", NULL};
	const char *label = options_text(options, "table.label");
	const char *time = options_text(options, "table.time");
	const bool automatic = has_auto(options_text(options, "table.categorical"));
	int code = set_roles(plan, path, options, "table.ignore", TABLE_IGNORED, err);

	if (code)
		return code;
	plan->guessed = !*time;
	usual_label(plan, number_names(options));
	plan->time = strcmp(time, "-") != 0 ? find_known(plan, times) : -1;
	if (*label && !table_plan_labels(plan, label))
		code = refuse_labels(plan, path, options, err);
	if (!code && *time && strcmp(time, "-") != 0)
		code = find_named(
			plan, path, options, "table.time", time, strlen(time), &plan->time, err);
	if (!code)
		code = set_roles(plan, path, options, "table.categorical", TABLE_CATEGORY, err);
	for (int i = 0; i < plan->count && !automatic; i++)
		plan->columns[i].fixed = true;
	if (!code)
		code = set_roles(plan, path, options, "table.text", TABLE_TEXT, err);
	if (!code)
		code = set_roles(plan, path, options, "table.ignore", TABLE_IGNORED, err);
	if (code)
		return code;
	code = check_labels(plan, path, err);
	if (code)
		return code;
	if (plan->time >= 0)
		plan->columns[plan->time].role = TABLE_TIME;
	return plan->schema ? follow_schema(plan, path, options, err) : 0;
}

static void number_column(struct table_column *column, int i)
{
	snprintf(column->name, sizeof(column->name), "%d", i + 1);
}

/* A name that another column has. One that was made up gives way: it is told apart by its number. */
static int settle_name(struct table_plan *plan, const char *path, int i, int64_t other,
	bool made_up, struct err *err)
{
	struct table_column *column = plan->columns + i;
	const size_t size = strnlen(column->name, 40);

	if (!made_up)
		return err_set(err, ERR_FORMAT,
			"%s: columns %d and %d are both called %s; names must differ", path,
			(int)other + 1, i + 1, column->name);
	snprintf(column->name + size, sizeof(column->name) - size, " (%d)", i + 1);
	return 0;
}

/* Names from the first row, which is a header. */
static int name_columns(
	struct table_plan *plan, const char *path, const struct csv_field *fields, struct err *err)
{
	struct vocabulary names = {0};
	bool made_up[TABLE_COLUMNS];
	int64_t code = 0;

	for (int i = 0; i < plan->count && code >= 0; i++) {
		struct table_column *column = plan->columns + i;
		const struct csv_field cell = csv_trim(&fields[i]);
		int64_t other;

		if (!csv_text(&cell, column->name, sizeof(column->name)))
			column->too_long = cell.size;
		made_up[i] = column->too_long || !*column->name;
		if (made_up[i])
			number_column(column, i);
		other = vocabulary_find(&names, column->name, strlen(column->name));
		if (other >= 0)
			code = settle_name(plan, path, i, other, made_up[i] || made_up[other], err);
		if (code >= 0)
			code = vocabulary_number(&names, column->name, strlen(column->name), err);
	}
	vocabulary_release(&names);
	return code < 0 ? (int)code : 0;
}

/*
 * Whether the first row names all that a schema has as inputs. Where those are called by numbers
 * there was no header, and a row of numbers names nothing.
 */
static int names_inputs(
	const struct table_plan *plan, const struct csv_field *fields, bool *all, struct err *err)
{
	const int count = plan->schema ? schema_count(plan->schema) : 0;
	char name[sizeof(plan->columns->name)];
	struct vocabulary names = {0};
	bool words = false, there = true;
	int64_t code = 0;

	for (int at = 0; at < plan->count && count && code >= 0; at++) {
		const struct csv_field cell = csv_trim(&fields[at]);

		if (csv_text(&cell, name, sizeof(name)))
			code = vocabulary_number(&names, name, strlen(name), err);
	}
	for (int i = 0; i < count && there && code >= 0; i++) {
		const char *wanted = schema_column(plan->schema, i)->name;

		words = words || wanted[strspn(wanted, "0123456789")];
		there = vocabulary_find(&names, wanted, strlen(wanted)) >= 0;
	}
	vocabulary_release(&names);
	*all = words && there;
	return code < 0 ? (int)code : 0;
}

/*
 * With lines below, the first one is compared with those, unless it is known to be a header;
 * without, it is all there is.
 */
static int find_header(struct table_plan *plan, const struct csv_field *fields,
	const struct table_lines *lines, size_t used, const char *header, struct err *err)
{
	bool named = false;
	int code = 0;

	if (strcmp(header, "auto") != 0) {
		plan->headed = !strcmp(header, "yes");
	} else if (lines->first_only) {
		plan->headed = table_first_heads_alone(plan, fields);
	} else {
		code = lines->headed ? 0 : names_inputs(plan, fields, &named, err);
		plan->headed =
			lines->headed || named ||
			table_first_heads(plan, fields, lines->bytes + used, lines->size - used);
	}
	return code;
}

/* The size of a row without its line's end. */
static size_t line_size(const char *bytes, size_t used)
{
	while (used && (bytes[used - 1] == '\n' || bytes[used - 1] == '\r'))
		used--;
	return used;
}

static int plan_columns(struct table_plan *plan, const char *path, struct csv_field *fields,
	const struct table_lines *lines, const struct options *options, struct err *err)
{
	size_t used;
	const int count =
		csv_row(lines->bytes, lines->size, plan->separator, fields, TABLE_COLUMNS, &used);
	const int least = plan->schema ? 1 : 2;
	int code;

	if (count < 0)
		return err_set(err, ERR_FORMAT, "%s, row %d: %s", path, plan->lead_lines + 1,
			csv_reason(count));
	/* A schema has the label elsewhere, or needs none. */
	if (count < least || count > TABLE_COLUMNS)
		return err_set(err, ERR_FORMAT, "%s, row %d: has %d column%s; a table has %d to %d",
			path, plan->lead_lines + 1, count, count == 1 ? "" : "s", least,
			TABLE_COLUMNS);
	plan->columns = mem_new((size_t)count, sizeof(*plan->columns));
	if (!plan->columns)
		return err_memory(err, path, (size_t)count * sizeof(*plan->columns));
	plan->count = count;
	plan->header = line_size(lines->bytes, used);
	code = find_header(plan, fields, lines, used, options_text(options, "table.header"), err);
	for (int i = 0; i < count; i++)
		plan->columns[i].input = -1;
	for (int i = 0; i < count && !plan->headed; i++)
		number_column(plan->columns + i, i);
	if (!code && plan->headed)
		code = name_columns(plan, path, fields, err);
	return code ? code : find_roles(plan, path, options, err);
}

int table_plan_init(struct table_plan *plan, const char *path, const struct table_lines *lines,
	const struct options *options, struct err *err)
{
	const size_t mark = csv_mark(lines->bytes, lines->size);
	struct table_lines marked = {lines->bytes + mark, lines->size - mark, lines->first_only,
		.headed = lines->headed};
	struct csv_field fields[TABLE_COLUMNS];
	int code;

	*plan = (struct table_plan){.sizes = schema_sizes(options),
		.keep_ids = !strcmp(options_text(options, "table.ids"), "keep"),
		.labels = label_kind(options_text(options, "table.labels"))};
	plan->lead = mark;
	plan->whole = !lines->first_only;
	plan->lead_lines = lines->before;
	code = table_first_check(path, lines, err);
	if (!code)
		code = schema_from(&plan->schema, options, err);
	if (code)
		return code;
	if (!marked.first_only)
		table_first_find(plan, &marked, fields);
	plan->separator = csv_separator(marked.bytes, marked.size);
	return marked.size ? plan_columns(plan, path, fields, &marked, options, err)
			   : err_set(err, ERR_FORMAT, "%s: is empty", path);
}

/* What its columns make: a schema of all that are inputs. */
static int add_columns(struct table_plan *plan, struct err *err)
{
	int code = 0, inputs = 0;

	for (int i = 0; i < plan->count && !code; i++) {
		struct table_column *column = plan->columns + i;
		const size_t size = strlen(column->name);
		const enum schema_kind kinds[] = {[TABLE_NUMBER] = SCHEMA_NUMBER,
			[TABLE_CATEGORY] = SCHEMA_CATEGORY,
			[TABLE_DATE] = SCHEMA_TIME,
			[TABLE_TEXT] = SCHEMA_TEXT};

		column->input = -1;
		if (column->role <= TABLE_TEXT) {
			column->input = inputs++;
			code = schema_add(plan->schema, column->name, size,
				column->seen ? kinds[column->role] : SCHEMA_OPEN,
				column->opened && column->role != TABLE_DATE, err);
			if (!code && (column->role == TABLE_NUMBER || column->role == TABLE_DATE))
				schema_read_numbers(plan->schema, column->commas, column->lax);
			if (!code && column->role == TABLE_DATE)
				schema_read_times(plan->schema, column->clock, column->day_first);
		} else {
			code = schema_leave_out(plan->schema, column->name, size,
				column->role == TABLE_LABEL && plan->targets == 1, err);
		}
	}
	return code ? code : schema_end(plan->schema, err);
}

static int learn_values(struct table_plan *plan, struct err *err)
{
	int code = 0;

	for (int i = 0; i < plan->count; i++) {
		const struct table_column *column = plan->columns + i;

		for (size_t k = 0; k < column->vocabulary.names.count && !code; k++) {
			const char *word = name_list_at(&column->vocabulary.names, k);
			const struct schema_value value = {SCHEMA_IS_WORDS, 0, word, strlen(word)};

			code = schema_learn(plan->schema, column->input, &value, err);
		}
	}
	return code;
}

int table_plan_end(struct table_plan *plan, const char *path, struct err *err)
{
	struct err why = {0};
	int code = 0;

	if (!plan->schema) {
		code = schema_new(&plan->schema, &plan->sizes, &why);
		if (!code)
			code = add_columns(plan, &why);
	}
	if (!code)
		code = learn_values(plan, &why);
	/* All of a file is known, and its ids are left out. */
	if (!code && plan->whole)
		schema_set_sound(plan->schema);
	return code ? err_set(err, code, "%s: %s", path, why.message) : 0;
}

void table_plan_about(const struct table_plan *plan, struct text *words)
{
	static const char *const names[][2] = {[TABLE_NUMBER] = {"number", "numbers"},
		[TABLE_CATEGORY] = {"category", "categories"},
		[TABLE_DATE] = {"time", "times"},
		[TABLE_TEXT] = {"text", "texts"}};
	const char *comma = "";

	for (int role = TABLE_NUMBER; role <= TABLE_TEXT; role++) {
		int count = 0;

		for (int c = 0; c < plan->count; c++)
			count += (int)plan->columns[c].role == role;
		if (count)
			text_addf(words, "%s%d %s", comma, count, names[role][count > 1]);
		comma = count ? ", " : comma;
	}
	if (plan->label < 0)
		return;
	text_addf(words, "%slabel%s", comma, plan->targets > 1 ? "s" : "");
	for (int k = 0; k < plan->targets; k++)
		text_addf(words, "%s \"%s\"", k ? "," : "", plan->columns[plan->target_at[k]].name);
}

void table_plan_release(struct table_plan *plan)
{
	for (int i = 0; plan->columns && i < plan->count; i++) {
		vocabulary_release(&plan->columns[i].vocabulary);
		vocabulary_release(&plan->columns[i].met);
	}
	mem_free(plan->columns);
	text_release(&plan->notes);
	text_release(&plan->label_names);
	schema_free(plan->schema);
	*plan = (struct table_plan){0};
}
