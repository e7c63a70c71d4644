/*
 * Parses options by their rows. The only state is argv itself: operands are moved to its front
 * while options are removed, so nothing is allocated. Shorthands of --set are written into their
 * list.
 */
#include "args.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words/nearest.h"
#include "cli.h"
#include "config/app_config.h"

static void add_default(struct text *words, const struct arg *row)
{
	if (row->integer)
		text_addf(words, " (default %d)", *row->integer);
	else if (row->real)
		text_addf(words, " (default %g)", *row->real);
	else if (row->text && *row->text)
		text_addf(words, " (default %s)", *row->text);
}

static int option_width(const struct arg *row)
{
	return (int)(strlen(row->name) + (row->value ? strlen(row->value) + 1 : 0));
}

/* One option: its name, its value, and what it does, wrapped beside them. */
static void add_option(struct text *out, const struct arg *row, int width)
{
	struct text help = {0};

	text_addf(out, "  --%s%s%s%*s", row->name, row->value ? " " : "",
		row->value ? row->value : "", width - option_width(row) + 2, "");
	text_add(&help, row->help);
	add_default(&help, row);
	text_add_wrapped(out, help.failed ? "" : help.data, width + 6, width + 6);
	text_release(&help);
}

static void print_help(const struct args *args)
{
	int width = (int)strlen("help");
	struct text words = {0}, usage = {0};

	for (const struct arg *row = args->rows; row->name; row++)
		if (option_width(row) > width)
			width = option_width(row);
	text_addf(&usage, "usage: %s [OPTION...] %s", args->program, args->operands);
	text_add_wrapped(&words, usage.failed ? "" : usage.data, 0, 2);
	text_release(&usage);
	text_add_wrapped(&words, args->about, 0, 0);
	text_add(&words, "\n");
	for (const struct arg *row = args->rows; row->name; row++)
		add_option(&words, row, width);
	text_addf(&words, "  --%-*s  show this text\n", width, "help");
	if (args->example)
		text_addf(&words, "\nExample: %s\n", args->example);
	print_words(stdout, &words, NULL);
}

static void list_options(const struct args *args)
{
	for (const struct arg *row = args->rows; row->name; row++)
		printf("--%s\n", row->name);
	puts("--help");
}

static const struct arg *row_find(const struct args *args, const char *name, size_t length)
{
	for (const struct arg *row = args->rows; row->name; row++)
		if (strlen(row->name) == length && !strncmp(row->name, name, length))
			return row;
	return NULL;
}

/* The key of a config whose last word is that, or means that elsewhere; false: none. */
static bool find_key(const char *word, char key[OPTION_KEY])
{
	struct options *options;
	const struct option_row *row;
	struct err err = {0};

	if (app_config_make(&options, NULL, NULL, NULL, 0, &err))
		return false;
	for (size_t i = 0; (row = options_at(options, i)) && strcmp(row->name, word); i++)
		;
	if (!row)
		row = options_synonym(options, word);
	if (row)
		option_row_key(row, key);
	options_free(options);
	return row;
}

static int unknown_option(const struct args *args, const char *name, size_t length)
{
	const char *keys =
		row_find(args, "set", 3) ? ". Keys of a config go by --set KEY=VALUE" : "";
	char typed[64], key[OPTION_KEY];
	const char *nearest;

	snprintf(typed, sizeof(typed), "%.*s", (int)length, name);
	if (*keys && find_key(typed, key))
		return complain(EXIT_USAGE, "--%s: no such option; did you mean --set %s=VALUE?",
			typed, key);
	nearest = nearest_name(typed, &args->rows->name, sizeof(*args->rows));
	if (!nearest)
		return complain(EXIT_USAGE, "--%s: no such option; see %s --help%s", typed,
			args->program, keys);
	return complain(EXIT_USAGE, "--%s: no such option; did you mean --%s?%s", typed, nearest,
		*keys ? keys + 1 : keys);
}

