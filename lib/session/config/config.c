/*
 * Layers of settings. Those of a file and of calls are kept separately, and merged over fresh
 * defaults when a run asks for them, bundles first.
 */
#include "session/config/config.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/paths.h"
#include "eval/alarm.h"
#include "eval/uneven.h"
#include "learn/beside.h"
#include "learn/learner.h"
#include "learn/losses/loss.h"
#include "optim/average.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"
#include "replay/objective.h"
#include "replay/pool.h"
#include "session/config/shape.h"
#include "schema/schema.h"

static const struct option_row run_options[] = {
	{"run", "method", OPTION_TEXT, "ama+malr", NULL,
		"the method, a bundle of settings (see retain methods)"},
	{"run", "iterations", OPTION_INT, "8", "[1, inf)", "training iterations per time step"},
	{"run", "step_epochs", OPTION_FLOAT, "0", "[0, inf)",
		"training per time step as passes over its samples, instead of run.iterations; 0 "
		"is off"},
	{"run", "budget", OPTION_FLOAT, "0", "[0, 1e9]",
		"compute per time step, in iterations of plain SGD; 0 leaves it to run.iterations"},
	{"run", "checkpoint_every", OPTION_TEXT, "10m", NULL,
		"how often to save a checkpoint: 90s, 10m, 2h, 500 steps, or never",
		OPTION_MAY_CHANGE},
	{"run", "on_nan", OPTION_CHOICE, "stop", "stop | rollback",
		"on a NaN loss, stop, or go back to the last checkpoint and halve the rate",
		OPTION_MAY_CHANGE},
	{"run", "tensorboard", OPTION_TEXT, "", NULL, "folder for TensorBoard logs; empty for none",
		OPTION_MAY_CHANGE},
	{"versions", "every", OPTION_TEXT, "never", NULL,
		"how often to make a version: 5000 samples, 6h, 1d, or never", OPTION_MAY_CHANGE},
	{"versions", "keep", OPTION_INT, "10", "[1, 100000]",
		"automatic versions to keep; older ones are dropped, unless they serve",
		OPTION_MAY_CHANGE},
	{"learn", "weigh", OPTION_TEXT, "off", NULL,
		"what classes weigh in answers: off, balanced (by how rare they are), or costs by "
		"name, as yes=20,no=1; others weigh 1",
		OPTION_MAY_CHANGE},
	{"versions", "promote", OPTION_TEXT, "never", NULL,
		"when a shadow becomes what answers: \"better by 0.5 points over 5000 labels, p < "
		"0.01\", or never",
		OPTION_MAY_CHANGE},
	{"eval", "every", OPTION_INT64, "100", "[1, inf)",
		"live streams: time steps between two rows of metrics"},
	{"eval", "blind_window", OPTION_INT, "32", "[1, inf)",
		"number of labels that the blind baseline remembers", OPTION_RETIRED},
	{0},
};

static const struct option_row *const own_tables[] = {run_options, shape_options, learner_options,
	pool_options, objective_options, optimizer_options, average_options, schedule_options,
	parts_options, loss_options, schema_options, alarm_options, uneven_options};

static const struct config_scope no_scope = {.place = "the program"};

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

enum { LAYER_FILE, LAYER_CALLS, LAYERS };

struct config {
	const struct config_scope *scope;
	struct options *layer[LAYERS]; /* each on defaults */
};

int config_new(struct config **config, const struct config_scope *scope, struct err *err)
{
	struct config *made = mem_new(1, sizeof(*made));
	int code = 0;

	*config = NULL;
	if (!made)
		return err_memory(err, "a config", sizeof(*made));
	made->scope = scope ? scope : &no_scope;
	for (int i = 0; i < LAYERS && !code; i++)
		code = config_defaults(&made->layer[i], made->scope, err);
	if (code)
		config_free(made);
	else
		*config = made;
	return code;
}

void config_free(struct config *config)
{
	if (!config)
		return;
	for (int i = 0; i < LAYERS; i++)
		options_free(config->layer[i]);
	mem_free(config);
}

/* The keys of bundles that the scope adds, then the library's; NULL past the last. */
static const struct bundle_key *bundle_at(const struct config *config, int index)
{
	const struct bundle_key *row = config->scope->bundles;

	for (; row && row->key; row++)
		if (!index--)
			return row;
	return bundle_keys[index].key ? &bundle_keys[index] : NULL;
}

/* The bundles that a layer names must exist, and be known before any work starts. */
static int check_layer(const struct config *config, const struct options *layer, struct err *err)
{
	const struct bundle_key *row;
	int code = 0;

	for (int i = 0; !code && (row = bundle_at(config, i)); i++)
		code = bundle_check(row, layer, err);
	return !code && config->scope->check ? config->scope->check(layer, err) : code;
}

/* A run's config is in its folder, or is named and lies beside what runs write. */
static bool is_saved(const char *file)
{
	char *folder = path_folder(file);
	const bool saved =
		folder && !strcmp(path_name(file), "config.ini") && path_has(folder, "metrics.csv");

	mem_free(folder);
	return saved;
}

