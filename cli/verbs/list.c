/* `retain methods`, `retain list` and `retain config`: what there is to choose from. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/json_write.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/settings.h"
#include "config/app_config.h"
#include "inspect/catalog.h"

static void print_catalog(const struct catalog *catalog)
{
	struct text words = {0};
	const char *name, *help;
	int width = 0;

	for (int i = 0; catalog->row(i, &name, &help); i++)
		if (*help && (int)strlen(name) > width)
			width = (int)strlen(name);
	for (int i = 0; catalog->row(i, &name, &help); i++) {
		text_addf(&words, *help ? "  %-*s  " : "  %-*s", width, name);
		text_add_wrapped(&words, help, width + 4, width + 4);
	}
	print_words(stdout, &words, NULL);
}

/* A list of {"name", "help"}. */
static void add_catalog(struct jwriter *json, const char *key, const struct catalog *catalog)
{
	const char *name, *help;

	jwriter_list(json, key);
	jwriter_lines(json);
	for (int i = 0; catalog->row(i, &name, &help); i++) {
		jwriter_table(json, NULL);
		jwriter_text(json, "name", name);
		jwriter_text(json, "help", help);
		jwriter_end(json);
	}
	jwriter_end(json);
}

/* One table of all catalogs, or of the first only. */
static int print_catalogs_json(bool all)
{
	struct text words = {0};
	struct jwriter json = {.out = &words};
	struct err err = {0};

	jwriter_table(&json, NULL);
	jwriter_lines(&json);
	for (const struct catalog *catalog = catalogs; catalog->title; catalog++)
		if (all || catalog == catalogs)
			add_catalog(&json, catalog->key, catalog);
	return print_json_line(stdout, &json, &err) ? complain(EXIT_FAILED, "%s", err.message)
						    : EXIT_OK;
}

/* Every key: what it is by default, and what it may be. */
static int print_config_json(const struct options *options, const char *section, struct err *err)
{
	static const char *const types[] = {[OPTION_BOOL] = "bool",
		[OPTION_INT] = "int",
		[OPTION_INT64] = "int",
		[OPTION_FLOAT] = "float",
		[OPTION_TEXT] = "text",
		[OPTION_CHOICE] = "choice"};
	struct text words = {0};
	struct jwriter json = {.out = &words};
	const struct option_row *row;

	jwriter_list(&json, NULL);
	jwriter_lines(&json);
	for (size_t i = 0; (row = options_at(options, i)); i++) {
		char key[OPTION_KEY];

		if (section && strcmp(section, row->section))
			continue;
		option_row_key(row, key);
		jwriter_table(&json, NULL);
		jwriter_text(&json, "key", key);
		jwriter_text(&json, "default", options_value(options, key));
		jwriter_text(&json, "type", types[row->type]);
		jwriter_text(&json, "allowed", row->allowed);
		jwriter_text(&json, "help", row->help);
		jwriter_end(&json);
	}
	return print_json_line(stdout, &json, err);
}

int cmd_methods(int argc, char **argv)
{
	bool as_json = false;
	const struct arg rows[] = {{"json", NULL, "as JSON", .flag = &as_json}, {0}};
	const struct args args = {"retain methods", "",
		"Lists the bundles of keys that run.method and --method name.", rows,
		.example = "retain methods --json"};
	const int status = args_read(&args, &argc, argv);

	if (status != ARGS_GO_ON)
		return status;
	if (as_json)
		return print_catalogs_json(false);
	print_catalog(&catalogs[0]);
	return EXIT_OK;
}

int cmd_list(int argc, char **argv)
{
	bool as_json = false;
	const struct arg rows[] = {{"json", NULL, "as JSON", .flag = &as_json}, {0}};
	const struct args args = {"retain list", "",
		"Lists every strategy with a line on what it is.", rows, .example = "retain list"};
	const int status = args_read(&args, &argc, argv);

	if (status != ARGS_GO_ON)
		return status;
	if (as_json)
		return print_catalogs_json(true);
	for (const struct catalog *catalog = catalogs; catalog->title; catalog++) {
		printf("%s%s (%s)\n", catalog == catalogs ? "" : "\n", catalog->title,
			catalog->key);
		print_catalog(catalog);
	}
	return EXIT_OK;
}

int cmd_config(int argc, char **argv)
{
	bool as_json = false;
	const struct arg rows[] = {{"json", NULL, "as JSON", .flag = &as_json}, {0}};
	const struct args args = {"retain config", "[SECTION]",
		"Shows every key, or those of a section: default, range and meaning.", rows,
		.example = "retain config schedule"};
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
	if (!code && as_json)
		code = print_config_json(options, argv[1], &err);
	else if (!code)
		code = print_words(stdout, &words, &err);
	text_release(&words);
	return settings_leave(options, code, &err);
}
