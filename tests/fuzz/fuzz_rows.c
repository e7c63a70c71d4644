/*
 * Rows of a table as the lines of a live stream. The first byte says with which keys; the first
 * lines say what inputs are, then all are read once more, with what those before them left:
 * headings may come midway and bring new columns. A line that is refused changes nothing; and a
 * schema that is written and read back at any moment, as by a start, makes the same of a line.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fuzz.h"
#include "live/live_table.h"
#include "schema/schema.h"

static const char *const settings[][FUZZ_SETTINGS] = {
	{NULL},
	{"table.label=1", "table.header=no", NULL},
	{"table.header=yes", "table.time=1", "schema.slots=2", NULL},
	{"table.ignore=1", "table.categorical=2", "table.text=3", NULL},
	{"schema.slots=3", NULL},
};

enum { SETTINGS = sizeof(settings) / sizeof(settings[0]), CLASSES = 10 };

/* The next line, in a block of its own, for free; NULL: there is none. */
static char *next_line(const uint8_t **at, size_t *left, size_t *size)
{
	const uint8_t *newline = *left ? memchr(*at, '\n', *left) : NULL;
	char *line;

	if (!*left)
		return NULL;
	*size = newline ? (size_t)(newline - *at) : *left;
	line = malloc(*size + !*size);
	fuzz_check(line);
	memcpy(line, *at, *size);
	*at += *size + (newline != NULL);
	*left -= *size + (newline != NULL);
	return line;
}

static struct schema *first_lines(struct live_table *table, const uint8_t *at, size_t left)
{
	const struct schema_sizes sizes = schema_sizes(table->options);
	struct live_first first = {.sizes = &sizes, .table = table};
	size_t size;

	for (char *line; !first.schema && (line = next_line(&at, &left, &size)); free(line)) {
		struct err err = {0};

		if (size && live_first_table(&first, line, size, &err))
			fuzz_check(err.code < 0 && *err.message && !first.schema);
	}
	fuzz_check(!first.schema || schema_floats(first.schema));
	if (first.schema && schema_floats(first.schema) > FUZZ_FLOATS) {
		schema_free(first.schema);
		return NULL;
	}
	return first.schema;
}

/* What a table and its schema know, in words: of a few of them at a time. */
static void know(const struct live_line_shape *shape, struct text *words)
{
	struct jwriter json = {.out = words};
	const struct live_table *table = shape->table;

	words->size = 0;
	schema_write(shape->schema, schema_floats(shape->schema), &json, NULL);
	text_addf(words, " %d %d %d ", table->id, table->plan.count, table->plan.label);
	for (int i = 0; i < table->plan.count; i++)
		text_addf(words, "%s=%d ", table->plan.columns[i].name, table->columns[i]);
	fuzz_check(!words->failed);
}

/* Another schema, as a later process reads it, makes the same input of a line that was learned. */
static void read_again(const struct live_line_shape *shape, const struct schema_sizes *sizes,
	const char *bytes, size_t size, const float *input)
{
	static struct text words;
	struct jwriter json = {.out = &words};
	struct live_line_shape later = *shape;
	float *again = malloc(shape->floats * sizeof(*again));
	struct event line;
	struct err err = {0};

	words.size = 0;
	schema_write(shape->schema, schema_floats(shape->schema), &json, NULL);
	fuzz_check(again && !words.failed);
	fuzz_check(!schema_parse(&later.schema, sizes, words.data, words.size, "later", &err));
	/* The first row below a heading brings its columns: a row of their names is one from then on. */
	if (live_line_table(bytes, size, "line 1", &later, &line, again, &err))
		fuzz_check(strstr(err.message, "heading"));
	else if (line.has_input)
		fuzz_check(!memcmp(input, again, shape->floats * sizeof(*again)));
	schema_free(later.schema);
	free(again);
}

static void read_line(
	const struct live_line_shape *shape, const char *bytes, size_t size, bool closely)
{
	static struct text before, after;
	const struct schema_sizes sizes = schema_sizes(shape->table->options);
	float *input = fuzz_floats(shape->floats);
	struct event line;
	struct err err = {0};
	int code;

	if (closely)
		know(shape, &before);
	code = live_line_table(bytes, size, "line 1", shape, &line, input, &err);
	fuzz_check(memchr(line.id, '\0', sizeof(line.id)));
	fuzz_check(memchr(line.name, '\0', sizeof(line.name)));
	fuzz_check(!code || (code < 0 && *err.message));
	if (!code) {
		/* A heading says nothing. */
		fuzz_check(!*line.id == !(line.has_input || line.has_label));
		for (size_t i = 0; i < shape->floats && line.has_input; i++)
			fuzz_check(!isinf(input[i]));
		fuzz_check(!line.has_label || *line.name);
		if (line.has_input && closely)
			read_again(shape, &sizes, bytes, size, input);
	} else if (closely) {
		know(shape, &after);
		fuzz_check(!strcmp(before.data, after.data));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct live_table table;
	struct schema *schema;
	const uint8_t *at = data + 1;
	size_t left = size - 1, length;
	int n = 0;

	if (!size)
		return 0;
	fuzz_begin(data, size);
	live_table_init(&table, fuzz_records_keys(settings, SETTINGS, data[0])->strict);
	schema = first_lines(&table, at, left);
	if (schema) {
		const struct live_line_shape shape = {.floats = schema_floats(schema),
			.classes = CLASSES,
			.grows = true,
			.missing = true,
			.schema = schema,
			.table = &table};

		for (char *line; (line = next_line(&at, &left, &length)); free(line))
			if (length)
				read_line(&shape, line, length, fuzz_due(n++, 8));
	}
	schema_free(schema);
	live_table_release(&table);
	return 0;
}
