/* The application's tables of keys, and checks of keys against each other. */
#include "config/app_config.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/words/ini_read.h"
#include "base/words/nearest.h"
#include "base/paths.h"
#include "config/app_defaults.h"
#include "config/traits.h"
#include "live/live.h"
#include "records/records.h"
#include "serve/serve.h"
#include "stored/stored.h"
#include "streams/order.h"
#include "streams/source.h"
#include "streams/source_records.h"
#include "streams/view.h"
#include "streams/wander.h"

static const struct option_row preset_options[] = {
	{"stream", "preset", OPTION_TEXT, "small", NULL,
		"length of a built-in stream, with settings that fit: small, std, long or paper "
		"for drift; photos-small or photos-std for photos"},
	{0},
};

/* Keys of kinds that are gone (records.c). */
static const struct option_row gone_options[] = {
	{"cloc", "images", OPTION_TEXT, "", NULL, "pyretain.convert has --images", OPTION_RETIRED},
	{"cldatasets", "images", OPTION_TEXT, "", NULL, "pyretain.convert has --images",
		OPTION_RETIRED},
	{0},
};

/* Kinds of sources and of records bring keys of their own. */
static int app_tables(const struct option_row *tables[CONFIG_TABLES])
{
	static const struct option_row *const own[] = {source_options, order_options,
		source_records_options, view_options, wander_options, live_options, serve_options,
		preset_options, stored_options, gone_options};
	int count = 0;

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		tables[count++] = own[i];
	for (int i = 0; source_types[i] && count < CONFIG_TABLES; i++)
		if (source_types[i]->options)
			tables[count++] = source_types[i]->options;
	for (int i = 0; records_types[i] && count < CONFIG_TABLES; i++)
		if (records_types[i]->options)
			tables[count++] = records_types[i]->options;
	return count;
}

enum { NAMES_MOST = 16 };

/* A folder of the same name was probably meant, where somebody says so by hand. */
static int check_shadow(const struct options *layer, const char *name, struct err *err)
{
	struct stat found;

	if (options_origin(layer, "stream.source") != ORIGIN_CALL || stat(name, &found) ||
		!S_ISDIR(found.st_mode))
		return 0;
	for (const struct bundle *row = presets; row->name; row++)
		if (!strcmp(traits_source(row->name), name))
			return err_set(err, ERR_INPUT,
				"%s: names a built-in stream, and a folder here, too: ./%s is "
				"the folder, --set stream.preset=%s the stream",
				name, name, row->name);
	return err_set(err, ERR_INPUT,
		"%s: names a built-in stream, and a folder here, too: ./%s is the folder; for "
		"the stream, start retain in another folder",
		name, name);
}

/*
 * A word by itself names a source, or a file that is there; with a colon, dot or
 * slash in it, it may be a path, which is looked for when the run opens it.
 */
static int check_source(const struct options *layer, struct err *err)
{
	const char *name = options_text(layer, "stream.source");
	const char *names[NAMES_MOST + 2] = {SOURCE_LIVE}, *nearest;

	for (int i = 0; source_types[i] && i < NAMES_MOST; i++)
		names[i + 1] = source_types[i]->name;
	for (int i = 0; names[i]; i++)
		if (!strcmp(names[i], name))
			return check_shadow(layer, name, err);
	if (strpbrk(name, ":./") || !access(name, F_OK))
		return 0;
	if (!strcmp(name, "program"))
		return err_set(err, ERR_INPUT,
			"%s: stream.source = program: such a run is made by a program "
			"(retain_learner_open), and goes on with it",
			options_source(layer, "stream.source"));
	nearest = nearest_name(name, names, sizeof(*names));
	return err_set(err, ERR_INPUT, "%s: stream.source = %s: no such source%s%s%s",
		options_source(layer, "stream.source"), name, nearest ? "; did you mean " : "",
		nearest ? nearest : "", nearest ? "?" : "; see retain list");
}

/* The path in KIND:PATH or PATH, where it is a relative one that exists; NULL: it is none. */
static const char *relative_path(const char *source)
{
	const char *colon = strchr(source, ':');

	for (int i = 0; source_types[i]; i++)
		if (!strcmp(source_types[i]->name, source))
			return NULL;
	if (*source != '/' && !access(source, F_OK))
		return source;
	return colon && colon[1] != '/' && !access(colon + 1, F_OK) ? colon + 1 : NULL;
}

