/*
 * Columns in order, then the spare inputs, then late columns. Everything learned is also in a list, newest last, so
 * that it can be undone.
 *
 * Invariant: a vocabulary never has more values than its column has inputs.
 */
#include "schema/schema_impl.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/grow.h"
#include "base/mem.h"

const struct option_row schema_options[] = {
	{"schema", "from", OPTION_TEXT, "", NULL,
		"schema of rows: a JSON file, a weights file or a run's folder; empty learns it "
		"from the data"},
	{"schema", "slots", OPTION_INT, "32", "[1, 65536]",
		"inputs per categorical field: its first values get one each, the others are "
		"hashed"},
	{"schema", "words", OPTION_INT, "256", "[1, 65536]",
		"inputs per text field, into which its words are hashed"},
	{"schema", "spare", OPTION_INT, "0", "[0, 65536]",
		"inputs reserved for fields that appear later, before new ones are added"},
	{"schema", "grow", OPTION_INT, "4096", "[0, 1048576]",
		"inputs that may be added for fields that appear later; 0 ignores such fields"},
	{"schema", "dates", OPTION_BOOL, "yes", NULL,
		"dates and times become days, week, year and time of day; no takes them as "
		"categories or numbers",
		0, "no"},
	{NULL},
};

struct schema_sizes schema_sizes(const struct options *options)
{
	return (struct schema_sizes){options_int(options, "schema.slots"),
		options_int(options, "schema.words"), options_int(options, "schema.spare"),
		options_int(options, "schema.grow"), options_bool(options, "schema.dates")};
}

int schema_new(struct schema **schema, const struct schema_sizes *sizes, struct err *err)
{
	*schema = mem_new(1, sizeof(**schema));
	if (!*schema)
		return err_memory(err, "a schema", sizeof(**schema));
	(*schema)->sizes = *sizes;
	(*schema)->label = -1;
	pthread_mutex_init(&(*schema)->lock, NULL);
	return 0;
}

void schema_free(struct schema *schema)
{
	if (!schema)
		return;
	for (int i = 0; i < schema->count; i++)
		vocabulary_release(&schema->columns[i].values);
	vocabulary_release(&schema->names);
	vocabulary_release(&schema->left_out);
	vocabulary_release(&schema->spare);
	vocabulary_release(&schema->ignored_fields);
	mem_free(schema->columns);
	mem_free(schema->additions);
	pthread_mutex_destroy(&schema->lock);
	mem_free(schema);
}

int schema_add(struct schema *schema, const char *name, size_t size, enum schema_kind kind,
	bool opened, struct err *err)
{
	char word[SCHEMA_WORD + 1];
	const size_t length = schema_word(name, size, word);
	int64_t number;

	if (schema->count == SCHEMA_COLUMNS)
		return err_set(err, ERR_INPUT, "has more than %d columns", SCHEMA_COLUMNS);
	if (schema_find(schema, word, length) != SCHEMA_NEW_FIELD)
		return err_set(err, ERR_INPUT, "has two columns %s", word);
	if (!grow_room(&schema->columns, &schema->columns_room, (size_t)schema->count + 1,
		    sizeof(*schema->columns)))
		return err_memory(
			err, "a schema", (size_t)schema->count * sizeof(*schema->columns));
	number = vocabulary_number(&schema->names, word, length, err);
	if (number < 0)
		return (int)number;
	schema->columns[schema->count++] = (struct schema_column){
		.kind = kind, .opened = (opened && kind != SCHEMA_TEXT) || kind == SCHEMA_OPEN};
	return 0;
}

static bool shows_day_first(const char *name, const struct schema_value *value)
{
	enum moment_order order;

	return schema_is_time(name, value, &order) && order == MOMENT_DAY_FIRST;
}

int schema_add_for(
	struct schema *schema, const char *name, const struct schema_value *value, struct err *err)
{
	const enum schema_kind kind = schema_kind_of(name, value, schema->sizes.dates);
	const int code = schema_add(schema, name, strlen(name), kind, false, err);

	if (!code && kind == SCHEMA_TIME)
		schema_read_times(schema, schema_has_clock(value), shows_day_first(name, value));
	return code;
}

void schema_read_numbers(struct schema *schema, bool commas, bool lax)
{
	struct schema_column *column = schema->columns + schema->count - 1;

	column->commas = commas;
	column->lax = lax;
}

