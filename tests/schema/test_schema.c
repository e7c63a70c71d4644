/*
 * Schemas: what values become, what is learned and taken back, JSON there and back,
 * and what is refused.
 */
#include <float.h>
#include "../base/check.h"
#include "../base/folder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "schema/schema.h"

static const struct schema_sizes sizes = {.slots = 4, .words = 16, .spare = 2};

static struct jvalue *json(const char *words)
{
	struct jvalue *value;
	struct err err = {0};

	assert_ok(jvalue_read(&value, words, strlen(words), "test", &err), err);
	return value;
}

static struct schema *of_row(const char *words)
{
	struct jvalue *row = json(words);
	struct schema *schema;
	struct err err = {0};

	assert_ok(schema_of_row(&schema, &sizes, row, &err), err);
	jvalue_free(row);
	return schema;
}

static int learn(struct schema *schema, const char *words, struct err *err)
{
	struct jvalue *row = json(words);
	const int code = schema_learn_row(schema, row, err);

	jvalue_free(row);
	return code;
}

static int encode(const struct schema *schema, const char *words, float *input, struct err *err)
{
	struct jvalue *row = json(words);
	const int code = schema_encode_row(schema, row, input, schema_floats(schema), NULL, err);

	jvalue_free(row);
	return code;
}

/* Learns and encodes a row, and compares. NAN equals NAN. */
static void expect(struct schema *schema, const char *words, const float *wanted)
{
	float input[64];
	struct err err = {0};

	assert_true(schema_floats(schema) <= 64);
	assert_ok(learn(schema, words, &err), err);
	assert_ok(encode(schema, words, input, &err), err);
	for (size_t i = 0; i < schema_floats(schema); i++)
		if (input[i] != wanted[i] && !(isnan(input[i]) && isnan(wanted[i])))
			fail_msg("%s: input %zu is %g, not %g", words, i, (double)input[i],
				(double)wanted[i]);
}

