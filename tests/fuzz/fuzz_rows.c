/*
 * Rows of a table as the lines of a live stream. The first byte says with which keys; the first
 * lines say what inputs are, then all are read once more, with what those before them left.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fuzz.h"
#include "live/live_table.h"

static const char *const settings[][FUZZ_SETTINGS] = {
	{NULL},
	{"table.label=1", "table.header=no", NULL},
	{"table.header=yes", "table.time=1", "schema.slots=2", NULL},
	{"table.ignore=1", "table.categorical=2", "table.text=3", NULL},
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
	return first.schema;
}

static void read_line(const struct live_line_shape *shape, const char *bytes, size_t size)
{
	float *input = malloc(shape->floats * sizeof(*input));
	struct event line;
	struct err err = {0};
	int code;

	fuzz_check(input);
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
	}
	free(input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct live_table table;
	struct schema *schema;
	const uint8_t *at = data + 1;
	size_t left = size - 1, length;

	if (!size)
		return 0;
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
				read_line(&shape, line, length);
	}
	schema_free(schema);
	live_table_release(&table);
	return 0;
}