int schema_leave_out(
	struct schema *schema, const char *name, size_t size, bool label, struct err *err)
{
	char word[SCHEMA_WORD + 1];
	const size_t length = schema_word(name, size, word);
	int64_t number;

	if (schema_find(schema, word, length) >= 0)
		return err_set(err, ERR_INPUT, "has two columns %s", word);
	number = vocabulary_number(&schema->left_out, word, length, err);
	if (number < 0)
		return (int)number;
	if (label)
		schema->label = number;
	return 0;
}

void schema_set_late(struct schema *schema)
{
	schema->columns[schema->count - 1].late = true;
}

void schema_read_times(struct schema *schema, bool clock, bool day_first)
{
	schema->columns[schema->count - 1].clock = clock;
	schema->columns[schema->count - 1].day_first = day_first;
}

/* Names move as others are added. */
static void find_names(struct schema *schema)
{
	for (int i = 0; i < schema->count; i++)
		schema->columns[i].name = name_list_at(&schema->names.names, (size_t)i);
}

/* Gives columns their places, from `at` on; returns where they end. */
static size_t lay_out(struct schema *schema, bool late, size_t at)
{
	for (int i = 0; i < schema->count; i++) {
		struct schema_column *column = schema->columns + i;

		if (column->late != late)
			continue;
		column->at = at;
		if (column->kind == SCHEMA_TEXT)
			column->inputs = (size_t)schema->sizes.words;
		else if (column->kind == SCHEMA_TIME && !column->opened)
			column->inputs = column->clock ? 4 : 3;
		else if (column->kind == SCHEMA_NUMBER && !column->opened)
			column->inputs = 1;
		else
			column->inputs = (size_t)schema->sizes.slots;
		at += column->inputs;
	}
	return at;
}

int schema_end(struct schema *schema, struct err *err)
{
	const size_t at = lay_out(schema, false, 0);

	find_names(schema);
	schema->spare_at = at;
	schema->first = at + (size_t)schema->sizes.spare;
	schema->floats = lay_out(schema, true, schema->first);
	if (at < 1 || schema->floats > SCHEMA_FLOATS)
		return err_set(err, ERR_INPUT, "its columns make %zu inputs%s", schema->floats,
			at ? "; schema.slots and schema.words make them fewer" : "");
	return 0;
}

int schema_limit(const struct schema *schema)
{
	return schema->sizes.grow;
}

size_t schema_first_floats(const struct schema *schema)
{
	return schema->first;
}

void schema_stop_growing(struct schema *schema)
{
	schema->sizes.grow = 0;
}

size_t schema_floats(const struct schema *schema)
{
	return schema->floats;
}

int schema_count(const struct schema *schema)
{
	return schema->count;
}

const struct schema_column *schema_column(const struct schema *schema, int i)
{
	return schema->columns + i;
}

const char *schema_label(const struct schema *schema)
{
	return schema->label < 0 ? NULL
				 : name_list_at(&schema->left_out.names, (size_t)schema->label);
}

int schema_find(const struct schema *schema, const char *name, size_t size)
{
	char word[SCHEMA_WORD + 1];
	const size_t length = schema_word(name, size, word);
	const int64_t number = vocabulary_find(&schema->names, word, length);

	if (number >= 0)
		return (int)number;
	return vocabulary_find(&schema->left_out, word, length) >= 0 ? SCHEMA_LEFT_OUT
								     : SCHEMA_NEW_FIELD;
}

static int take_down(struct schema *schema, enum learned what, int column, struct err *err)
{
	if (!grow_room(&schema->additions, &schema->additions_room, schema->additions_count + 1,
		    sizeof(*schema->additions)))
		return err_memory(err, "a schema", schema->additions_count);
	schema->additions[schema->additions_count++] =
		(struct addition){what, column, column >= 0 ? schema->columns[column].misses : 0};
	schema->serial++;
	return 0;
}

/* A word that may be new to a vocabulary that has `room`. */
static int learn_word(struct schema *schema, struct vocabulary *values, size_t room,
	const char *word, size_t size, const struct addition *addition, struct err *err)
{
	int64_t number;
	int code;

	if (values->names.count >= room || vocabulary_find(values, word, size) >= 0)
		return 0;
	number = vocabulary_number(values, word, size, err);
	if (number < 0)
		return (int)number;
	code = take_down(schema, addition->what, addition->column, err);
	if (code)
		vocabulary_drop_last(values);
	return code;
}

