/*
 * A run's configuration: the option rows of all rooms in one place, and named bundles of keys.
 * The library has its own rows and methods (run.method); an application adds its own through a
 * scope.
 *
 * Settings come in layers: the defaults, then a file, then the settings of the command line or of
 * a program. Within a layer bundles are applied before single keys, whatever their order, so a
 * key always refines the bundle beside it. A bundle in a later layer replaces the bundle of an
 * earlier layer and overrides that layer's single keys where the new bundle sets them; the keys
 * of the earlier layer's suffixes return to their defaults. Last, defaults derived from the data
 * fill in what is still open (session/config/defaults.h).
 */
#ifndef RETAIN_SESSION_CONFIG_CONFIG_H
#define RETAIN_SESSION_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/options.h"
#include "session/config/bundle.h"

/* If `key` has this value, the bundle is applied unless another one is named. */
struct config_default {
	const char *key, *value;
	const char *bundle_key, *bundle;
};

enum { CONFIG_TABLES = 64 };

/* An application's additions. Lists end with a zeroed row; all may be NULL. */
struct config_scope {
	/* Fills in up to CONFIG_TABLES tables of rows; returns the count. */
	int (*tables)(const struct option_row *tables[CONFIG_TABLES]);
	const char *place;                /* name of the last layer in messages */
	const struct bundle_key *bundles; /* applied before the library's */
	const struct config_default *defaults;
	int (*check)(const struct options *layer, struct err *err); /* validates one layer */
};

struct config;

/* The scope must outlive the config; NULL: only the library's keys. */
int config_new(struct config **config, const struct config_scope *scope, struct err *err);
void config_free(struct config *config);

/*
 * Loads the file layer; a second file replaces the first. Errors in the file are reported here. A
 * run folder, or the config.ini in it, is a saved config, perhaps from another version or
 * program: unknown sections and keys are skipped.
 */
int config_load(struct config *config, const char *path, struct err *err);

/* Sets "section.key" in the last layer. */
int config_set(struct config *config, const char *key, const char *value, struct err *err);
/* The same from "section.key=value". */
int config_assign(struct config *config, const char *setting, struct err *err);

/* Merges all layers; free the result with options_free. */
int config_resolve(const struct config *config, struct options **options, struct err *err);

/* Applies a method derived from the data: its keys, where the user set nothing. */
int config_method(struct options *options, const char *method, struct err *err);

/*
 * ERR_INPUT if the saved config would give a run with other numbers than these options. The
 * message is the differing key, "schedule.rate = 0.1, not 0.2". Keys that may change are ignored.
 * A key missing from the saved text counts as its default, or as what its row says of older
 * configs. The command's and a program's configs have different keys: only common ones are
 * compared. A saved key that no longer exists is an error if `strict`.
 */
int config_differs(
	const struct options *now, const char *saved, size_t size, bool strict, struct err *err);

/*
 * Takes fixed keys that are `auto`, or would be derived from the data, from the saved config, so
 * that a run resumed without settings continues unchanged.
 */
int config_adopt(struct options *now, const char *saved, size_t size, struct err *err);

/* All keys with their defaults, for --help. */
int config_defaults(struct options **options, const struct config_scope *scope, struct err *err);

#endif
