/*
 * Layers of settings. The file and the settings are kept as they came and
 * replayed on fresh options when a run asks for them, bundles first.
 */
#include "run/config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "streams/order.h"
#include "records/records.h"
#include "streams/source.h"
#include "streams/source_records.h"
#include "streams/view.h"
#include "learn/learner.h"
#include "optim/average.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"
#include "replay/objective.h"
#include "replay/pool.h"
#include "live/live.h"
#include "base/nearest.h"
#include "api/program.h"
#include "run/shape.h"

static const struct option_row run_options[] = {
	{"stream", "preset", OPTION_TEXT, "small", NULL,
		"length of a built-in stream and what fits it: small, std, long or paper for "
		"drift, "
		"photos-small or photos-std for photos"},
	{"run", "method", OPTION_TEXT, "ama+malr", NULL, "bundle of settings: see retain methods"},
	{"run", "form", OPTION_CHOICE, "online", "online | supervised",
		"online: samples come with time; supervised: all are there from the start"},
	{"run", "iterations", OPTION_INT, "8", "[1, inf)", "training iterations per time step"},
	{"run", "every", OPTION_INT, "1", "[1, inf)",
		"train only after every so many time steps, for budgets below one iteration a "
		"step"},
	{"run", "step_epochs", OPTION_FLOAT, "0", "[0, inf)",
		"training per time step in passes over its samples, instead of run.iterations; 0: "
		"off"},
	{"run", "budget", OPTION_FLOAT, "0", "[0, 1e9]",
		"instead: as many as so many iterations of plain SGD cost; 0: run.iterations"},
	{"run", "epochs", OPTION_FLOAT, "10", "(0, inf)",
		"supervised: passes over the training samples"},
	{"run", "stop_after", OPTION_FLOAT, "1", "(0, 1]", "the share of the stream to learn from"},
	{"run", "checkpoint_every", OPTION_TEXT, "10m", NULL,
		"save the whole state so often: 90s, 10m, 2h, 500 steps, or never",
		OPTION_MAY_CHANGE},
	{"run", "on_nan", OPTION_CHOICE, "stop", "stop | rollback",
		"when the loss is no number: stop, or go back to the last checkpoint at half the "
		"rate",
		OPTION_MAY_CHANGE},
	{"eval", "count", OPTION_INT, "20", "[1, 100000]", "evaluations, evenly over the run"},
	{"eval", "every", OPTION_INT64, "100", "[1, inf)",
		"live: a row of metrics every so many time steps"},
	{"eval", "bins", OPTION_INT, "40", "[1, 10000]", "time bins of the evaluation data"},
	{"eval", "ft_from", OPTION_FLOAT, "0.1", "[0, 1]",
		"forward transfer: from so far ahead, as a share of the stream"},
	{"eval", "ft_to", OPTION_FLOAT, "0.25", "(0, 1]", "... to so far ahead"},
	{"eval", "blind_window", OPTION_INT, "32", "[1, inf)",
		"labels that the blind baseline remembers"},
	{0},
};

/* Sources come last: their number is the table's. */
enum { OWN_TABLES = 13, SOURCES_MAX = 64 };

static int make_options(struct options **options, struct err *err)
{
	const struct option_row *tables[OWN_TABLES + 2 * SOURCES_MAX + 1] = {source_options,
		order_options, source_records_options, view_options, live_options, run_options,
		shape_options, learner_options, pool_options, objective_options, optimizer_options,
		average_options, schedule_options};
	int count = OWN_TABLES;

	for (int i = 0; source_types[i] && i < SOURCES_MAX; i++)
		if (source_types[i]->options)
			tables[count++] = source_types[i]->options;
	for (int i = 0; records_types[i] && i < SOURCES_MAX; i++)
		if (records_types[i]->options)
			tables[count++] = records_types[i]->options;
	return options_new(options, tables, err);
}

int config_defaults(struct options **options, struct err *err)
{
	return make_options(options, err);
}