/* The words of a value, as a category has them. */
static size_t category_word(const struct schema_value *value, char word[SCHEMA_WORD + 1])
{
	char number[TEXT_NUMBER];

	if (value->words)
		return schema_word(value->words, value->size, word);
	text_from_double(number, value->number);
	return schema_word(number, strlen(number), word);
}

static int refuse_word(
	const struct schema_column *column, const struct schema_value *value, struct err *err)
{
	char shown[SCHEMA_SHOWN];

	return err_set(err, ERR_INPUT, "column %s: %s is not a %s", column->name,
		schema_shown(value, shown), column->kind == SCHEMA_TIME ? "date" : "number");
}

/* False: it is missing there, or an error. */
static bool moment_of(const struct schema_column *column, const struct schema_value *value,
	int64_t *moment, int *code, struct err *err)
{
	const bool is = schema_moment(value, column->day_first, moment);

	*code = is || column->lax ? 0 : refuse_word(column, value, err);
	return is;
}

/* The number that a column of numbers has for a value; NAN: it is missing there. */
static int number_of(const struct schema_column *column, const struct schema_value *value,
	double *number, struct err *err)
{
	*number = value->is == SCHEMA_IS_NUMBER ? value->number : (double)NAN;
	if (value->is != SCHEMA_IS_WORDS || schema_written_number(value, column->commas, number))
		return 0;
	return column->lax ? 0 : refuse_word(column, value, err);
}

/* A missing value that a category has: too large a number, or what older versions took for a word. */
static bool is_word_after_all(const struct schema_column *column, const struct schema_value *value)
{
	char word[SCHEMA_WORD + 1];

	if (column->kind == SCHEMA_OPEN || column->kind == SCHEMA_NUMBER ||
		column->kind == SCHEMA_TIME || !value->size)
		return false;
	return fabs(value->number) > (double)FLT_MAX ||
	       (column->values.names.count &&
		       vocabulary_find(&column->values, word,
			       schema_word(value->words, value->size, word)) >= 0);
}

bool schema_is_dull(const struct schema_column *column)
{
	return column->misses == SCHEMA_MISSES;
}

void schema_set_sound(struct schema *schema)
{
	for (int i = 0; i < schema->count; i++)
		schema->columns[i].misses = -1;
}

/* What an open column becomes, with the inputs that it has. */
static enum schema_kind opened_kind(const struct schema *schema, const struct schema_column *column,
	const struct schema_value *value)
{
	const enum schema_kind kind = schema_kind_of(column->name, value, schema->sizes.dates);

	return kind == SCHEMA_NUMBER || (kind == SCHEMA_TIME && column->inputs >= 4)
		       ? kind
		       : SCHEMA_CATEGORY;
}

/* A column whose inputs are all taken: does a value of before come again? */
static int learn_miss(struct schema *schema, int column, bool miss, struct err *err)
{
	struct schema_column *at = schema->columns + column;
	int code;

	if (at->misses < 0 || schema_is_dull(at))
		return 0;
	code = take_down(schema, LEARNED_MISSES, column, err);
	if (!code)
		at->misses = miss ? at->misses + 1 : -1;
	return code;
}

int schema_learn(
	struct schema *schema, int column, const struct schema_value *value, struct err *err)
{
	struct schema_column *at = schema->columns + column;
	const struct addition addition = {LEARNED_VALUE, column};
	char word[SCHEMA_WORD + 1];
	int64_t moment;
	double number;
	size_t size;
	int code;

	if (value->is == SCHEMA_MISSING && !is_word_after_all(at, value))
		return 0;
	if (at->kind == SCHEMA_OPEN) {
		code = take_down(schema, LEARNED_KIND, column, err);
		if (code)
			return code;
		at->kind = opened_kind(schema, at, value);
		at->clock = at->kind == SCHEMA_TIME; /* there are inputs enough */
		at->day_first = at->clock && shows_day_first(at->name, value);
	}
	if (at->kind == SCHEMA_NUMBER)
		return number_of(at, value, &number, err);
	if (at->kind == SCHEMA_TIME) {
		moment_of(at, value, &moment, &code, err);
		return code;
	}
	if (at->kind != SCHEMA_CATEGORY)
		return 0;
	size = category_word(value, word);
	if (at->values.names.count == at->inputs)
		return learn_miss(
			schema, column, vocabulary_find(&at->values, word, size) < 0, err);
	return learn_word(schema, &at->values, at->inputs, word, size, &addition, err);
}

