/* One number or three. */
#include "run/shape.h"

#include <stdlib.h>

const struct option_row shape_options[] = {
	{"model", "classes", OPTION_INT, "0", "[0, 1048576]",
		"number of classes; 0: what the source has"},
	{"model", "input", OPTION_TEXT, "", NULL,
		"numbers of a sample, or channels,height,width; empty: what the source has"},
	{0},
};

enum { LARGEST = 1 << 20 };

/* A number after `*at`, which moves past it; 0 if there is none or it cannot be. */
static int read_number(const char **at)
{
	char *end;
	const long number = strtol(*at, &end, 10);

	if (end == *at || number < 1 || number > LARGEST)
		return 0;
	*at = end;
	return (int)number;
}

/* One number, or three with commas between them, and nothing else. */
static int read_input(const char *at, int *channels, int *height, int *width)
{
	int *const rest[] = {height, width};

	*channels = read_number(&at);
	*height = *width = 1;
	if (!*channels || !*at)
		return *channels != 0;
	for (int i = 0; i < 2; i++)
		if (*at++ != ',' || !(*rest[i] = read_number(&at)))
			return 0;
	return !*at;
}

int shape_read(const struct options *options, int *classes, int *channels, int *height, int *width,
	struct err *err)
{
	const char *input = options_text(options, "model.input");

	*classes = options_int(options, "model.classes");
	if (!*classes)
		return err_set(
			err, ERR_INPUT, "model.classes = 0: must be set to the number of classes");
	if (!read_input(input, channels, height, width))
		return err_set(err, ERR_INPUT,
			"model.input = %s: must be a number, as 32, or channels,height,width, as "
			"3,32,32, each from 1 to %d",
			input, LARGEST);
	return 0;
}
