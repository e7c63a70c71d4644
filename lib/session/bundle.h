/*
 * Bundles of settings that a name stands for: methods (run.method), and the presets of an
 * application. A name is a base and any suffixes, "schedule-free+recency+fast": each suffix once,
 * in the order of its table. What a suffix sets comes after what the base sets.
 */
#ifndef RETAIN_SESSION_BUNDLE_H
#define RETAIN_SESSION_BUNDLE_H

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
	 * "section.key=value", ends with NULL. One that starts with ~ is a hint: what follows
	 * from the data replaces it.
	 */
	const char *const *settings;
	const struct bundle_conflict
		*conflicts; /* of a suffix; ends with a zeroed row; NULL: none */
};
#define BUNDLE(...) ((const char *const[]){__VA_ARGS__, NULL})

/* What run.method may name, and what may follow a name; both end with a row without a name. */
extern const struct bundle methods[];
extern const struct bundle method_suffixes[];

/* A key whose value names a bundle, and its tables; suffixes may be NULL. */
struct bundle_key {
	const char *key;
	enum option_origin origin; /* of what its bundles set */
	const struct bundle *table, *suffixes;
};

/* The library's keys of bundles; ends with a zeroed row. */
extern const struct bundle_key bundle_keys[];

/* An error (ERR_INPUT) if the key's value names no bundle. */
int bundle_check(const struct bundle_key *key, const struct options *layer, struct err *err);

/*
 * Sets what the bundle that `layer` names sets. Without `over`, what somebody said
 * (options_said) stays.
 */
int bundle_apply(const struct bundle_key *key, const struct options *layer, struct options *options,
	bool over, struct err *err);

/* Sets the keys of the suffixes that `layer` names back to their defaults. */
int bundle_drop_suffixes(const struct bundle_key *key, const struct options *layer,
	struct options *options, struct err *err);

/* Whether a suffix goes with a base; if not, *why says why not. */
bool bundle_goes(const struct bundle *base, const struct bundle *suffix, const char **why);

#endif
