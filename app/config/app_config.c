/* All tables of keys that the application adds, and what its keys say about each other. */
#include "config/app_config.h"

#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "live/live.h"
#include "records/records.h"
#include "stored/stored.h"
#include "streams/order.h"
#include "streams/source.h"
#include "streams/source_records.h"
#include "streams/view.h"

static const struct option_row preset_options[] = {
	{"stream", "preset", OPTION_TEXT, "small", NULL,
		"length of a built-in stream and what fits it: small, std, long or paper for "
		"drift, "
		"photos-small or photos-std for photos"},
	{0},
};

/* Kinds of sources and of records bring keys of their own. */
static int app_tables(const struct option_row *tables[CONFIG_TABLES])
{
	static const struct option_row *const own[] = {source_options, order_options,
		source_records_options, view_options, live_options, preset_options, stored_options};
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
			return 0;
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

const struct config_scope app_scope = {
	.tables = app_tables,
	.bundles = (const struct config_bundles[]){{"stream.preset", presets}, {0}},
	.defaults = (const struct config_default[]){{"stream.source", "drift", "stream.preset",
							    "small"},
		{"stream.source", "photos", "stream.preset", "photos-small"}, {0}},
	.check = check_source,
};
