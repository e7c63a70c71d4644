/* `retain methods`, `retain list` and `retain config`: what there is to choose from. */
#include <stdio.h>
#include <string.h>

#include "inspect/catalog.h"
#include "config/app_config.h"
#include "args.h"
#include "cli.h"
#include "settings.h"

static void print_catalog(const struct catalog *catalog)
{
	const char *name, *help;
	int width = 0;

	for (int i = 0; catalog->row(i, &name, &help); i++)
		if (*help && (int)strlen(name) > width)
			width = (int)strlen(name);
	for (int i = 0; catalog->row(i, &name, &help); i++)
		printf(*help ? "  %-*s  %s\n" : "  %-*s%s\n", width, name, help);
}

int cmd_methods(int argc, char **argv)
{
	const struct arg rows[] = {{0}};
	const struct args args = {"retain methods", "",
		"Lists the bundles of keys that run.method and --method name.", rows};
	const int status = args_read(&args, &argc, argv);

	if (status != ARGS_GO_ON)
		return status;
	print_catalog(&catalogs[0]);
	return EXIT_OK;
}

int cmd_list(int argc, char **argv)
{
	const struct arg rows[] = {{0}};
	const struct args args = {
		"retain list", "", "Lists every strategy with a line on what it is.", rows};
	const int status = args_read(&args, &argc, argv);

	if (status != ARGS_GO_ON)
		return status;
	for (const struct catalog *catalog = catalogs; catalog->title; catalog++) {
		printf("%s%s (%s)\n", catalog == catalogs ? "" : "\n", catalog->title,
			catalog->key);
		print_catalog(catalog);
	}
	return EXIT_OK;
}

int cmd_config(int argc, char **argv)
{
	const struct arg rows[] = {{0}};
	const struct args args = {"retain config", "[SECTION]",
		"Shows every key, or those of a section: default, range and meaning.", rows};
	const int status = args_read(&args, &argc, argv);
	struct options *options = NULL;
	struct text words = {0};
	struct err err = {0};
	int code;

	if (status != ARGS_GO_ON)
		return status;
	if (argc > 2)
		return complain(EXIT_USAGE, "%s: one SECTION is enough", argv[2]);
	code = config_defaults(&options, &app_scope, &err);
	if (!code)
		code = options_help(options, argv[1], &words, &err);
	if (!code)
		code = print_words(stdout, &words, &err);
	text_release(&words);
	return settings_leave(options, code, &err);
}
