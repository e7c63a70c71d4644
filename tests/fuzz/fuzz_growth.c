/*
 * A schema that grows with its rows, and goes on after a start: the first byte says after which
 * row it is written and read back, the first line is the row that it is made of, the others are
 * rows that come. A schema that went on makes the same of every row as one that never stopped; one
 * that forgets what it learned is as it was before; and the input of an early row, with NANs
 * behind it, is what the grown schema makes of that row, unless there was no room for some of it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "schema/schema.h"

enum { FLOATS_MOST = 256, ROWS_MOST = 24, GROW = 12 };
static const struct schema_sizes sizes = {.slots = 3, .words = 4, .grow = GROW};

/* What was made of a row when it came. */
struct past {
	struct jvalue *row;
	float input[FLOATS_MOST + GROW];
	size_t floats;
	bool whole; /* each of its fields had an input */
};

static void words_of(const struct schema *schema, struct text *words)
{
	struct jwriter json = {.out = words};

	words->size = 0;
	schema_write(schema, schema_floats(schema), &json, NULL);
	fuzz_check(!words->failed);
}

/* In place of a schema, itself as a later process reads it. */
static void start_again(struct schema **schema)
{
	static struct text words;
	struct schema *later;

	words_of(*schema, &words);
	fuzz_check(!schema_parse(&later, &sizes, words.data, words.size, "later", NULL));
	schema_free(*schema);
	*schema = later;
}

/* A row's input of so many floats, until the next. */
static const float *input_of(
	const struct schema *schema, const struct jvalue *row, size_t floats, int *added)
{
	float *input = fuzz_floats(floats);
	struct err err = {0};

	fuzz_check(!schema_encode_row(schema, row, input, floats, added, &err));
	for (size_t i = 0; i < floats; i++)
		fuzz_check(!isinf(input[i]));
	return input;
}

static void forgets(struct schema *schema, const struct jvalue *row)
{
	static struct text before, after;
	const size_t mark = schema_mark(schema);

	words_of(schema, &before);
	schema_learn_row(schema, row, NULL);
	schema_back(schema, mark);
	words_of(schema, &after);
	fuzz_check(!strcmp(before.data, after.data));
}

/* Both learn the row, or neither does. */
static bool learns(struct schema *one, struct schema *other, const struct jvalue *row,
	struct past *past, bool first)
{
	struct err err = {0}, same = {0};
	const int code = schema_learn_row(one, row, &err);
	int added = 0;

	fuzz_check(schema_learn_row(other, row, &same) == code);
	fuzz_check(schema_floats(one) == schema_floats(other));
	fuzz_check(schema_floats(one) <= schema_first_floats(one) + GROW);
	if (code) {
		fuzz_check(*err.message && !strcmp(err.message, same.message));
		return false;
	}
	past->floats = schema_floats(one);
	memcpy(past->input, input_of(one, row, past->floats, &added), past->floats * sizeof(float));
	past->whole = !added;
	fuzz_check(!memcmp(past->input, input_of(other, row, past->floats, NULL),
		past->floats * sizeof(float)));
	/* Who knows only the first columns gets those. */
	fuzz_check(
		!first || !memcmp(past->input, input_of(one, row, schema_first_floats(one), NULL),
				  schema_first_floats(one) * sizeof(float)));
	return true;
}

/* A column that was open does not say what it will be. */
static bool all_known(const struct schema *schema)
{
	for (int i = 0; i < schema_count(schema); i++)
		if (schema_column(schema, i)->opened)
			return false;
	return true;
}

static void look_back(const struct schema *schema, const struct past *past)
{
	const size_t floats = schema_floats(schema);
	const float *now = input_of(schema, past->row, floats, NULL);

	fuzz_check(!memcmp(now, past->input, past->floats * sizeof(*now)));
	for (int i = 0; i < schema_count(schema); i++) {
		const struct schema_column *column = schema_column(schema, i);

		/* "1e388" is missing in a number, and a word in a category that comes later. */
		if (column->at < past->floats || jvalue_find(past->row, column->name))
			continue;
		for (size_t k = column->at; k < column->at + column->inputs; k++)
			fuzz_check(isnan(now[k]));
	}
}

static struct jvalue *next_row(const char **at, size_t *left)
{
	const char *end = memchr(*at, '\n', *left);
	const size_t size = end ? (size_t)(end - *at) : *left;
	struct jvalue *row = NULL;

	jvalue_read(&row, *at, size, "row", NULL);
	*at += size + (end != NULL);
	*left -= size + (end != NULL);
	return row;
}

static void grow(struct schema *schema, struct schema *other, const char *at, size_t left, int stop)
{
	static struct past pasts[ROWS_MOST];
	bool known;
	int count = 0;

	for (int n = 0; left && n < ROWS_MOST; n++) {
		struct jvalue *row = next_row(&at, &left);

		if (n == stop)
			start_again(&other);
		if (!row)
			continue;
		if (fuzz_due(n, 8))
			forgets(schema, row);
		if (learns(schema, other, row, &pasts[count], fuzz_due(n, 8)))
			pasts[count++].row = row;
		else
			jvalue_free(row);
	}
	known = all_known(schema);
	for (int i = 0; i < count; i++) {
		if (known && pasts[i].whole)
			look_back(schema, &pasts[i]);
		jvalue_free(pasts[i].row);
	}
	schema_free(schema);
	schema_free(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct schema *schema = NULL, *other = NULL;
	struct jvalue *row;
	const char *at;
	size_t left;
	char *text;

	if (!size)
		return 0;
	fuzz_begin(data, size);
	text = fuzz_text(data + 1, size - 1);
	at = text;
	left = size - 1;
	row = next_row(&at, &left);
	if (row && !schema_of_row(&schema, &sizes, row, NULL) &&
		schema_floats(schema) <= FLOATS_MOST) {
		fuzz_check(!schema_of_row(&other, &sizes, row, NULL));
		grow(schema, other, at, left, data[0] % ROWS_MOST);
		schema = NULL;
	}
	schema_free(schema);
	jvalue_free(row);
	free(text);
	return 0;
}