static int read_number(const struct arg *row, const char *value)
{
	char *end;
	double number;

	number = strtod(value, &end);
	if (end == value || *end || !isfinite(number))
		return complain(EXIT_USAGE, "--%s %s: not a number", row->name, value);
	if (row->integer && (number != rint(number) || number < INT_MIN || number > INT_MAX))
		return complain(EXIT_USAGE, "--%s %s: not a whole number", row->name, value);
	if ((row->least != 0 || row->most != 0) && number < row->least)
		return complain(
			EXIT_USAGE, "--%s %s: must be at least %g", row->name, value, row->least);
	if (row->most > row->least && number > row->most)
		return complain(
			EXIT_USAGE, "--%s %s: must be at most %g", row->name, value, row->most);
	if (row->integer)
		*row->integer = (int)number;
	else
		*row->real = number;
	return ARGS_GO_ON;
}

static int add_to_list(const struct arg *row, const char *value)
{
	if (row->list->count == ARGS_LIST)
		return complain(
			EXIT_USAGE, "--%s %s: at most %d times", row->name, value, ARGS_LIST);
	if (row->key) {
		struct arg_list *list = row->list;
		char *at = list->room + list->used;
		const int size = snprintf(at, ARGS_ROOM - list->used, "%s=%s", row->key, value);

		if ((size_t)size >= ARGS_ROOM - list->used)
			return complain(EXIT_USAGE, "--%s %.60s...: is too long", row->name, value);
		list->used += (size_t)size + 1;
		value = at;
	}
	row->list->items[row->list->count++] = value;
	return ARGS_GO_ON;
}

static int read_value(const struct arg *row, const char *value)
{
	if (row->list)
		return add_to_list(row, value);
	if (row->text) {
		*row->text = value;
		return ARGS_GO_ON;
	}
	return read_number(row, value);
}

/* Reads the option in argv[*at], and its value, which may be the next word. */
static int read_option(const struct args *args, int argc, char **argv, int *at)
{
	const char *name = argv[*at] + 2;
	size_t length = strcspn(name, "=");
	const char *value = name[length] ? name + length + 1 : NULL;
	const struct arg *row = row_find(args, name, length);

	if (!row)
		return unknown_option(args, name, length);
	if (row->flag) {
		if (value)
			return complain(EXIT_USAGE, "--%s takes no value", row->name);
		*row->flag = true;
		return ARGS_GO_ON;
	}
	if (!value && *at + 1 < argc)
		value = argv[++*at];
	if (!value)
		return complain(EXIT_USAGE, "--%s needs a value: --%s %s", row->name, row->name,
			row->value);
	return read_value(row, value);
}

/* The short options that there are stand for long ones. */
static char *long_form(const struct args *args, char *word)
{
	static char quiet[] = "--quiet", help[] = "--help";

	if (!strcmp(word, "-q") && row_find(args, "quiet", 5))
		return quiet;
	return strcmp(word, "-h") ? word : help;
}

int args_read(const struct args *args, int *argc, char **argv)
{
	int kept = 1;
	bool options = true;

	for (int at = 1; at < *argc; at++) {
		char *word = options ? argv[at] = long_form(args, argv[at]) : argv[at];

		if (!options || word[0] != '-' || !word[1]) {
			argv[kept++] = word;
		} else if (!strcmp(word, "--")) {
			options = false;
		} else if (!strcmp(word, "--help")) {
			print_help(args);
			return EXIT_OK;
		} else if (!strcmp(word, "--list-options")) {
			list_options(args);
			return EXIT_OK;
		} else if (word[1] != '-') {
			return complain(EXIT_USAGE, "%s: no such option; see %s --help", word,
				args->program);
		} else {
			int status = read_option(args, *argc, argv, &at);
			if (status != ARGS_GO_ON)
				return status;
		}
	}
	if (kept > 1 && !*args->operands)
		return complain(
			EXIT_USAGE, "%s: not understood; see %s --help", argv[1], args->program);
	argv[kept] = NULL;
	*argc = kept;
	return ARGS_GO_ON;
}