static int make_absolute(struct options *options, struct err *err)
{
	const char *source = options_text(options, "stream.source"), *path = relative_path(source);
	char folder[4096];
	struct text whole = {0};
	int code;

	if (!path || !getcwd(folder, sizeof(folder)))
		return 0;
	text_addf(&whole, "%.*s%s/%s", (int)(path - source), source, folder, path);
	code = whole.failed ? err_memory(err, "a path", strlen(source))
			    : options_put(options, "stream.source", whole.data,
				      options_origin(options, "stream.source"),
				      options_source(options, "stream.source"), err);
	text_release(&whole);
	return code;
}

/*
 * config_resolve, with a relative path in stream.source made absolute, so that the run
 * can be resumed from elsewhere; and unset keys, derived from the data.
 */
static int resolve(const struct config *config, struct options **options, struct err *err)
{
	int code = config_resolve(config, options, err);

	if (!code)
		code = make_absolute(*options, err);
	if (!code)
		code = app_defaults(*options, err);
	if (code) {
		options_free(*options);
		*options = NULL;
	}
	return code;
}

const struct config_scope app_scope = {
	.tables = app_tables,
	.place = "--set",
	.bundles = (const struct bundle_key[]){{"stream.preset", ORIGIN_PRESET, presets}, {0}},
	.defaults = (const struct config_default[]){{"stream.source", "drift", "stream.preset",
							    "small"},
		{"stream.source", "photos", "stream.preset", "photos-small"}, {0}},
	.check = check_source,
};

static bool is_called_config(const char *file)
{
	return path_ends(file, ".ini") || path_ends(file, ".cfg") || path_ends(file, ".conf");
}

/* Whether what comes first is the heading of a section with keys. */
static int look_at_first(void *known, const char *section, const char *name, const char *value,
	int line, struct err *err)
{
	const struct option_row *row;
	struct options *options;

	(void)value;
	(void)line;
	if (name || config_defaults(&options, &app_scope, err))
		return ERR_FORMAT;
	for (size_t i = 0; (row = options_at(options, i)); i++)
		*(bool *)known |= !strcmp(row->section, section);
	options_free(options);
	return ERR_FORMAT; /* seen enough */
}

/* Content decides; a name only says what its mistakes are mistakes of. */
static int refuse_other(const char *file, struct err *err)
{
	static const char *const frames[] = {".parquet", ".feather", ".arrow", NULL};
	struct stat about;
	bool known = false;

	if (is_called_config(file) || stat(file, &about) || S_ISDIR(about.st_mode))
		return 0;
	if (S_ISREG(about.st_mode) && !about.st_size)
		return err_set(err, ERR_INPUT, "%s: is empty, neither data nor a config", file);
	if (records_refuse_json(file, err))
		return ERR_INPUT;
	for (const char *const *ending = frames; *ending; ending++)
		if (path_ends(file, *ending))
			return err_set(err, ERR_INPUT,
				"%s: python -m pyretain run %s reads it; the command itself does "
				"not",
				file, file);
	ini_read_file(file, look_at_first, &known, NULL);
	return known || access(file, R_OK)
		       ? 0
		       : err_set(err, ERR_INPUT,
				 "%s: neither a config, which starts with a [section] from retain "
				 "config, nor data that retain can read: a table with columns "
				 "separated by commas, tabs, semicolons or bars, or a kind from "
				 "retain list",
				 file);
}

int app_config_make(struct options **options, const char *file, const struct setting *settings,
	const char *const *words, int count, struct err *err)
{
	struct config *config = NULL;
	int code = config_new(&config, &app_scope, err);

	*options = NULL;
	if (!code && file)
		code = refuse_other(file, err);
	if (!code && file)
		code = config_load(config, file, err);
	for (; settings && settings->key && !code; settings++)
		if (settings->value)
			code = config_set(config, settings->key, settings->value, err);
	for (int i = 0; i < count && !code; i++)
		code = config_assign(config, words[i], err);
	if (!code)
		code = resolve(config, options, err);
	config_free(config);
	return code;
}
