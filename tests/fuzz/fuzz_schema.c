/*
 * Schemas and rows: the first line is a schema as JSON or, where it is none, a row that
 * one is made of; the others are rows of JSON or, if they are no JSON, texts of column 0.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "schema/schema.h"

enum { FLOATS_MOST = 4096 };
static const struct schema_sizes sizes = {.slots = 3, .words = 8, .spare = 2};

static struct schema *first(const char *bytes, size_t size)
{
	struct schema *schema = NULL;
	struct jvalue *value;
	struct err err = {0};

	if (jvalue_read(&value, bytes, size, "schema", &err))
		return NULL;
	if (schema_read(&schema, &sizes, value, "schema", &err)) {
		fuzz_check(*err.message && !schema);
		if (schema_of_row(&schema, &sizes, value, &err))
			fuzz_check(*err.message && !schema);
	}
	jvalue_free(value);
	return schema;
}

/* In place of what a text held before; its room is used again for every row. */
static void words_of(const struct schema *schema, struct text *words)
{
	struct jwriter json = {.out = words};

	words->size = 0;
	schema_write(schema, schema_floats(schema), &json, NULL);
	fuzz_check(!words->failed);
}

/* What is written is read back as the same. */
static void there_and_back(const struct schema *schema)
{
	static struct text words, again;
	struct schema *back;

	words_of(schema, &words);
	fuzz_check(!schema_parse(&back, &sizes, words.data, words.size, "back", NULL));
	fuzz_check(schema_floats(back) == schema_floats(schema));
	words_of(back, &again);
	fuzz_check(!strcmp(words.data, again.data));
	schema_free(back);
}

static void use_row(struct schema *schema, const struct jvalue *row, float *input, float *same)
{
	static struct text before, after;
	const size_t mark = schema_mark(schema), floats = schema_floats(schema);
	struct err err = {0};

	words_of(schema, &before);
	if (schema_learn_row(schema, row, &err)) {
		fuzz_check(*err.message && schema_mark(schema) == mark);
	} else {
		fuzz_check(
			!schema_encode_row(schema, row, input, schema_floats(schema), NULL, &err));
		for (size_t i = 0; i < floats; i++)
			fuzz_check(isfinite(input[i]) || isnan(input[i]));
		schema_back(schema, mark);
		fuzz_check(!schema_learn_row(schema, row, &err));
		fuzz_check(
			!schema_encode_row(schema, row, same, schema_floats(schema), NULL, &err));
		fuzz_check(!memcmp(input, same, floats * sizeof(*input)));
		schema_back(schema, mark);
	}
	words_of(schema, &after);
	fuzz_check(!strcmp(before.data, after.data));
	schema_learn_row(schema, row, NULL);
}

static void use_text(struct schema *schema, const char *bytes, size_t size, float *input)
{
	const struct schema_value value = schema_value(bytes, size);
	const int code = schema_learn(schema, 0, &value, NULL);

	schema_blank(schema, input, schema_floats(schema));
	fuzz_check(schema_put(schema, 0, &value, input, schema_floats(schema), NULL) == code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *at = text, *end = memchr(text, '\n', size);
	struct schema *schema = first(at, end ? (size_t)(end - at) : size);
	float *input, *same;

	if (schema && schema_floats(schema) <= FLOATS_MOST) {
		input = malloc(schema_floats(schema) * sizeof(*input));
		same = malloc(schema_floats(schema) * sizeof(*same));
		fuzz_check(input && same);
		while (end) {
			const size_t left = size - (size_t)(end + 1 - text);
			struct jvalue *row;
			size_t line;

			at = end + 1;
			end = memchr(at, '\n', left);
			line = end ? (size_t)(end - at) : left;
			if (jvalue_read(&row, at, line, "row", NULL)) {
				use_text(schema, at, line, input);
			} else {
				use_row(schema, row, input, same);
				jvalue_free(row);
			}
		}
		there_and_back(schema);
		free(input);
		free(same);
	}
	schema_free(schema);
	free(text);
	return 0;
}