enum { LAYERS = 2 };

struct config {
	char *path; /* of the file; NULL: none */
	char **settings;
	int count;
	const char *origin;            /* what messages call the settings */
	struct options *layer[LAYERS]; /* what the file and the settings say, each on defaults */
};

int config_new(struct config **config, struct err *err)
{
	struct config *made = mem_new(1, sizeof(*made));
	int code = 0;

	*config = NULL;
	if (!made)
		return err_memory(err, "a config", sizeof(*made));
	made->origin = "--set";
	for (int i = 0; i < LAYERS && !code; i++)
		code = make_options(&made->layer[i], err);
	if (code)
		config_free(made);
	else
		*config = made;
	return code;
}

void config_origin(struct config *config, const char *origin)
{
	config->origin = origin;
}

void config_free(struct config *config)
{
	if (!config)
		return;
	for (int i = 0; i < LAYERS; i++)
		options_free(config->layer[i]);
	for (int i = 0; i < config->count; i++)
		mem_free(config->settings[i]);
	mem_free(config->settings);
	mem_free(config->path);
	mem_free(config);
}

static const struct bundle *find_bundle(
	const struct bundle *table, const struct options *options, const char *key, struct err *err)
{
	const char *name = options_text(options, key);
	const char *nearest = nearest_name(name, &table->name, sizeof(*table));

	for (const struct bundle *row = table; row->name; row++)
		if (!strcmp(row->name, name))
			return row;
	err_set(err, ERR_INPUT, "%s: %s = %s: no such %s%s%s%s", options_source(options, key), key,
		name, strchr(key, '.') + 1, nearest ? "; did you mean " : "",
		nearest ? nearest : "", nearest ? "?" : "; see retain list");
	return NULL;
}

/*
 * A word by itself names a source, or a file that is there; with a colon, dot or
 * slash in it, it may be a path, which is looked for when the run opens it.
 */
static int check_source(const struct options *layer, struct err *err)
{
	const char *name = options_text(layer, "stream.source");
	const char *names[SOURCES_MAX + 3] = {LIVE_SOURCE, PROGRAM_SOURCE}, *nearest;

	for (int i = 0; source_types[i] && i < SOURCES_MAX; i++)
		names[i + 2] = source_types[i]->name;
	for (int i = 0; names[i]; i++)
		if (!strcmp(names[i], name))
			return 0;
	if (strpbrk(name, ":./") || !access(name, F_OK))
		return 0;
	nearest = nearest_name(name, names, sizeof(*names));
	return err_set(err, ERR_INPUT, "%s: stream.source = %s: no such source%s%s%s",
		options_source(layer, "stream.source"), name, nearest ? "; did you mean " : "",
		nearest ? nearest : "", nearest ? "?" : "; see retain list");
}

/* The bundles that a layer names must exist, and be known before any work starts. */
static int check_layer(const struct options *layer, struct err *err)
{
	if (!find_bundle(presets, layer, "stream.preset", err) ||
		!find_bundle(methods, layer, "run.method", err))
		return ERR_INPUT;
	return check_source(layer, err);
}

int config_load(struct config *config, const char *path, struct err *err)
{
	struct options *layer = NULL;
	char *copy = mem_text(path);
	int code = copy ? make_options(&layer, err) : err_memory(err, "a path", strlen(path));

	if (!code)
		code = options_read(layer, path, err);
	if (!code)
		code = check_layer(layer, err);
	if (code) {
		options_free(layer);
		mem_free(copy);
		return code;
	}
	options_free(config->layer[0]);
	mem_free(config->path);
	config->layer[0] = layer;
	config->path = copy;
	return 0;
}

/* What the settings say so far, without one that was refused. */
static int rebuild_settings(struct config *config, struct err *err)
{
	struct options *layer = NULL;
	int code = make_options(&layer, err);

	for (int i = 0; i < config->count && !code; i++)
		code = options_assign(layer, config->settings[i], config->origin, err);
	if (code) {
		options_free(layer);
		return code;
	}
	options_free(config->layer[1]);
	config->layer[1] = layer;
	return 0;
}

