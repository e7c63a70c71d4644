/*
 * Named bundles of settings: methods (run.method), and an application's presets. A name is a base
 * and any suffixes, "schedule-free+recency+fast": each suffix at most once, in the order of its
 * table. A suffix's settings are applied after the base's.
 */
#ifndef RETAIN_SESSION_CONFIG_BUNDLE_H
#define RETAIN_SESSION_CONFIG_BUNDLE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/options.h"

/* A base with this setting cannot take the suffix. */
struct bundle_conflict {
	const char *setting, *why;
};

struct bundle {
	const char *name, *help;
	/*
	 * "section.key=value", ends with NULL. A leading ~ marks a hint, which defaults derived
	 * from the data override.
	 */
	const char *const *settings;
	const struct bundle_conflict
		*conflicts; /* of a suffix; ends with a zeroed row; NULL: none */
};
#define BUNDLE(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Values of run.method and their suffixes; both end with a row without a name. */
extern const struct bundle methods[];
extern const struct bundle method_suffixes[];

/* A key whose value names a bundle, with its tables; suffixes may be NULL. */
struct bundle_key {
	const char *key;
	enum option_origin origin; /* recorded for the bundle's settings */
	const struct bundle *table, *suffixes;
};

/* The library's bundle keys; ends with a zeroed row. */
extern const struct bundle_key bundle_keys[];

/* ERR_INPUT if the key's value names no bundle. */
int bundle_check(const struct bundle_key *key, const struct options *layer, struct err *err);

/*
 * Applies the bundle that `layer` names. Unless `over`, keys the user set (options_said) are
 * kept.
 */
int bundle_apply(const struct bundle_key *key, const struct options *layer, struct options *options,
	bool over, struct err *err);

/* Resets the keys of the suffixes that `layer` names to their defaults. */
int bundle_drop_suffixes(const struct bundle_key *key, const struct options *layer,
	struct options *options, struct err *err);

/* Whether a base accepts a suffix; if not, *why is the reason. */
bool bundle_goes(const struct bundle *base, const struct bundle *suffix, const char **why);

#endif