static int read_file(struct options *layer, const char *file, bool saved, struct err *err)
{
	enum { MOST = 1 << 20 };
	char *words = NULL;
	size_t size;
	int code;

	if (!saved)
		return options_read(layer, file, err);
	code = file_read(file, MOST, &words, &size, err);
	if (!code)
		code = options_read_saved(layer, file, words, size, false, err);
	mem_free(words);
	return code;
}

static bool sets_any(const struct options *layer)
{
	const struct option_row *row;
	char key[OPTION_KEY];

	for (size_t i = 0; (row = options_at(layer, i)); i++)
		if (options_origin(layer, option_row_key(row, key)) > ORIGIN_ABSENT)
			return true;
	return false;
}

int config_load(struct config *config, const char *path, struct err *err)
{
	const bool folder = path_is_folder(path);
	char *file = folder ? path_join(path, "config.ini") : mem_text(path);
	struct options *layer = NULL;
	int code = file ? config_defaults(&layer, config->scope, err)
			: err_memory(err, "a path", strlen(path));

	if (!code)
		code = read_file(layer, file, folder || is_saved(file), err);
	if (!code && !sets_any(layer))
		code = err_set(err, ERR_INPUT, "%s: sets no key; retain config lists them", file);
	if (!code)
		code = check_layer(config, layer, err);
	mem_free(file);
	if (code) {
		options_free(layer);
		return code;
	}
	options_free(config->layer[LAYER_FILE]);
	config->layer[LAYER_FILE] = layer;
	return 0;
}

int config_set(struct config *config, const char *key, const char *value, struct err *err)
{
	struct options *layer = config->layer[LAYER_CALLS];
	const char *before, *source;
	enum option_origin origin;
	int code = options_get(layer, key, config->scope->place, &before, err);

	if (code)
		return code;
	origin = options_origin(layer, key);
	source = options_source(layer, key);
	code = options_set(layer, key, value, config->scope->place, err);
	if (!code)
		code = check_layer(config, layer, err);
	if (code && options_value(layer, key) != before)
		options_put(layer, key, before, origin, source, NULL);
	return code;
}

int config_assign(struct config *config, const char *setting, struct err *err)
{
	char key[OPTION_KEY];
	const char *value = options_split(setting, key);

	return value ? config_set(config, key, value, err)
		     : err_set(err, ERR_INPUT, "%s: %.100s: must be section.name=value",
			       config->scope->place, setting);
}

int config_method(struct options *options, const char *method, struct err *err)
{
	const int code =
		options_put(options, bundle_keys->key, method, ORIGIN_DATA, "the data", err);

	return code ? code : bundle_apply(bundle_keys, options, options, false, err);
}

/* The bundles that a layer names and a later one (NULL: there is none) does not replace. */
static int apply_bundles(const struct config *config, struct options *options,
	const struct options *layer, const struct options *later, struct err *err)
{
	const struct bundle_key *row;
	int code = 0;

	for (int i = 0; !code && (row = bundle_at(config, i)); i++)
		if (options_said(layer, row->key) && !(later && options_said(later, row->key)))
			code = bundle_apply(row, layer, options, true, err);
	return code;
}

static const struct bundle_key *bundle_of(const struct config *config, const char *key)
{
	const struct bundle_key *row = config->scope->bundles;

	while (strcmp(row->key, key) != 0)
		row++;
	return row;
}

/* Nobody has to name the bundle that a value brings along. */
static int apply_defaults(const struct config *config, struct options *options, struct err *err)
{
	const struct config_default *row = config->scope->defaults;
	int code = 0;

	for (; row && row->key && !code; row++) {
		const char *value = options_text(options, row->key);

		for (int i = 0; i < LAYERS; i++)
			if (options_said(config->layer[i], row->key))
				value = options_text(config->layer[i], row->key);
		if (strcmp(value, row->value) != 0)
			continue;
		code = options_put(
			options, row->bundle_key, row->bundle, ORIGIN_DEFAULT, "default", err);
		if (!code)
			code = bundle_apply(
				bundle_of(config, row->bundle_key), options, options, true, err);
	}
	return code;
}

int config_resolve(const struct config *config, struct options **options, struct err *err)
{
	const struct options *file = config->layer[LAYER_FILE];
	const struct options *calls = config->layer[LAYER_CALLS];
	struct options *made = NULL;
	int code = config_defaults(&made, config->scope, err);

	if (!code)
		code = apply_defaults(config, made, err);
	if (!code)
		code = apply_bundles(config, made, file, calls, err);
	if (!code)
		code = options_overlay(made, file, err);
	for (const struct bundle_key *row = bundle_keys; row->key && !code; row++)
		if (options_said(calls, row->key))
			code = bundle_drop_suffixes(row, file, made, err);
	if (!code)
		code = apply_bundles(config, made, calls, NULL, err);
	if (!code)
		code = options_overlay(made, calls, err);
	*options = code ? NULL : made;
	if (code)
		options_free(made);
	return code;
}
