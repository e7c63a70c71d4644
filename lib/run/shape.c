/* One number or three. */
#include "run/shape.h"

#include <stdio.h>

const struct option_row shape_options[] = {
	{"model", "classes", OPTION_INT, "0", "[0, 1048576]",
		"number of classes; 0: what the source has"},
	{"model", "input", OPTION_TEXT, "", NULL,
		"numbers of a sample, or channels,height,width; empty: what the source has"},
	{0},
};

enum { LARGEST = 1 << 20 };

int shape_read(const struct options *options, int *classes, int *channels, int *height, int *width,
	struct err *err)
{
	const char *input = options_text(options, "model.input");
	int end = 0;

	*classes = options_int(options, "model.classes");
	*height = *width = 1;
	if (!*classes)
		return err_set(err, ERR_INPUT, "model.classes = 0: must be set to the number of classes");
	if (sscanf(input, "%d%n,%d,%d%n", channels, &end, height, width, &end) < 1 || input[end])
		return err_set(err, ERR_INPUT,
			"model.input = %s: must be a number, as 32, or channels,height,width, as "
			"3,32,32",
			input);
	if (*channels < 1 || *height < 1 || *width < 1 || *channels > LARGEST ||
		*height > LARGEST || *width > LARGEST)
		return err_set(err, ERR_INPUT, "model.input = %s: each must be 1 to %d", input, LARGEST);
	return 0;
}