static void texts_are_values(void **state)
{
	static const struct {
		const char *words;
		enum schema_is is;
		double number;
	} rows[] = {
		{"", SCHEMA_MISSING, 0},
		{" NA ", SCHEMA_MISSING, 0},
		{"n/a", SCHEMA_MISSING, 0},
		{"-inf", SCHEMA_MISSING, 0},
		{"NaN", SCHEMA_MISSING, 0},
		{"?", SCHEMA_MISSING, 0},
		{"-", SCHEMA_MISSING, 0},
		{"N.a.", SCHEMA_MISSING, 0},
		{"#n/A", SCHEMA_MISSING, 0},
		{"-5", SCHEMA_IS_NUMBER, -5},
		{"-a", SCHEMA_IS_WORDS, 0},
		{"1e39", SCHEMA_MISSING, 0},
		{"1e999", SCHEMA_MISSING, 0},
		{" -1.5e3 ", SCHEMA_IS_NUMBER, -1500},
		{"1e38", SCHEMA_IS_NUMBER, 1e38},
		{"True", SCHEMA_IS_NUMBER, 1},
		{"FALSE", SCHEMA_IS_NUMBER, 0},
		{"1,5", SCHEMA_IS_WORDS, 0},
		{"0x10", SCHEMA_IS_WORDS, 0},
		{"Rome", SCHEMA_IS_WORDS, 0},
		{"none", SCHEMA_IS_WORDS, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct schema_value value =
			schema_value(rows[i].words, strlen(rows[i].words));

		if (value.is != rows[i].is)
			fail_msg("%s is %d", rows[i].words, value.is);
		if (value.is == SCHEMA_IS_NUMBER)
			assert_true(value.number == rows[i].number);
	}
}

/* Numbers as people write them: with a decimal point and with a decimal comma; NAN: none. */
static void numbers_are_written(void **state)
{
	static const struct {
		const char *words;
		double point, comma;
	} table[] = {
		{"12,5", NAN, 12.5},
		{"1,234", 1234, 1.234},
		{"1,234.5", 1234.5, NAN},
		{"1.234,5", NAN, 1234.5},
		{"-1,234,567", -1234567, NAN},
		{"$5", 5, 5},
		{"$-5", -5, -5},
		{"-$5.25", -5.25, NAN},
		{"+7 %", 7, 7},
		{"5\xc2\xa0\xe2\x82\xac", 5, 5},
		{"\xc2\xa3 1'000'000", 1e6, 1e6},
		{"1\xe2\x80\xaf"
		 "000,5",
			NAN, 1000.5},
		{"0,123", NAN, 0.123},
		{"12,", NAN, NAN},
		{",5", NAN, NAN},
		{"1,23,456", NAN, NAN},
		{"1234,567", NAN, 1234.567},
		{"12,5,5", NAN, NAN},
		{"5 off", NAN, NAN},
		{"$", NAN, NAN},
		{"$-", NAN, NAN},
		{"--5%", NAN, NAN},
		{"5%%", NAN, NAN},
		{"1 000", NAN, NAN},
		{"192.168.1.1", NAN, NAN},
	};
	double number;

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		for (int commas = 0; commas < 2; commas++) {
			const struct schema_value value =
				schema_value(table[i].words, strlen(table[i].words));
			const double wanted = commas ? table[i].comma : table[i].point;

			if (schema_written_number(&value, commas, &number) != !isnan(wanted) ||
				(!isnan(wanted) && number != wanted))
				fail_msg("%s, commas: %d", table[i].words, commas);
		}
}

static void rows_become_inputs(void **state)
{
	const float n = NAN;
	struct schema *schema =
		of_row("{\"age\": 33, \"city\": \"Rome\", \"paid\": true, \"zip\": \"00501\", "
		       "\"later\": null}");

	assert_int_equal(schema_count(schema), 5);
	assert_int_equal(schema_floats(schema), 1 + 4 + 1 + 1 + 4 + 2);
	assert_int_equal(schema_column(schema, 4)->kind, SCHEMA_OPEN);
	expect(schema, "{\"age\": 33, \"city\": \"Rome\", \"paid\": true, \"zip\": \"00501\"}",
		(float[]){33, 1, 0, 0, 0, 1, 501, n, 0, 0, 0, 0, 0});
	expect(schema, "{\"city\": \"Oslo\", \"age\": null, \"paid\": \"false\"}",
		(float[]){n, 0, 1, 0, 0, 0, n, n, 0, 0, 0, 0, 0});
	/* The open column's first value is a word. */
	expect(schema, "{\"age\": \"12.5\", \"city\": \"\", \"later\": \"x\"}",
		(float[]){12.5, 0, 0, 0, 0, n, n, 1, 0, 0, 0, 0, 0});
	expect(schema, "{\"age\": 1, \"city\": 7, \"later\": 3}",
		(float[]){1, 0, 0, 1, 0, n, n, 0, 1, 0, 0, 0, 0});
	expect(schema, "{\"age\": 1, \"city\": \"7\", \"later\": null}",
		(float[]){1, 0, 0, 1, 0, n, n, n, 0, 0, 0, 0, 0});
	/* New fields: a number, a word; then there is no room for more. */
	expect(schema, "{\"age\": 1, \"new\": 8}",
		(float[]){1, 0, 0, 0, 0, n, n, n, 0, 0, 0, 8, 0});
	expect(schema, "{\"age\": 1, \"sky\": \"blue\", \"new\": 9}",
		(float[]){1, 0, 0, 0, 0, n, n, n, 0, 0, 0, 9, 1});
	expect(schema, "{\"age\": 1, \"sky\": \"grey\"}",
		(float[]){1, 0, 0, 0, 0, n, n, n, 0, 0, 0, 0, 0});
	schema_free(schema);
}

/* How many inputs from `at` on are 1; the others must be 0. */
static int ones(const float *input, size_t at, size_t count)
{
	int sum = 0;

	for (size_t i = at; i < at + count; i++) {
		assert_true((input[i] >= 0 && input[i] < FLT_MIN) || input[i] == 1);
		sum += input[i] == 1;
	}
	return sum;
}

static void values_beyond_the_slots_are_hashed(void **state)
{
	struct schema *schema = of_row("{\"c\": \"v0\"}");
	float input[6], again[6], codes[50];
	struct err err = {0};
	char row[40];

	for (int i = 0; i < 50; i++) {
		snprintf(row, sizeof(row), "{\"c\": \"v%d\"}", i);
		assert_ok(encode(schema, row, input, &err), err);
		assert_int_equal(ones(input, 0, 4), i < 4 ? 0 : 2); /* never seen */
		assert_ok(learn(schema, row, &err), err);
		assert_ok(encode(schema, row, input, &err), err);
		assert_int_equal(ones(input, 0, 4), i < 4 ? 1 : 2);
		if (i < 4)
			assert_true(input[i] == 1);
		/* Each has a code of its own, which is as good as 0. */
		codes[i] = 0;
		for (int k = 0; k < 4; k++)
			codes[i] += input[k] == 1 ? 0 : input[k];
		assert_true((codes[i] > 0) == (i >= 4));
		for (int k = 4; k < i; k++)
			assert_true(codes[k] != codes[i]);
	}
	assert_ok(encode(schema, row, again, &err), err);
	assert_memory_equal(input, again, sizeof(input));
	schema_free(schema);
}

static void texts_are_words(void **state)
{
	static const char *const text = "{\"t\": \"a Great phone, but far too small\"}";
	struct schema *schema = of_row(text);
	float input[18], same[18];
	struct err err = {0};

	assert_int_equal(schema_column(schema, 0)->kind, SCHEMA_TEXT);
	assert_ok(encode(schema, text, input, &err), err);
	assert_in_range(ones(input, 0, 16), 2, 7);
	assert_ok(encode(schema, "{\"t\": \"small; too FAR but phone great A\"}", same, &err), err);
	assert_memory_equal(input, same, sizeof(input));
	assert_ok(encode(schema, "{\"t\": null}", input, &err), err);
	assert_int_equal(ones(input, 0, 16), 0);
	assert_ok(encode(schema, "{\"t\": 5}", input, &err), err);
	assert_int_equal(ones(input, 0, 16), 1);
	schema_free(schema);
}

static void text_of(const struct schema *schema, struct text *text)
{
	struct jwriter writer = {.out = text};

	schema_write(schema, schema_floats(schema), &writer, NULL);
	assert_false(text->failed);
}

static void json_comes_back(void **state)
{
	struct schema *schema = of_row("{\"age\": 3, \"city\": \"R\\u00f6m\", \"o\": null, \"p\": "
				       "null, \"t\": \"one two three four five six\"}"),
		      *back;
	struct text first = {0}, second = {0};
	float a[64], b[64];
	struct err err = {0};
	static const char *const row =
		"{\"age\": 3, \"city\": \"Oslo\", \"o\": 5, \"new\": 1, \"t\": \"six seven\"}";

	assert_ok(learn(schema, row, &err), err);
	text_of(schema, &first);
	assert_ok(schema_parse(&back, &(struct schema_sizes){9, 9, 9}, first.data, first.size,
			  "there", &err),
		err);
	text_of(back, &second);
	assert_string_equal(first.data, second.data);
	assert_int_equal(schema_floats(back), schema_floats(schema));
	assert_ok(encode(schema, row, a, &err), err);
	assert_ok(encode(back, row, b, &err), err);
	assert_memory_equal(a, b, schema_floats(schema) * sizeof(*a));
	schema_free(schema);
	schema_free(back);
	text_release(&first);
	text_release(&second);
	assert_ok(schema_parse(&back, &sizes,
			  "{\"columns\": [{\"name\": \"a\", \"kind\": \"category\"}]}", 48, "hand",
			  &err),
		err);
	assert_int_equal(schema_floats(back), 6);
	schema_free(back);
}

static void learning_is_taken_back(void **state)
{
	struct schema *schema = of_row("{\"n\": 1, \"c\": \"a\", \"o\": null}");
	struct text before = {0}, after = {0};
	struct err err = {0};
	size_t mark;
	uint64_t serial;

	assert_ok(learn(schema, "{\"c\": \"a\"}", &err), err);
	text_of(schema, &before);
	mark = schema_mark(schema);
	serial = schema_serial(schema);
	assert_ok(learn(schema, "{\"c\": \"b\", \"o\": \"x\", \"new\": 2}", &err), err);
	assert_true(schema_serial(schema) != serial);
	schema_back(schema, mark);
	assert_true(schema_serial(schema) != serial);
	text_of(schema, &after);
	assert_string_equal(before.data, after.data);
	/* A row that is refused teaches nothing, whatever stands before the mistake. */
	assert_int_equal(
		learn(schema, "{\"c\": \"b\", \"o\": 1, \"new\": 2, \"n\": \"old\"}", &err),
		ERR_INPUT);
	assert_string_equal(err.message, "column n: old is not a number");
	text_release(&after);
	after = (struct text){0};
	text_of(schema, &after);
	assert_string_equal(before.data, after.data);
	text_release(&before);
	text_release(&after);
	schema_free(schema);
}

static struct schema *closed_to_new(void)
{
	const struct schema_sizes none_spare = {.slots = 4, .words = 16};
	struct jvalue *row = json("{\"n\": 1, \"c\": \"a\"}");
	struct schema *schema;
	struct err err = {0};

	assert_ok(schema_of_row(&schema, &none_spare, row, &err), err);
	jvalue_free(row);
	return schema;
}

/* New fields get columns behind all others; what is missing there is NAN. */
static void it_grows(void **state)
{
	const struct schema_sizes growing = {.slots = 3, .words = 2, .grow = 6};
	struct jvalue *row = json("{\"a\": 1, \"c\": \"x\"}");
	struct schema *schema, *back;
	struct text text = {0};
	float input[16];
	struct err err = {0};
	size_t mark;

	(void)state;
	assert_ok(schema_of_row(&schema, &growing, row, &err), err);
	jvalue_free(row);
	expect(schema, "{\"a\": 1, \"c\": \"x\", \"n\": null}", (float[]){1, 1, 0, 0});
	expect(schema, "{\"a\": 1, \"n\": 5}", (float[]){1, 0, 0, 0, 5});
	expect(schema, "{\"a\": 2, \"k\": \"u\"}", (float[]){2, 0, 0, 0, NAN, 1, 0, 0});
	expect(schema, "{\"a\": 2, \"k\": \"v\"}", (float[]){2, 0, 0, 0, NAN, 0, 1, 0});
	expect(schema, "{\"a\": 3}", (float[]){3, 0, 0, 0, NAN, NAN, NAN, NAN});
	assert_int_equal(schema_first_floats(schema), 4);
	assert_int_equal(schema_floats(schema), 8);

	/* There and back, whole or for a net that has not grown so far. */
	text_of(schema, &text);
	assert_ok(schema_parse(&back, &growing, text.data, text.size, "test", &err), err);
	assert_int_equal(schema_floats(back), 8);
	expect(back, "{\"a\": 2, \"k\": \"v\", \"n\": 7}", (float[]){2, 0, 0, 0, 7, 0, 1, 0});
	schema_free(back);
	text.size = 0;
	schema_write(schema, 7, &(struct jwriter){.out = &text}, NULL);
	assert_ok(schema_parse(&back, &growing, text.data, text.size, "test", &err), err);
	assert_int_equal(schema_floats(back), 5);
	schema_free(back);

	/* An input may be shorter or longer than the schema. */
	row = json("{\"a\": 2, \"k\": \"v\", \"n\": 7}");
	input[5] = -1;
	assert_ok(schema_encode_row(schema, row, input, 5, NULL, &err), err);
	assert_true(input[4] == 7 && input[5] == -1);
	assert_ok(schema_encode_row(schema, row, input, 10, NULL, &err), err);
	assert_true(input[6] == 1 && isnan(input[8]) && isnan(input[9]));
	jvalue_free(row);

	/* Taken back, and up to the limit. */
	mark = schema_mark(schema);
	assert_ok(learn(schema, "{\"a\": 2, \"m\": 1, \"o\": 2}", &err), err);
	assert_int_equal(schema_floats(schema), 10);
	schema_back(schema, mark);
	assert_int_equal(schema_floats(schema), 8);
	assert_int_equal(schema_find(schema, "m", 1), SCHEMA_NEW_FIELD);
	assert_int_equal(schema_ignored(schema), 0);
	expect(schema, "{\"a\": 2, \"p\": \"too many\"}",
		(float[]){2, 0, 0, 0, NAN, NAN, NAN, NAN});
	assert_int_equal(schema_ignored(schema), 1);
	assert_int_equal(learn(schema, "{\"a\": \"word\", \"m\": 1}", &err), ERR_INPUT);
	assert_int_equal(schema_floats(schema), 8);
	text_release(&text);
	schema_free(schema);
}

/* Dates, and seconds where a name says so, are days, week, year and time of day. */
static void times_are_numbers(void **state)
{
	const struct schema_sizes dated = {.slots = 3, .words = 2, .grow = 8, .dates = true};
	struct jvalue *row =
		json("{\"a\": \"2024-02-29\", \"seen_at\": 1709208000, \"n\": 1709208000}");
	static const float week = 3 / 7.0F, year = 59 / 366.0F;
	struct schema *schema, *back;
	struct text text = {0};
	struct err err = {0};

	(void)state;
	assert_ok(schema_of_row(&schema, &dated, row, &err), err);
	jvalue_free(row);
	assert_int_equal(schema_column(schema, 0)->kind, SCHEMA_TIME);
	assert_int_equal(schema_column(schema, 1)->kind, SCHEMA_TIME);
	assert_int_equal(schema_column(schema, 2)->kind, SCHEMA_NUMBER);
	expect(schema, "{\"a\": \"29.02.2024\", \"seen_at\": 1709208000, \"n\": 2}",
		(float[]){19782, week, year, 19782.5F, week, year, 0.5F, 2});
	expect(schema, "{\"a\": \"2024/02/29\", \"seen_at\": \"2024-02-29 12:00\", \"n\": 2}",
		(float[]){19782, week, year, 19782.5F, week, year, 0.5F, 2});
	expect(schema, "{\"a\": null, \"seen_at\": 1709208000000, \"n\": 2}",
		(float[]){NAN, NAN, NAN, 19782.5F, week, year, 0.5F, 2});
	assert_int_equal(learn(schema, "{\"a\": \"soon\"}", &err), ERR_INPUT);
	assert_says(err, "column a: soon is not a date");
	assert_int_equal(learn(schema, "{\"a\": 12}", &err), ERR_INPUT);
	/* One that comes late, and JSON. */
	expect(schema, "{\"n\": 2, \"b\": \"1970-01-01\"}",
		(float[]){NAN, NAN, NAN, NAN, NAN, NAN, NAN, 2, 0, 3 / 7.0F, 0});
	text_of(schema, &text);
	assert_ok(schema_parse(&back, &dated, text.data, text.size, "test", &err), err);
	expect(back, "{\"a\": \"2024-02-29\", \"seen_at\": 1709208000, \"n\": 2, \"b\": null}",
		(float[]){19782, week, year, 19782.5F, week, year, 0.5F, 2, NAN, NAN, NAN});
	schema_free(back);
	text_release(&text);
	schema_free(schema);
	/* A missing first value decides nothing. */
	row = json("{\"a\": null, \"n\": 1}");
	assert_ok(schema_of_row(&schema, &(struct schema_sizes){4, 2, .dates = true}, row, &err),
		err);
	jvalue_free(row);
	expect(schema, "{\"a\": null, \"n\": 1}", (float[]){NAN, 0, 0, 0, 1});
	expect(schema, "{\"a\": \"2024-02-29\", \"n\": 2}", (float[]){19782, week, year, 0, 2});
	text_of(schema, &text);
	assert_ok(schema_parse(&back, &dated, text.data, text.size, "test", &err), err);
	expect(back, "{\"a\": \"2024-02-29\", \"n\": 2}", (float[]){19782, week, year, 0, 2});
	schema_free(back);
	text_release(&text);
	schema_free(schema);
	/* Of a time of day alone nothing but that changes. */
	row = json("{\"a\": \"06:00\"}");
	assert_ok(schema_of_row(&schema, &(struct schema_sizes){4, 2, .dates = true}, row, &err),
		err);
	jvalue_free(row);
	expect(schema, "{\"a\": \"18:00:00\"}", (float[]){0.75F, week, 0, 0.75F});
	schema_free(schema);
	/* Otherwise they are words. */
	schema = of_row("{\"a\": \"2024-02-29\"}");
	assert_int_equal(schema_column(schema, 0)->kind, SCHEMA_CATEGORY);
	schema_free(schema);
}

/* A column whose values never come again is ignored, unless one comes. */
static void ids_are_ignored(void **state)
{
	struct schema *schema = of_row("{\"a\": \"x\", \"b\": \"x\"}"), *back;
	struct text text = {0};
	char words[64];
	struct err err = {0};
	float input[16];
	size_t mark = 0;

	(void)state;
	for (int i = 0; i < 3 + SCHEMA_MISSES; i++) {
		if (i == 2 + SCHEMA_MISSES)
			mark = schema_mark(schema);
		snprintf(words, sizeof(words), "{\"a\": \"v%d\", \"b\": \"v%d\"}", i,
			i == 40 ? 1 : i);
		assert_ok(learn(schema, "{\"a\": null}", &err), err);
		assert_ok(learn(schema, words, &err), err);
	}
	assert_true(!schema_is_dull(schema_column(schema, 0)));
	assert_ok(learn(schema, "{\"a\": \"new\", \"b\": \"new\"}", &err), err);
	assert_true(schema_is_dull(schema_column(schema, 0)));
	assert_true(!schema_is_dull(schema_column(schema, 1)));
	assert_ok(encode(schema, "{\"a\": \"v0\", \"b\": \"v0\"}", input, &err), err);
	assert_true(input[0] == 0 && input[4] == 1);
	text_of(schema, &text);
	assert_ok(schema_parse(&back, &sizes, text.data, text.size, "test", &err), err);
	assert_true(schema_is_dull(schema_column(back, 0)));
	assert_int_equal(schema_column(back, 1)->misses, -1);
	schema_free(back);
	text_release(&text);
	schema_back(schema, mark);
	assert_int_equal(schema_column(schema, 0)->misses, SCHEMA_MISSES - 2);
	schema_free(schema);
}

/* Two spare inputs: one for a number, one for a value. */
static void ignored_fields_are_counted(void **state)
{
	struct schema *schema = of_row("{\"n\": 1}");
	struct err err = {0};

	(void)state;
	assert_ok(learn(schema, "{\"n\": 2, \"late\": 3, \"city\": \"Rome\"}", &err), err);
	assert_int_equal(schema_ignored(schema), 0);
	assert_null(schema_ignored_field(schema, 0));
	for (int i = 0; i < 3; i++)
		assert_ok(learn(schema,
				  "{\"n\": 2, \"city\": \"Oslo\", \"more\": 1, \"none\": null, "
				  "\"late\": 1}",
				  &err),
			err);
	assert_int_equal(schema_ignored(schema), 6);
	assert_string_equal(schema_ignored_field(schema, 0), "city");
	assert_string_equal(schema_ignored_field(schema, 1), "more");
	assert_null(schema_ignored_field(schema, 2));
	schema_free(schema);
	schema = closed_to_new();
	for (int i = 0; i < 2 * SCHEMA_IGNORED; i++) {
		char row[64];

		snprintf(row, sizeof(row), "{\"n\": 1, \"field %d\": 1}", i);
		assert_ok(learn(schema, row, &err), err);
	}
	assert_int_equal(schema_ignored(schema), 2 * SCHEMA_IGNORED);
	assert_string_equal(schema_ignored_field(schema, SCHEMA_IGNORED - 1), "field 99");
	assert_null(schema_ignored_field(schema, SCHEMA_IGNORED));
	schema_free(schema);
}

static void strange_rows_are_refused(void **state)
{
	static const struct {
		const char *row, *says;
	} rows[] = {
		{"{\"n\": [1]}", "field n: is a list"},
		{"{\"n\": {\"m\": 1}}", "field n: is a table"},
		{"{\"m\": 1}", "has none of the columns n, c"},
		{"{}", "has none of the columns n, c"},
		{"[1, 2]", "is not a JSON object of named fields"},
		{"{\"n\": \"1,5\"}", "column n: 1,5 is not a number"},
	};
	struct schema *open = of_row("{\"n\": 1, \"c\": \"a\"}"), *schema = closed_to_new(), *none;
	float input[8];

	/* Where new fields may come, a row need not have one that is known. */
	assert_ok(learn(open, "{}", NULL), (struct err){0});
	assert_ok(learn(open, "{\"m\": 1}", NULL), (struct err){0});
	assert_ok(encode(open, "{\"x\": 1}", input, NULL), (struct err){0});
	schema_free(open);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct err err = {0};

		assert_int_equal(learn(schema, rows[i].row, &err), ERR_INPUT);
		if (!strstr(err.message, rows[i].says))
			fail_msg("%s: %s", rows[i].row, err.message);
		assert_int_equal(encode(schema, rows[i].row, input, &err), ERR_INPUT);
	}
	for (int i = 0; i < 3; i++) {
		struct jvalue *row = json(i == 0 ? "{}" : i == 1 ? "[]" : "{\"a\": []}");

		assert_int_equal(schema_of_row(&none, &sizes, row, NULL), ERR_INPUT);
		assert_null(none);
		jvalue_free(row);
	}
	schema_free(schema);
}