/*
 * What tells a value from others that set the same two inputs: a number below FLT_MIN, which is as
 * good as 0 wherever it is computed with.
 */
static void put_code(uint64_t hash, size_t first, size_t second, size_t n, float *inputs)
{
	const uint32_t bits = 1 + (uint32_t)(hash % 0x7ffffe);
	size_t at = 0;

	while (at == first || at == second)
		at++;
	if (at < n)
		memcpy(inputs + at, &bits, sizeof(bits));
}

static void put_category(
	const struct schema_column *column, const char *word, size_t size, float *inputs)
{
	const int64_t slot = vocabulary_find(&column->values, word, size);
	const size_t n = column->inputs;
	uint64_t hash;
	size_t first, second;

	if (slot >= 0) {
		inputs[slot] = 1;
	} else if (column->values.names.count == n) {
		hash = schema_hash(column->name, word, size);
		first = (size_t)(hash % n);
		second = n > 1 ? (first + 1 + (size_t)((hash >> 32) % (n - 1))) % n : first;
		inputs[first] = inputs[second] = 1;
		put_code(hash >> 40, first, second, n, inputs);
	}
}

int schema_put(const struct schema *schema, int column, const struct schema_value *value,
	float *input, size_t floats, struct err *err)
{
	const struct schema_column *at = schema->columns + column;
	const bool fits = at->at + at->inputs <= floats;
	float *inputs = input + (fits ? at->at : 0);
	char word[SCHEMA_WORD + 1];

	if ((value->is == SCHEMA_MISSING && !is_word_after_all(at, value)) ||
		at->kind == SCHEMA_OPEN || schema_is_dull(at))
		return 0;
	if (at->kind == SCHEMA_NUMBER) {
		double number;
		const int code = number_of(at, value, &number, err);

		if (fits)
			*inputs = (float)number;
		return code;
	}
	if (at->kind == SCHEMA_TIME) {
		int64_t moment;
		int code;

		if (moment_of(at, value, &moment, &code, err) && fits) {
			/* One that was open just now has blanks of another kind, and more of them. */
			for (size_t k = 0; k < at->inputs; k++)
				inputs[k] = NAN;
			schema_put_moment(at, moment, inputs);
		}
		return code;
	}
	if (!fits)
		return 0;
	memset(inputs, 0, at->inputs * sizeof(*inputs)); /* NANs of an open or a late one */
	if (at->kind == SCHEMA_TEXT && value->words) {
		schema_put_text(at, value->words, value->size, inputs);
	} else {
		const size_t size = category_word(value, word);

		if (at->kind == SCHEMA_TEXT)
			schema_put_text(at, word, size, inputs);
		else
			put_category(at, word, size, inputs);
	}
	return 0;
}

void schema_blank(const struct schema *schema, float *input, size_t floats)
{
	memset(input, 0, schema->first * sizeof(*input));
	for (size_t i = schema->first; i < floats; i++)
		input[i] = NAN;
	for (int i = 0; i < schema->count && !schema->columns[i].late; i++) {
		const struct schema_column *column = schema->columns + i;

		if (column->opened || column->kind == SCHEMA_NUMBER)
			input[column->at] = NAN;
		for (size_t k = 0; k < column->inputs && column->kind == SCHEMA_TIME; k++)
			input[column->at + k] = NAN;
	}
}

/* A field of the spare inputs: a number by its name, a word by name and value. */
static size_t spare_word(
	const char *name, const struct schema_value *value, char word[SCHEMA_WORD + 1])
{
	char whole[2 * SCHEMA_WORD + 2], part[SCHEMA_WORD + 1];
	size_t size;

	schema_word(name, strlen(name), part);
	size = strlen(part);
	memcpy(whole, part, size);
	if (value->is == SCHEMA_IS_WORDS) {
		whole[size++] = '=';
		schema_word(value->words, value->size, part);
		memcpy(whole + size, part, strlen(part));
		size += strlen(part);
	}
	return schema_word(whole, size, word);
}

/* The spare input of a field; -1: it has none. */
static int64_t spare_slot(
	const struct schema *schema, const char *name, const struct schema_value *value)
{
	char word[SCHEMA_WORD + 1];

	return schema->sizes.spare && schema_kind_of(name, value, false) != SCHEMA_TEXT
		       ? vocabulary_find(&schema->spare, word, spare_word(name, value, word))
		       : -1;
}

