/*
 * {"format": 1, "slots": 32, "words": 256, "spare": 4, "label": "class", "left_out":
 *  ["class", "time"], "fields": ["added"], "columns": [{"name": "age", "kind": "number"},
 *  {"name": "city", "kind": "category", "values": ["Rome", "Oslo"]}]}
 *
 * A column of numbers may have "commas" (12,5 is a number) and "lax" (words are missing), both
 * true; a time may have "lax", "clock" and "day_first"; a category of a stream has "misses". One that came after the first row has "late". With
 * times or late columns the format is 2.
 *
 * What comes back is checked as if it came from a stranger: it may.
 */
#include <string.h>

#include "schema/schema_impl.h"

enum { FORMAT = 1, FORMAT_NEW = 2, SIZE_MOST = 65536 };

/* Whether inputs of this many floats have the column. */
static bool within(const struct schema_column *column, size_t floats)
{
	return !column->late || column->at + column->inputs <= floats;
}

/* Whether earlier versions would read it as another one. */
static bool is_new(const struct schema *schema, size_t floats)
{
	bool new = false;

	for (int i = 0; i < schema->count; i++)
		new |= within(schema->columns + i, floats) &&
		       (schema->columns[i].late || schema->columns[i].kind == SCHEMA_TIME);
	return new;
}

static void write_words(struct jwriter *json, const char *name, const struct vocabulary *words)
{
	jwriter_list(json, name);
	for (size_t i = 0; i < words->names.count; i++)
		jwriter_text(json, NULL, name_list_at(&words->names, i));
	jwriter_end(json);
}

void schema_write(
	const struct schema *schema, size_t floats, struct jwriter *json, const char *name)
{
	jwriter_table(json, name);
	jwriter_whole(json, "format", is_new(schema, floats) ? FORMAT_NEW : FORMAT);
	jwriter_whole(json, "slots", schema->sizes.slots);
	jwriter_whole(json, "words", schema->sizes.words);
	jwriter_whole(json, "spare", schema->sizes.spare);
	if (schema->label >= 0)
		jwriter_text(json, "label", schema_label(schema));
	if (schema->left_out.names.count)
		write_words(json, "left_out", &schema->left_out);
	if (schema->spare.names.count)
		write_words(json, "fields", &schema->spare);
	jwriter_list(json, "columns");
	for (int i = 0; i < schema->count; i++) {
		const struct schema_column *column = schema->columns + i;

		if (!within(column, floats))
			continue;
		jwriter_table(json, NULL);
		jwriter_text(json, "name", column->name);
		jwriter_text(json, "kind", schema_kinds[column->kind]);
		if (column->opened && column->kind != SCHEMA_OPEN)
			jwriter_truth(json, "opened", true);
		if (column->commas)
			jwriter_truth(json, "commas", true);
		if (column->lax)
			jwriter_truth(json, "lax", true);
		if (column->late)
			jwriter_truth(json, "late", true);
		if (column->clock)
			jwriter_truth(json, "clock", true);
		if (column->day_first)
			jwriter_truth(json, "day_first", true);
		if (column->kind == SCHEMA_CATEGORY && column->misses >= 0)
			jwriter_whole(json, "misses", column->misses);
		if (column->kind == SCHEMA_CATEGORY)
			write_words(json, "values", &column->values);
		jwriter_end(json);
	}
	jwriter_end(json);
	jwriter_end(json);
}

/* A size that may be missing. */
static int read_size(
	const struct jvalue *table, const char *key, int least, int *size, struct err *err)
{
	const struct jvalue *value = jvalue_find(table, key);
	int64_t number = *size;

	if (value && (!jvalue_whole(value, &number) || number < least || number > SIZE_MOST))
		return err_set(err, ERR_FORMAT, "%s: is not a whole number from %d to %d", key,
			least, SIZE_MOST);
	*size = (int)number;
	return 0;
}

/* An optional list of distinct texts, of limited length. */
static int read_words(const struct jvalue *list, const char *key, size_t most,
	struct vocabulary *words, struct err *err)
{
	char word[SCHEMA_WORD + 1];

	if (list && jvalue_kind(list) != JVALUE_LIST)
		return err_set(err, ERR_FORMAT, "%s: is not a list", key);
	if (jvalue_count(list) > most)
		return err_set(err, ERR_FORMAT, "%s: has %zu texts for %zu inputs", key,
			jvalue_count(list), most);
	for (size_t i = 0; i < jvalue_count(list); i++) {
		const char *text = jvalue_text(jvalue_at(list, i));
		int64_t number;
		size_t size;

		if (!text)
			return err_set(err, ERR_FORMAT, "%s: entry %zu is not text", key, i);
		size = schema_word(text, strlen(text), word);
		number = vocabulary_number(words, word, size, err);
		if (number < 0)
			return (int)number;
		if ((size_t)number != i)
			return err_set(err, ERR_FORMAT, "%s: has %s twice", key, word);
	}
	return 0;
}

