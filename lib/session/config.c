/*
 * Layers of settings. The file and the settings are kept as they came and
 * replayed on fresh options when a run asks for them, bundles first.
 */
#include "session/config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "eval/alarm.h"
#include "learn/parts/fast.h"
#include "learn/learner.h"
#include "learn/losses/loss.h"
#include "optim/average.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"
#include "replay/objective.h"
#include "replay/pool.h"
#include "base/nearest.h"
#include "session/shape.h"
#include "schema/schema.h"

static const struct option_row run_options[] = {
	{"run", "method", OPTION_TEXT, "ama+malr", NULL, "bundle of settings: see retain methods"},
	{"run", "iterations", OPTION_INT, "8", "[1, inf)", "training iterations per time step"},
	{"run", "step_epochs", OPTION_FLOAT, "0", "[0, inf)",
		"training per time step in passes over its samples, instead of run.iterations; 0: "
		"off"},
	{"run", "budget", OPTION_FLOAT, "0", "[0, 1e9]",
		"compute per time step, in iterations of plain SGD; 0: run.iterations decides"},
	{"run", "checkpoint_every", OPTION_TEXT, "10m", NULL,
		"how often to save the whole state: 90s, 10m, 2h, 500 steps, or never",
		OPTION_MAY_CHANGE},
	{"run", "on_nan", OPTION_CHOICE, "stop", "stop | rollback",
		"when the loss is no number: stop, or go back to the last checkpoint at half the "
		"rate",
		OPTION_MAY_CHANGE},
	{"run", "tensorboard", OPTION_TEXT, "", NULL,
		"a folder for TensorBoard: rows of metrics are written there, too; empty: none",
		OPTION_MAY_CHANGE},
	{"eval", "every", OPTION_INT64, "100", "[1, inf)",
		"live: time steps between two rows of metrics"},
	{"eval", "blind_window", OPTION_INT, "32", "[1, inf)",
		"labels that the blind baseline remembers"},
	{0},
};

static const struct option_row *const own_tables[] = {run_options, shape_options, learner_options,
	pool_options, objective_options, optimizer_options, average_options, schedule_options,
	fast_options, loss_options, schema_options, alarm_options};

static const struct config_scope no_scope;

int config_defaults(struct options **options, const struct config_scope *scope, struct err *err)
{
	const size_t own = sizeof(own_tables) / sizeof(*own_tables);
	const struct option_row
		*tables[CONFIG_TABLES + sizeof(own_tables) / sizeof(*own_tables) + 1] = {0};
	int count = scope && scope->tables ? scope->tables(tables) : 0;

	for (size_t i = 0; i < own; i++)
		tables[count++] = own_tables[i];
	return options_new(options, tables, err);
}

enum { LAYERS = 2 };

struct config {
	const struct config_scope *scope;
	char *path; /* of the file; NULL: none */
	bool saved; /* the file is a run's */
	char **settings;
	int count;
	const char *origin;            /* what messages call the settings */
	struct options *layer[LAYERS]; /* what the file and the settings say, each on defaults */
};

