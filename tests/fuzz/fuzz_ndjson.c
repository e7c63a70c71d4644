/*
 * Lines of a live stream as NDJSON and CSV: the first byte is the format's (rows of a table have a
 * target of their own). All of the rest is one line; then its lines are the first of a stream,
 * which says what inputs are.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fuzz.h"
#include "live/live_line.h"
#include "schema/schema.h"

enum { FLOATS = 4, CLASSES = 10, FORMATS = 2 };

static void read_line(const struct live_line_format *format, const char *bytes, size_t size)
{
	static const struct live_line_shape shape = {
		.floats = FLOATS, .classes = CLASSES, .grows = true};
	float *input = malloc(FLOATS * sizeof(*input));
	struct err err = {0};
	struct event line;
	int code;

	fuzz_check(input);
	code = format->read(bytes, size, "line 1", &shape, &line, input, &err);
	fuzz_check(memchr(line.id, '\0', sizeof(line.id)));
	fuzz_check(memchr(line.name, '\0', sizeof(line.name)));
	if (code)
		fuzz_check(code < 0 && *err.message);
	if (!code) {
		/* A heading says nothing. */
		fuzz_check(!*line.id == !(line.has_input || line.has_label));
		for (int i = 0; i < FLOATS && line.has_input; i++)
			fuzz_check(isfinite(input[i]));
		if (line.has_label)
			fuzz_check(line.label->class >= 0 && line.label->class < CLASSES);
	}
	free(input);
}

/* The quick reader of NDJSON knows nothing that the reader of all JSON does not say, too. */
static void compare(const char *bytes, size_t size, bool anonymous, bool missing)
{
	const struct live_line_shape shape = {.floats = FLOATS,
		.classes = CLASSES,
		.grows = true,
		.anonymous = anonymous,
		.missing = missing};
	float *inputs = calloc(2 * FLOATS, sizeof(*inputs));
	struct event lines[2];
	struct err err = {0};

	fuzz_check(inputs);
	if (live_line_quick(bytes, size, &shape, &lines[0], inputs)) {
		fuzz_check(!live_line_json(
			bytes, size, "line 1", &shape, &lines[1], inputs + FLOATS, &err));
		fuzz_check(!memcmp(&lines[0], &lines[1], sizeof(lines[0])));
		fuzz_check(!memcmp(inputs, inputs + FLOATS, FLOATS * sizeof(*inputs)));
	}
	free(inputs);
}

/* What the first lines say of inputs: all that is found is sound, and an error has a sentence. */
static void first_lines(const struct live_line_format *format, const char *bytes, size_t size)
{
	static const struct schema_sizes sizes = {.slots = 3, .words = 8, .spare = 2};
	struct live_first first = {.sizes = &sizes};

	while (size && !first.schema && !first.floats) {
		const char *newline = memchr(bytes, '\n', size);
		const size_t length = newline ? (size_t)(newline - bytes) : size;
		char *line = malloc(length + !length);
		struct err err = {0};

		fuzz_check(line);
		memcpy(line, bytes, length);
		if (format->first(&first, line, length, &err))
			fuzz_check(err.code < 0 && *err.message && !first.schema && !first.floats);
		free(line);
		bytes += length + (newline != NULL);
		size -= length + (newline != NULL);
	}
	fuzz_check(!first.schema || schema_floats(first.schema));
	fuzz_check(!first.schema || !first.floats);
	schema_free(first.schema);
	mem_free(first.heading);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	read_line(&live_line_formats[data[0] % FORMATS], (const char *)data + 1, size - 1);
	compare((const char *)data + 1, size - 1, data[0] & 2, data[0] & 4);
	first_lines(&live_line_formats[data[0] % FORMATS], (const char *)data + 1, size - 1);
	return 0;
}
