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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int formats = 0;

	while (live_line_formats[formats].name)
		formats++;
	if (size)
		read_line(&live_line_formats[data[0] % formats], (const char *)data + 1, size - 1);
	return 0;
}