static void strange_schemas_are_refused(void **state)
{
	static const struct {
		const char *schema, *says;
	} rows[] = {
		{"[]", "there: has no list of columns"},
		{"{\"columns\": []}", "there: its columns make"},
		{"{\"columns\": [{}]}", "there: column 1 has no name"},
		{"{\"columns\": [{\"name\": \"a\"}]}", "there: column a: its kind is not one of"},
		{"{\"columns\": [{\"name\": \"a\", \"kind\": \"number\"}, "
		 "{\"name\": \"a\", \"kind\": \"text\"}]}",
			"there: has two columns a"},
		{"{\"columns\": [{\"name\": \"a\", \"kind\": \"number\", \"values\": [\"x\"]}]}",
			"there: column a: only categories have values"},
		{"{\"slots\": 1, \"columns\": [{\"name\": \"a\", \"kind\": \"category\", "
		 "\"values\": [\"x\", \"y\"]}]}",
			"there: column a: values: has 2 texts for 1 inputs"},
		{"{\"columns\": [{\"name\": \"a\", \"kind\": \"category\", \"values\": "
		 "[\"x\", \"x\"]}]}",
			"there: column a: values: has x twice"},
		{"{\"slots\": 0, \"columns\": []}", "there: slots: is not a whole number from 1"},
		{"{\"format\": 3, \"columns\": []}", "there: is of a format"},
		{"{\"label\": \"a\", \"columns\": [{\"name\": \"a\", \"kind\": \"number\"}]}",
			"there: has two columns a"},
		{"{\"words\": 65536, \"columns\": [", "there"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct schema *schema;
		struct err err = {0};

		assert_true(schema_parse(&schema, &sizes, rows[i].schema, strlen(rows[i].schema),
				    "there", &err) < 0);
		assert_null(schema);
		if (strncmp(err.message, rows[i].says, strlen(rows[i].says)) != 0)
			fail_msg("%s: %s", rows[i].schema, err.message);
	}
}

/* Names and values of any bytes and lengths: what is written can be read. */
/* Numbers that are read otherwise say so in JSON, and come back as they were. */
static void numbers_may_be_read_otherwise(void **state)
{
	static const char words[] =
		"{\"slots\": 3, \"words\": 4, \"spare\": 0, \"columns\": ["
		"{\"name\": \"n\", \"kind\": \"number\", \"commas\": true},"
		"{\"name\": \"m\", \"kind\": \"number\", \"lax\": true},"
		"{\"name\": \"c\", \"kind\": \"category\", \"values\": [\"-\"]}]}";
	const float none = NAN;
	struct schema *schema, *again;
	struct text text = {0};
	struct err err = {0};

	assert_ok(schema_parse(&schema, &sizes, words, strlen(words), "there", &err), err);
	text_of(schema, &text);
	assert_ok(schema_parse(&again, &sizes, text.data, strlen(text.data), "there", &err), err);
	text_release(&text);
	expect(again, "{\"n\": \"-1,25\", \"m\": \"old\"}", (float[]){-1.25, none, 0, 0, 0});
	expect(again, "{\"n\": 2, \"m\": \"2.5\"}", (float[]){2, 2.5, 0, 0, 0});
	assert_int_equal(learn(again, "{\"n\": \"1,2,3\"}", &err), ERR_INPUT);
	/* What an older version took for a word still is that; other columns have it missing. */
	expect(again, "{\"n\": \"-\", \"c\": \"-\"}", (float[]){none, none, 1, 0, 0});
	expect(again, "{\"c\": \"n.a.\"}", (float[]){none, none, 0, 0, 0});
	/* A hexadecimal id that looks like a large number. */
	expect(again, "{\"n\": \"12e999\", \"c\": \"12e999\"}", (float[]){none, none, 0, 1, 0});
	schema_free(again);
	schema_free(schema);
}

static void any_bytes_are_names(void **state)
{
	static const char bytes[] = "\xff\xe4\"\\\n\x01\0x\xc3\xa4";
	struct schema *schema, *back;
	struct schema_value value = schema_value(bytes, sizeof(bytes) - 1);
	struct text text = {0};
	struct err err = {0};
	char longest[3 * SCHEMA_WORD];
	float input[16];

	memset(longest, 'x', sizeof(longest));
	assert_ok(schema_new(&schema, &sizes, &err), err);
	assert_ok(schema_add(schema, bytes, sizeof(bytes) - 1, SCHEMA_CATEGORY, false, &err), err);
	assert_ok(schema_add(schema, longest, sizeof(longest), SCHEMA_CATEGORY, false, &err), err);
	assert_ok(schema_end(schema, &err), err);
	assert_int_equal(schema_find(schema, bytes, sizeof(bytes) - 1), 0);
	assert_int_equal(schema_find(schema, longest, sizeof(longest)), 1);
	assert_ok(schema_learn(schema, 0, &value, &err), err);
	value = schema_value(longest, sizeof(longest));
	assert_ok(schema_learn(schema, 1, &value, &err), err);
	text_of(schema, &text);
	assert_ok(schema_parse(&back, &sizes, text.data, text.size, "back", &err), err);
	schema_blank(back, input, schema_floats(back));
	assert_ok(schema_put(back, 1, &value, input, schema_floats(back), &err), err);
	assert_true(input[4] == 1);
	value = schema_value(bytes, sizeof(bytes) - 1);
	assert_ok(schema_put(back, 0, &value, input, schema_floats(back), &err), err);
	assert_true(input[0] == 1);
	text_release(&text);
	schema_free(schema);
	schema_free(back);
}

/* What a weights file says is about columns or about pictures; only a key at its top tells. */
static void weights_speak_of_columns_or_not(void **state)
{
	static const char column[] = "{\"columns\": [{\"name\": \"age\", \"kind\": \"number\"}]}";
	static const char *const others[] = {
		NULL, "{\"image\": {\"columns\": 3}}", "{\"about\": \"columns\"}"};
	struct schema *schema;
	struct err err = {0};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		assert_ok(schema_of_weights(&schema, others[i], 1, "w", &err), err);
		assert_null(schema);
	}
	assert_ok(schema_of_weights(&schema, column, 1, "w", &err), err);
	assert_int_equal(schema_count(schema), 1);
	schema_free(schema);
	assert_int_equal(schema_of_weights(&schema, column, 2, "w", &err), ERR_FORMAT);
	assert_string_equal(err.message, "w: its schema makes 1 inputs, its net takes 2");
	assert_null(schema);
	assert_int_equal(schema_of_weights(&schema, "{", 1, "w", &err), ERR_FORMAT);
	assert_null(schema);
}