int config_new(struct config **config, const struct config_scope *scope, struct err *err)
{
	struct config *made = mem_new(1, sizeof(*made));
	int code = 0;

	*config = NULL;
	if (!made)
		return err_memory(err, "a config", sizeof(*made));
	made->scope = scope ? scope : &no_scope;
	made->origin = "--set";
	for (int i = 0; i < LAYERS && !code; i++)
		code = config_defaults(&made->layer[i], made->scope, err);
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

/*
 * The suffix that stands at *name, which then moves past it, from a row of the table on; or
 * NULL.
 */
static const struct bundle *next_suffix(const struct bundle **row, const char **name)
{
	for (; *row && (*row)->name; ++*row) {
		const size_t size = strlen((*row)->name);

		if (strncmp(*name, (*row)->name, size) != 0)
			continue;
		*name += size;
		return (*row)++;
	}
	return NULL;
}

/* *rest: the suffixes that follow the bundle's own name. */
static const struct bundle *find_bundle(const struct config_bundles *bundles,
	const struct options *options, const char **rest, struct err *err)
{
	const struct bundle *table = bundles->table;
	const char *key = bundles->key, *name = options_text(options, key);
	const char *nearest = nearest_name(name, &table->name, sizeof(*table));

	for (const struct bundle *row = table; row->name; row++) {
		const struct bundle *suffix = bundles->suffixes;
		const size_t size = strlen(row->name);
		const char *end = name + size;

		if (strncmp(row->name, name, size) != 0)
			continue;
		*rest = end;
		while (next_suffix(&suffix, &end))
			;
		if (!*end)
			return row;
	}
	err_set(err, ERR_INPUT, "%s: %s = %s: no such %s%s%s%s", options_source(options, key), key,
		name, strchr(key, '.') + 1, nearest ? "; did you mean " : "",
		nearest ? nearest : "", nearest ? "?" : "; see retain list");
	return NULL;
}

/* The key's table of bundles: the library's, or one of the scope. */
static const struct config_bundles own_bundles[] = {
	{"run.method", methods, method_suffixes},
	{0},
};

/* The bundles that a layer names must exist, and be known before any work starts. */
static int check_layer(const struct config *config, const struct options *layer, struct err *err)
{
	const struct config_bundles *const lists[] = {config->scope->bundles, own_bundles};
	const char *rest;

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		for (const struct config_bundles *row = lists[i]; row && row->key; row++)
			if (!find_bundle(row, layer, &rest, err))
				return ERR_INPUT;
	return config->scope->check ? config->scope->check(layer, err) : 0;
}

static int read_file(struct options *options, const char *path, bool saved, struct err *err)
{
	enum { MOST = 1 << 20 };
	char *words = NULL;
	size_t size;
	int code;

	if (!saved)
		return options_read(options, path, err);
	code = file_read(path, MOST, &words, &size, err);
	if (!code)
		code = options_read_foreign(options, path, words, size, false, err);
	mem_free(words);
	return code;
}

static int load(struct config *config, const char *path, bool saved, struct err *err)
{
	struct options *layer = NULL;
	char *copy = mem_text(path);
	int code = copy ? config_defaults(&layer, config->scope, err)
			: err_memory(err, "a path", strlen(path));

	if (!code)
		code = read_file(layer, path, saved, err);
	if (!code)
		code = check_layer(config, layer, err);
	if (code) {
		options_free(layer);
		mem_free(copy);
		return code;
	}
	options_free(config->layer[0]);
	mem_free(config->path);
	config->layer[0] = layer;
	config->path = copy;
	config->saved = saved;
	return 0;
}

int config_load(struct config *config, const char *path, struct err *err)
{
	return load(config, path, false, err);
}

int config_load_saved(struct config *config, const char *path, struct err *err)
{
	return load(config, path, true, err);
}

/* What the settings say so far, without one that was refused. */
static int rebuild_settings(struct config *config, struct err *err)
{
	struct options *layer = NULL;
	int code = config_defaults(&layer, config->scope, err);

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
		code = check_layer(config, config->layer[1], err);
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

/* Where `keep` is a layer, what it says stays, unless it says so from the same source. */
static int apply_settings(struct options *options, const struct bundle *bundle,
	const struct options *keep, const char *source, struct err *err)
{
	char key[128];
	int code = 0;

	for (const char *const *setting = bundle->settings; *setting && !code; setting++) {
		snprintf(key, sizeof(key), "%.*s", (int)strcspn(*setting, "="), *setting);
		if (!keep || !says(keep, key) || !strcmp(options_source(keep, key), source))
			code = options_assign(options, *setting, source, err);
	}
	return code;
}

static int apply_bundle(struct options *options, const struct config_bundles *bundles,
	const struct options *layer, const struct options *keep, struct err *err)
{
	const char *rest = NULL;
	const struct bundle *bundle = find_bundle(bundles, layer, &rest, err);
	const struct bundle *row = bundles->suffixes, *suffix;
	char source[96];
	int code;

	if (!bundle)
		return ERR_INPUT;
	snprintf(
		source, sizeof(source), "%s = %s", bundles->key, options_text(layer, bundles->key));
	code = apply_settings(options, bundle, keep, source, err);
	while (!code && (suffix = next_suffix(&row, &rest)))
		code = apply_settings(options, suffix, keep, source, err);
	return code;
}

int config_method(struct options *options, const char *method, struct err *err)
{
	const int code = options_set(options, own_bundles->key, method, OPTIONS_DEFAULT, err);

	return code ? code : apply_bundle(options, own_bundles, options, options, err);
}

/* Back to the defaults: the keys of the suffixes of a bundle that a later layer replaces. */
static int drop_suffixes(const struct config_bundles *bundles, struct options *options,
	const struct options *layer, struct err *err)
{
	const struct bundle *row = bundles->suffixes, *suffix;
	const char *rest = NULL;
	char key[128];
	int code = find_bundle(bundles, layer, &rest, err) ? 0 : ERR_INPUT;

	while (!code && (suffix = next_suffix(&row, &rest)))
		for (const char *const *s = suffix->settings; *s && !code; s++) {
			snprintf(key, sizeof(key), "%.*s", (int)strcspn(*s, "="), *s);
			code = options_set(options, key, options_row(options, key)->value,
				OPTIONS_DEFAULT, err);
		}
	return code;
}

/* The bundles that a layer names and a later one (NULL: there is none) does not replace. */
static int apply_bundles(const struct config *config, struct options *options,
	const struct options *layer, const struct options *later, struct err *err)
{
	const struct config_bundles *const lists[] = {config->scope->bundles, own_bundles};
	int code = 0;

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		for (const struct config_bundles *row = lists[i]; row && row->key && !code; row++)
			if (says(layer, row->key) && !(later && says(later, row->key)))
				code = apply_bundle(options, row, layer, NULL, err);
	return code;
}

static const struct config_bundles *bundles_of(const struct config *config, const char *key)
{
	const struct config_bundles *row = config->scope->bundles;

	while (strcmp(row->key, key) != 0)
		row++;
	return row;
}

/* Nobody has to name the bundle that a value brings along. */
static int apply_defaults(const struct config *config, struct options *options, struct err *err)
{
	const struct config_default *row = config->scope->defaults;
	int code = 0;

	for (const char *const *base = config->scope->base; base && *base && !code; base++)
		code = options_assign(options, *base, OPTIONS_DEFAULT, err);
	for (; row && row->key && !code; row++) {
		const char *value = options_text(options, row->key);

		for (int i = 0; i < LAYERS; i++)
			if (says(config->layer[i], row->key))
				value = options_text(config->layer[i], row->key);
		if (strcmp(value, row->value) != 0)
			continue;
		code = options_set(options, row->bundle_key, row->bundle, OPTIONS_DEFAULT, err);
		if (!code)
			code = apply_bundle(
				options, bundles_of(config, row->bundle_key), options, NULL, err);
	}
	return code;
}

int config_resolve(const struct config *config, struct options **options, struct err *err)
{
	struct options *made = NULL;
	int code = config_defaults(&made, config->scope, err);

	*options = NULL;
	if (!code)
		code = apply_defaults(config, made, err);
	if (!code)
		code = apply_bundles(config, made, config->layer[0], config->layer[1], err);
	if (!code && config->path)
		code = read_file(made, config->path, config->saved, err);
	for (const struct config_bundles *row = own_bundles; row->key && !code; row++)
		if (says(config->layer[1], row->key))
			code = drop_suffixes(row, made, config->layer[0], err);
	if (!code)
		code = apply_bundles(config, made, config->layer[1], NULL, err);
	for (int i = 0; i < config->count && !code; i++)
		code = options_assign(made, config->settings[i], config->origin, err);
	if (code)
		options_free(made);
	else
		*options = made;
	return code;
}
