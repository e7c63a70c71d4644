/*
 * A run's configuration: the option rows of all rooms in one place, and named
 * bundles of keys that save typing. The library has its own rows and methods
 * (run.method); an application adds what it needs by a scope.
 *
 * Settings come in layers: the defaults, then a file, then the settings of the
 * command line or of a program. Within a layer bundles come first and single
 * keys after them, whatever their order, so a key always refines the bundle beside
 * it. A bundle in a later layer replaces the bundle of an earlier layer, and what
 * that layer's single keys said about the bundle's keys; the keys of an earlier layer's
 * suffixes are then back to their defaults. Last, the data fill in what is left open
 * (session/defaults.h).
 */
#ifndef RETAIN_SESSION_CONFIG_H
#define RETAIN_SESSION_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/options.h"
#include "session/bundle.h"

/* If `key` has this value, the bundle is taken unless another one is named. */
struct config_default {
	const char *key, *value;
	const char *bundle_key, *bundle;
};

enum { CONFIG_TABLES = 64 };

/* What an application adds. Lists end with a zeroed row; all may be NULL. */
struct config_scope {
	/* Fills in tables of rows, CONFIG_TABLES at most; returns how many. */
	int (*tables)(const struct option_row *tables[CONFIG_TABLES]);
	const char *place;                /* what messages call the last layer */
	const struct bundle_key *bundles; /* applied before the library's */
	const struct config_default *defaults;
	int (*check)(const struct options *layer, struct err *err); /* what one layer says */
};

struct config;

/* The scope must outlive the config; NULL: the library's keys alone. */
int config_new(struct config **config, const struct config_scope *scope, struct err *err);
void config_free(struct config *config);

/*
 * The file's layer. Only one file; a second replaces the first. Mistakes in it are
 * found here. The folder of a run, or the config.ini in it, is a saved config, perhaps of
 * another version or program: sections and keys that are not known here are skipped.
 */
int config_load(struct config *config, const char *path, struct err *err);

/* The last layer: "section.key" and its value. */
int config_set(struct config *config, const char *key, const char *value, struct err *err);
/* The same from "section.key=value". */
int config_assign(struct config *config, const char *setting, struct err *err);

/* The options that all layers together make; for options_free. */
int config_resolve(const struct config *config, struct options **options, struct err *err);

/* Takes a method that follows from the data: its keys, where nobody set them. */
int config_method(struct options *options, const char *method, struct err *err);

/*
 * An error (ERR_INPUT) if the saved text of a config would make a run with other
 * numbers than these options. Its message is the key that differs, "schedule.rate =
 * 0.1, not 0.2". Keys that may change do not count. A key that the saved text does not
 * have counts as its default, or as what its row says of older configs. A config of the command
 * and one of a program have different keys: only those that both have count. A key that is no longer known is an
 * error if it is strict.
 */
int config_differs(
	const struct options *now, const char *saved, size_t size, bool strict, struct err *err);

/*
 * Keys that the data would decide, or that are `auto`, and that may not change take their
 * values from the saved config. So a run that is resumed without settings goes on as it was.
 */
int config_adopt(struct options *now, const char *saved, size_t size, struct err *err);

/* All keys with their defaults, for help. */
int config_defaults(struct options **options, const struct config_scope *scope, struct err *err);

#endif
