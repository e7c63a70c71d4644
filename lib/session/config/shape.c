/* Parses model.classes (a number or a word) and model.input (one number, three or a word). */
#include "session/config/shape.h"

#include <stdlib.h>
#include <string.h>

const struct option_row shape_options[] = {
	{"model", "classes", OPTION_TEXT, "auto", NULL,
		"number of classes; auto is what the source has, or those seen so far",
		.formerly = "0"},
	{"model", "classes_most", OPTION_INT, "10000", "[1, 1048576]",
		"with classes = auto, the most classes that may appear", OPTION_MAY_CHANGE},
	{"model", "input", OPTION_TEXT, "auto", NULL,
		"size of an input: a number, or channels,height,width; auto is that of the first "
		"sample",
		.formerly = ""},
	{0},
};

enum { LARGEST = 1 << 20 };

static bool is_auto(const char *words)
{
	return !strcmp(words, "auto");
}

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
static bool read_input(const char *at, struct learner_config *config)
{
	int *const rest[] = {&config->height, &config->width};

	config->channels = read_number(&at);
	config->height = config->width = 1;
	if (!config->channels || !*at)
		return config->channels != 0;
	for (int i = 0; i < 2; i++)
		if (*at++ != ',' || !(*rest[i] = read_number(&at)))
			return false;
	return !*at;
}

int shape_read(const struct options *options, struct learner_config *config, struct err *err)
{
	const char *classes = options_text(options, "model.classes"), *at = classes;
	const char *input = options_text(options, "model.input");

	*config = (struct learner_config){.height = 1, .width = 1};
	if (target_outputs(options))
		config->classes = target_outputs(options);
	else if (is_auto(classes))
		config->classes_most = options_int(options, "model.classes_most");
	else if (!(config->classes = read_number(&at)) || *at)
		return err_set(err, ERR_INPUT,
			"model.classes = %s: must be a whole number from 1 to %d, or auto", classes,
			LARGEST);
	if (!is_auto(input) && !read_input(input, config))
		return err_set(err, ERR_INPUT,
			"model.input = %s: must be a number, as 32, or channels,height,width, as "
			"3,32,32, each from 1 to %d, or auto",
			input, LARGEST);
	return 0;
}