static int read_column(struct schema *schema, const struct jvalue *table, struct err *err)
{
	const char *name = jvalue_text(jvalue_find(table, "name"));
	const char *kind = jvalue_text(jvalue_find(table, "kind"));
	bool opened = false, commas = false, lax = false, late = false, clock = false,
	     day_first = false;
	int k = 0, code;

	jvalue_truth(jvalue_find(table, "opened"), &opened);
	jvalue_truth(jvalue_find(table, "commas"), &commas);
	jvalue_truth(jvalue_find(table, "lax"), &lax);
	jvalue_truth(jvalue_find(table, "late"), &late);
	jvalue_truth(jvalue_find(table, "clock"), &clock);
	jvalue_truth(jvalue_find(table, "day_first"), &day_first);
	while (kind && schema_kinds[k] && strcmp(schema_kinds[k], kind) != 0)
		k++;
	if (!name)
		return err_set(err, ERR_FORMAT, "column %d has no name", schema->count + 1);
	if (!kind || !schema_kinds[k])
		return err_set(err, ERR_FORMAT,
			"column %s: its kind is not one of number, category, text, time, open",
			name);
	code = schema_add(schema, name, strlen(name), (enum schema_kind)k, opened, err);
	if (!code && (k == SCHEMA_NUMBER || k == SCHEMA_TIME))
		schema_read_numbers(schema, commas, lax);
	if (!code && k == SCHEMA_TIME)
		schema_read_times(schema, clock, day_first);
	if (!code && late)
		schema_set_late(schema);
	else if (!code && schema->count > 1 && schema->columns[schema->count - 2].late)
		code = err_set(err, ERR_FORMAT, "column %s: follows a late one and is none", name);
	return code;
}

static int read_left_out(struct schema *schema, const struct jvalue *table, struct err *err)
{
	const struct jvalue *list = jvalue_find(table, "left_out");
	const char *label = jvalue_text(jvalue_find(table, "label"));
	int code = 0;

	if (list && jvalue_kind(list) != JVALUE_LIST)
		return err_set(err, ERR_FORMAT, "left_out: is not a list");
	for (size_t i = 0; i < jvalue_count(list) && !code; i++) {
		const char *name = jvalue_text(jvalue_at(list, i));

		code = name ? schema_leave_out(schema, name, strlen(name), false, err)
			    : err_set(err, ERR_FORMAT, "left_out: entry %zu is not text", i);
	}
	if (!code && label)
		code = schema_leave_out(schema, label, strlen(label), true, err);
	return code;
}

/* Where nothing is said, it was known whether there are ids. */
static int read_misses(const struct jvalue *table, struct schema_column *column, struct err *err)
{
	const struct jvalue *value = jvalue_find(table, "misses");
	int64_t misses = -1;

	if (value && (!jvalue_whole(value, &misses) || misses < 0 || misses > SCHEMA_MISSES))
		return err_set(err, ERR_FORMAT, "misses: is not a whole number from 0 to %d",
			SCHEMA_MISSES);
	column->misses = (int)misses;
	return 0;
}

static int read_values(struct schema *schema, const struct jvalue *columns, struct err *err)
{
	for (int i = 0; i < schema->count; i++) {
		struct schema_column *column = schema->columns + i;
		const struct jvalue *values = jvalue_find(jvalue_at(columns, (size_t)i), "values");
		int code;

		if (values && column->kind != SCHEMA_CATEGORY)
			return err_set(err, ERR_FORMAT, "column %s: only categories have values",
				column->name);
		code = read_words(values, "values", column->inputs, &column->values, err);
		if (!code && column->kind == SCHEMA_CATEGORY)
			code = read_misses(jvalue_at(columns, (size_t)i), column, err);
		if (code)
			return err_set(err, code, "column %s: %s", column->name, err->message);
	}
	return 0;
}

static int fill(struct schema *schema, const struct jvalue *value, struct err *err)
{
	const struct jvalue *columns = jvalue_find(value, "columns");
	int64_t format = FORMAT;
	int code = 0;

	if (jvalue_kind(value) != JVALUE_TABLE || jvalue_kind(columns) != JVALUE_LIST)
		return err_set(err, ERR_FORMAT, "has no list of columns");
	if (jvalue_find(value, "format") && (!jvalue_whole(jvalue_find(value, "format"), &format) ||
						    format < FORMAT || format > FORMAT_NEW))
		return err_set(err, ERR_FORMAT, "is of a format that this version does not know");
	code = read_size(value, "slots", 1, &schema->sizes.slots, err);
	if (!code)
		code = read_size(value, "words", 1, &schema->sizes.words, err);
	if (!code)
		code = read_size(value, "spare", 0, &schema->sizes.spare, err);
	for (size_t i = 0; i < jvalue_count(columns) && !code; i++)
		code = read_column(schema, jvalue_at(columns, i), err);
	if (!code)
		code = read_left_out(schema, value, err);
	if (!code)
		code = schema_end(schema, err);
	if (!code)
		code = read_values(schema, columns, err);
	if (!code)
		code = read_words(jvalue_find(value, "fields"), "fields",
			(size_t)schema->sizes.spare, &schema->spare, err);
	return code;
}

int schema_read(struct schema **schema, const struct schema_sizes *sizes,
	const struct jvalue *value, const char *where, struct err *err)
{
	struct schema *made;
	struct err why = {0};
	int code = schema_new(&made, sizes, err);

	*schema = NULL;
	if (code)
		return code;
	code = fill(made, value, &why);
	if (code) {
		schema_free(made);
		return err_set(err, code, "%s: %s", where, why.message);
	}
	*schema = made;
	return 0;
}

int schema_parse(struct schema **schema, const struct schema_sizes *sizes, const char *json,
	size_t size, const char *where, struct err *err)
{
	struct jvalue *value = NULL;
	int code = jvalue_read(&value, json, size, where, err);

	*schema = NULL;
	if (!code)
		code = schema_read(schema, sizes, value, where, err);
	jvalue_free(value);
	return code;
}
