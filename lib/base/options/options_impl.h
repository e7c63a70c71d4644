/*
 * What the files of the options share: the set of keys and their values. Every
 * value is kept both as parsed and as text in its canonical form, so that writing
 * the config is writing texts. Texts and sources live in the arena until the
 * options go: keys are set a few times per run, not in a loop.
 *
 * Invariant: every entry has a value that its row allows, from options_new on.
 */
#ifndef RETAIN_BASE_OPTIONS_IMPL_H
#define RETAIN_BASE_OPTIONS_IMPL_H

#include "base/mem.h"
#include "base/options.h"
#include "base/options/options_value.h"

struct option_entry {
	const struct option_row *row;
	uint64_t mark; /* of its key */
	struct option_value value;
	const char *text, *source;
	enum option_origin origin;
	unsigned reading; /* the last file that set it, by options->readings, and where */
	int line;
};

struct options {
	struct arena arena;
	struct option_entry *entries;
	size_t count, all; /* from count on they are retired */
	unsigned readings;
};

/* NULL: there is no such key. */
struct option_entry *option_entry_find(const struct options *options, const char *key);
int option_entry_set(struct options *options, struct option_entry *entry, const char *words,
	enum option_origin origin, const char *source, struct err *err);

bool options_has_section(const struct options *options, const char *section);

/* ERR_INPUT, with the nearest key or section that there is. */
int options_unknown_key(
	const struct options *options, const char *source, const char *key, struct err *err);
int options_unknown_section(
	const struct options *options, const char *place, const char *section, struct err *err);

#endif