void schema_ignore(struct schema *schema, const char *name)
{
	char word[SCHEMA_WORD + 1];
	const size_t size = schema_word(name, strlen(name), word);

	schema->ignored++;
	/* A name that finds no memory is told when it comes again. */
	if (schema->ignored_fields.names.count < SCHEMA_IGNORED)
		vocabulary_number(&schema->ignored_fields, word, size, NULL);
}

/* A late column's place is behind all others. */
static int add_late(
	struct schema *schema, const char *name, const struct schema_value *value, struct err *err)
{
	const int code = schema_add_for(schema, name, value, err);

	if (code)
		return code;
	schema_set_late(schema);
	find_names(schema);
	schema->floats = lay_out(schema, true, schema->first);
	return 0;
}

static void drop_late(struct schema *schema)
{
	vocabulary_release(&schema->columns[--schema->count].values);
	vocabulary_drop_last(&schema->names);
	schema->floats = lay_out(schema, true, schema->first);
}

/* Grows by a column for the field, if it may. */
static int learn_column(
	struct schema *schema, const char *name, const struct schema_value *value, struct err *err)
{
	const size_t most = schema->first + (size_t)schema->sizes.grow;
	int code;

	if (!schema->sizes.grow || schema->count == SCHEMA_COLUMNS)
		return 0;
	code = add_late(schema, name, value, err);
	if (code)
		return code;
	if (schema->floats <= (most < SCHEMA_FLOATS ? most : SCHEMA_FLOATS)) {
		code = take_down(schema, LEARNED_COLUMN, schema->count - 1, err);
		if (!code)
			return schema_learn(schema, schema->count - 1, value, err);
	}
	drop_late(schema);
	return code;
}

int schema_learn_new(
	struct schema *schema, const char *name, const struct schema_value *value, struct err *err)
{
	const struct addition addition = {LEARNED_FIELD, -1};
	const int column = schema_find(schema, name, strlen(name));
	char word[SCHEMA_WORD + 1];
	int code = 0;

	if (value->is == SCHEMA_MISSING)
		return 0;
	if (column >= 0)
		return schema_learn(schema, column, value, err);
	if (schema_kind_of(name, value, false) != SCHEMA_TEXT)
		code = learn_word(schema, &schema->spare, (size_t)schema->sizes.spare, word,
			spare_word(name, value, word), &addition, err);
	if (code || spare_slot(schema, name, value) >= 0)
		return code;
	code = learn_column(schema, name, value, err);
	if (!code && schema_find(schema, name, strlen(name)) < 0)
		schema_ignore(schema, name);
	return code;
}

bool schema_put_new(const struct schema *schema, const char *name, const struct schema_value *value,
	float *input, size_t floats)
{
	const int column = schema_find(schema, name, strlen(name));
	int64_t slot;

	if (value->is == SCHEMA_MISSING)
		return true;
	if (column >= 0)
		return !schema_put(schema, column, value, input, floats, NULL);
	slot = spare_slot(schema, name, value);
	if (slot >= 0)
		input[schema->spare_at + (size_t)slot] =
			value->is == SCHEMA_IS_NUMBER ? (float)value->number : 1;
	return slot >= 0;
}

int64_t schema_ignored(const struct schema *schema)
{
	return schema->ignored;
}

const char *schema_ignored_field(const struct schema *schema, size_t i)
{
	const struct name_list *names = &schema->ignored_fields.names;

	return i < names->count ? name_list_at(names, i) : NULL;
}

size_t schema_mark(const struct schema *schema)
{
	return schema->additions_count;
}

static void open_again(struct schema_column *column)
{
	column->kind = SCHEMA_OPEN;
	column->clock = column->day_first = false;
}

void schema_back(struct schema *schema, size_t mark)
{
	pthread_mutex_lock(&schema->lock);
	while (schema->additions_count > mark) {
		const struct addition *last = schema->additions + --schema->additions_count;

		if (last->what == LEARNED_KIND)
			open_again(schema->columns + last->column);
		else if (last->what == LEARNED_COLUMN)
			drop_late(schema);
		else if (last->what == LEARNED_MISSES)
			schema->columns[last->column].misses = last->before;
		else
			vocabulary_drop_last(last->what == LEARNED_FIELD
						     ? &schema->spare
						     : &schema->columns[last->column].values);
		schema->serial++;
	}
	pthread_mutex_unlock(&schema->lock);
}

uint64_t schema_serial(const struct schema *schema)
{
	return schema->serial;
}