int config_assign(struct config *config, const char *setting, struct err *err)
{
	const size_t count = (size_t)config->count + 1;
	char **more = mem_resize(config->settings, count, sizeof(*more));
	int code;

	if (!more)
		return err_memory(err, "a setting", count * sizeof(*more));
	config->settings = more;
	more[config->count] = mem_text(setting);
	if (!more[config->count])
		return err_memory(err, "a setting", strlen(setting));
	code = options_assign(config->layer[1], setting, config->origin, err);
	if (!code)
		code = check_layer(config->layer[1], err);
	if (code) {
		mem_free(more[config->count]);
		rebuild_settings(config, NULL);
		return code;
	}
	config->count++;
	return 0;
}

int config_set(struct config *config, const char *key, const char *value, struct err *err)
{
	struct text setting = {0};
	int code;

	text_addf(&setting, "%s=%s", key, value);
	code = setting.failed ? err_memory(err, "a setting", strlen(key) + strlen(value))
			      : config_assign(config, setting.data, err);
	text_release(&setting);
	return code;
}

static bool says(const struct options *layer, const char *key)
{
	return strcmp(options_source(layer, key), OPTIONS_DEFAULT) != 0;
}

static int apply_bundle(struct options *options, const struct bundle *table,
	const struct options *layer, const char *key, struct err *err)
{
	const struct bundle *bundle = find_bundle(table, layer, key, err);
	char source[64];
	int code = 0;

	if (!bundle)
		return ERR_INPUT;
	snprintf(source, sizeof(source), "%s = %s", key, bundle->name);
	for (const char *const *setting = bundle->settings; *setting && !code; setting++)
		code = options_assign(options, *setting, source, err);
	return code;
}

/* The bundles that a layer names and a later one (NULL: there is none) does not replace. */
static int apply_bundles(struct options *options, const struct options *layer,
	const struct options *later, struct err *err)
{
	static const struct {
		const char *key;
		const struct bundle *table;
	} rows[] = {{"stream.preset", presets}, {"run.method", methods}};
	int code = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows) && !code; i++)
		if (says(layer, rows[i].key) && !(later && says(later, rows[i].key)))
			code = apply_bundle(options, rows[i].table, layer, rows[i].key, err);
	return code;
}

/* Nobody has to name the preset that a built-in stream starts from; other sources have none. */
static int apply_defaults(const struct config *config, struct options *options, struct err *err)
{
	static const struct {
		const char *source, *preset;
	} rows[] = {{"drift", "small"}, {"photos", "photos-small"}};
	const char *source = options_text(options, "stream.source");
	int code = 0;

	for (int i = 0; i < LAYERS; i++)
		if (says(config->layer[i], "stream.source"))
			source = options_text(config->layer[i], "stream.source");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows) && !code; i++) {
		if (strcmp(rows[i].source, source))
			continue;
		code = options_set(options, "stream.preset", rows[i].preset, OPTIONS_DEFAULT, err);
		if (!code)
			code = apply_bundle(options, presets, options, "stream.preset", err);
	}
	return code;
}

int config_resolve(const struct config *config, struct options **options, struct err *err)
{
	struct options *made = NULL;
	int code = make_options(&made, err);

	*options = NULL;
	if (!code)
		code = apply_defaults(config, made, err);
	if (!code)
		code = apply_bundles(made, config->layer[0], config->layer[1], err);
	if (!code && config->path)
		code = options_read(made, config->path, err);
	if (!code)
		code = apply_bundles(made, config->layer[1], NULL, err);
	for (int i = 0; i < config->count && !code; i++)
		code = options_assign(made, config->settings[i], config->origin, err);
	if (code)
		options_free(made);
	else
		*options = made;
	return code;
}