static void visit(void *object, struct state *state)
{
	schema_same_state(object, state);
}

/* A state that was saved with other columns is refused by a column's name. */
static void columns_must_stay(void **state)
{
	static const struct {
		const char *row, *why;
	} others[] = {
		{"{\"age\": \"old\", \"city\": \"Rome\"}",
			"was saved when column \"age\" was a number (inputs: 1); now it is a "
			"category "
			"(4)"},
		{"{\"age\": 1, \"town\": \"Rome\"}",
			"was saved with a column \"city\" where now is \"town\""},
		{"{\"age\": 1}", "was saved with 2 columns; now there are 1"},
	};
	struct schema *schema = of_row("{\"age\": 33, \"city\": \"Rome\"}");
	struct err err = {0};

	(void)state;
	assert_ok(state_save(in_folder("state"), visit, schema, &err), err);
	assert_ok(state_load(in_folder("state"), visit, schema, &err), err);
	schema_free(schema);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		schema = of_row(others[i].row);
		assert_int_equal(state_load(in_folder("state"), visit, schema, &err), ERR_INPUT);
		assert_non_null(strstr(err.message, others[i].why));
		assert_non_null(strstr(err.message, "begin anew (--force)"));
		schema_free(schema);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_values),
		cmocka_unit_test(numbers_are_written),
		cmocka_unit_test(rows_become_inputs),
		cmocka_unit_test(values_beyond_the_slots_are_hashed),
		cmocka_unit_test(texts_are_words),
		cmocka_unit_test(json_comes_back),
		cmocka_unit_test(learning_is_taken_back),
		cmocka_unit_test(ignored_fields_are_counted),
		cmocka_unit_test(it_grows),
		cmocka_unit_test(times_are_numbers),
		cmocka_unit_test(ids_are_ignored),
		cmocka_unit_test(strange_rows_are_refused),
		cmocka_unit_test(strange_schemas_are_refused),
		cmocka_unit_test(numbers_may_be_read_otherwise),
		cmocka_unit_test(any_bytes_are_names),
		cmocka_unit_test(weights_speak_of_columns_or_not),
		folder_test(columns_must_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
