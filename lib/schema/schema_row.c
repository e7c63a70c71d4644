/* Rows as JSON tables: each entry is a field. */
#include <stdio.h>
#include <string.h>

#include "schema/schema_impl.h"

/* The value of a field; lists and tables are none. */
static int field_value(
	const char *name, const struct jvalue *from, struct schema_value *value, struct err *err)
{
	const char *words = jvalue_text(from);
	double number;
	bool truth;

	*value = (struct schema_value){0};
	if (words)
		*value = schema_value(words, strlen(words));
	else if (jvalue_number(from, &number))
		*value = schema_number(number);
	else if (jvalue_truth(from, &truth))
		*value = truth ? schema_value("true", 4) : schema_value("false", 5);
	else if (jvalue_kind(from) != JVALUE_NONE)
		return err_set(err, ERR_INPUT,
			"field %s: is a %s; a field is a number, a text, true, false or null", name,
			jvalue_kind(from) == JVALUE_LIST ? "list" : "table");
	return 0;
}

static int check_row(const struct jvalue *row, struct err *err)
{
	if (jvalue_kind(row) == JVALUE_TABLE)
		return 0;
	return err_set(err, ERR_INPUT, "is not a JSON object of named fields");
}

int schema_of_row(struct schema **schema, const struct schema_sizes *sizes,
	const struct jvalue *row, struct err *err)
{
	struct schema_value value;
	const struct jvalue *from;
	struct schema *made = NULL;
	const char *name;
	void *at = NULL;
	int code = check_row(row, err);

	*schema = NULL;
	if (!code && !jvalue_count(row))
		code = err_set(err, ERR_INPUT, "has no fields");
	if (!code)
		code = schema_new(&made, sizes, err);
	while (!code && jvalue_next(row, &at, &name, &from)) {
		code = field_value(name, from, &value, err);
		if (!code)
			code = schema_add_for(made, name, &value, err);
	}
	if (!code)
		code = schema_end(made, err);
	if (code)
		schema_free(made);
	else
		*schema = made;
	return code;
}

/* What is wrong with a row that shares no field with the schema, where no new ones may come. */
static int refuse_strange(const struct schema *schema, struct err *err)
{
	char names[200];
	size_t used = 0;

	for (int i = 0; i < schema->count; i++) {
		const char *name = schema->columns[i].name;
		const size_t size = strlen(name);

		if (used + size + 8 > sizeof(names)) {
			strcpy(names + used, ", ...");
			break;
		}
		used += (size_t)snprintf(
			names + used, sizeof(names) - used, "%s%s", i ? ", " : "", name);
	}
	return err_set(err, ERR_INPUT, "has none of the columns %s", names);
}

static int learn_row(struct schema *schema, const struct jvalue *row, struct err *err)
{
	struct schema_value value;
	const struct jvalue *from;
	const char *name;
	void *at = NULL;
	int code = check_row(row, err), known = 0;

	while (!code && jvalue_next(row, &at, &name, &from)) {
		const int column = schema_find(schema, name, strlen(name));

		known += column >= 0;
		if (column == SCHEMA_LEFT_OUT)
			continue;
		code = field_value(name, from, &value, err);
		if (!code && column >= 0)
			code = schema_learn(schema, column, &value, err);
		else if (!code)
			code = schema_learn_new(schema, name, &value, err);
	}
	if (!code && !known && !schema->sizes.spare)
		code = refuse_strange(schema, err);
	return code;
}

int schema_learn_row(struct schema *schema, const struct jvalue *row, struct err *err)
{
	const size_t mark = schema_mark(schema);
	int code;

	pthread_mutex_lock(&schema->lock);
	code = learn_row(schema, row, err);
	pthread_mutex_unlock(&schema->lock);
	if (code)
		schema_back(schema, mark);
	return code;
}

static int encode_row(const struct schema *schema, const struct jvalue *row, float *input,
	size_t floats, int *added, struct err *err)
{
	struct schema_value value;
	const struct jvalue *from;
	const char *name;
	void *at = NULL;
	int code = check_row(row, err), known = 0, without = 0;

	schema_blank(schema, input, floats);
	while (!code && jvalue_next(row, &at, &name, &from)) {
		const int column = schema_find(schema, name, strlen(name));

		known += column >= 0;
		if (column == SCHEMA_LEFT_OUT)
			continue;
		code = field_value(name, from, &value, err);
		if (!code && column >= 0)
			code = schema_put(schema, column, &value, input, floats, err);
		else if (!code)
			without += !schema_put_new(schema, name, &value, input, floats);
	}
	if (!code && !known && !schema->sizes.spare)
		code = refuse_strange(schema, err);
	if (added)
		*added = without;
	return code;
}

int schema_encode_row(const struct schema *schema, const struct jvalue *row, float *input,
	size_t floats, int *added, struct err *err)
{
	/* What a schema says does not change here; its lock is no part of that. */
	pthread_mutex_t *lock = &((struct schema *)(uintptr_t)schema)->lock;
	int code;

	pthread_mutex_lock(lock);
	code = encode_row(schema, row, input, floats, added, err);
	pthread_mutex_unlock(lock);
	return code;
}
