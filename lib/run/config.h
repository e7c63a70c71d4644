/*
 * A run's configuration: all option rows of all rooms in one place, and the
 * named bundles of keys that save typing: presets of the built-in stream
 * (stream.preset) and methods (run.method).
 *
 * Settings come in layers: the defaults, then a file, then the settings of the
 * command line or of a program. Within a layer bundles come first and single
 * keys after them, whatever their order, so that a key always refines the bundle
 * it stands beside; and a bundle named in a later layer replaces the one that an
 * earlier layer named, and what single keys there said about its own keys.
 */
#ifndef RETAIN_RUN_CONFIG_H
#define RETAIN_RUN_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/options.h"

struct config;

int config_new(struct config **config, struct err *err);
void config_free(struct config *config);

/* What messages say of settings that are at fault, "--set" unless told; kept as a pointer. */
void config_origin(struct config *config, const char *origin);

/* The file's layer. Only one file; a second replaces the first. Mistakes in it are found here. */
int config_load(struct config *config, const char *path, struct err *err);

/* The last layer: "section.key" and its value. */
int config_set(struct config *config, const char *key, const char *value, struct err *err);
/* The same from "section.key=value". */
int config_assign(struct config *config, const char *setting, struct err *err);

/* The options that all layers together make; for options_free. */
int config_resolve(const struct config *config, struct options **options, struct err *err);

/* A method or a preset: a name, what it is, and the keys it sets. */
struct bundle {
	const char *name, *help;
	const char *const *settings; /* "section.key=value", ends with NULL */
};
extern const struct bundle methods[]; /* ends with a row without a name */
extern const struct bundle presets[];

/*
 * An error (ERR_INPUT) if the saved text of a config would make a run with other
 * numbers than these options; its sentence is the key that differs, "schedule.rate =
 * 0.1, not 0.2". Keys that may change do not count. A key that was saved by a
 * version without it has its default; one that nobody knows any more is an error,
 * but sections that are not known here are another program's and do not count.
 */
int config_differs(const struct options *now, const char *saved, size_t size, struct err *err);

/* All keys with their defaults, for help. */
int config_defaults(struct options **options, struct err *err);

#endif
