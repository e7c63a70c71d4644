/* Lines of a live stream, in every format that there is: the first byte is the format's. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "live/live_line.h"

enum { FLOATS = 4, CLASSES = 10 };

static void read_line(const struct live_line_format *format, const char *bytes, size_t size)
{
	static const struct live_line_shape shape = {
		.floats = FLOATS, .classes = CLASSES, .grows = true};
	float *input = malloc(FLOATS * sizeof(*input));
	struct err err = {0};
	struct live_line line;
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
			fuzz_check(line.label >= 0 && line.label < CLASSES);
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
	struct live_line lines[2];
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int formats = 0;

	while (live_line_formats[formats].name)
		formats++;
	if (!size)
		return 0;
	read_line(&live_line_formats[data[0] % formats], (const char *)data + 1, size - 1);
	compare((const char *)data + 1, size - 1, data[0] & 2, data[0] & 4);
	return 0;
}
