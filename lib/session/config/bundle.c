/* Resolves names to rows, and rows to settings. */
#include "session/config/bundle.h"

#include <stdio.h>
#include <string.h>

#include "base/words/nearest.h"

enum { SUFFIXES_MOST = 8 };

/* A name taken apart. */
struct parts {
	const struct bundle *base, *suffixes[SUFFIXES_MOST + 1];
};

const struct bundle_key bundle_keys[] = {
	{"run.method", ORIGIN_METHOD, methods, method_suffixes},
	{0},
};

/* The suffix that stands at the start of the words; NULL: none does. */
static const struct bundle *first_suffix(const struct bundle *table, const char *words)
{
	for (const struct bundle *row = table; row && row->name; row++) {
		const size_t size = strlen(row->name);

		if (!strncmp(words, row->name, size) && (!words[size] || words[size] == '+'))
			return row;
	}
	return NULL;
}

/* The longest base that the name starts with, followed by nothing or by a +. */
static const struct bundle *find_base(const struct bundle *table, const char *name)
{
	const struct bundle *found = NULL;

	for (const struct bundle *row = table; row->name; row++) {
		const size_t size = strlen(row->name);

		if (!strncmp(name, row->name, size) && (!name[size] || name[size] == '+') &&
			(!found || size > strlen(found->name)))
			found = row;
	}
	return found;
}

bool bundle_goes(const struct bundle *base, const struct bundle *suffix, const char **why)
{
	for (const struct bundle_conflict *c = suffix->conflicts; c && c->setting; c++)
		for (const char *const *s = base->settings; *s; s++)
			if (!strcmp(*s, c->setting)) {
				*why = c->why;
				return false;
			}
	return true;
}

static int unknown(
	const char *place, const struct bundle_key *key, const char *name, struct err *err)
{
	const char *nearest = nearest_name(name, &key->table->name, sizeof(*key->table));

	return err_set(err, ERR_INPUT, "%s: no such %s%s%s%s", place, strchr(key->key, '.') + 1,
		nearest ? "; did you mean " : "", nearest ? nearest : "",
		nearest ? "?" : "; see retain list");
}

static int unknown_suffix(
	const char *place, const struct bundle_key *key, const char *rest, struct err *err)
{
	const int size = 1 + (int)strcspn(rest + 1, "+");
	char all[128] = "";
	size_t used = 0;

	for (const struct bundle *row = key->suffixes; row && row->name && used < sizeof(all);
		row++)
		used += (size_t)snprintf(
			all + used, sizeof(all) - used, "%s%s", used ? ", " : "", row->name);
	return err_set(err, ERR_INPUT, "%s: no such suffix as %.*s; there are %s", place, size,
		rest, *all ? all : "none");
}

static int read_suffixes(struct parts *parts, const char *place, const struct bundle_key *key,
	const char *rest, struct err *err)
{
	const struct bundle *last = NULL;
	const char *why;

	for (int count = 0; *rest; count++) {
		const struct bundle *row = first_suffix(key->suffixes, rest);

		if (!row)
			return unknown_suffix(place, key, rest, err);
		if (last == row)
			return err_set(err, ERR_INPUT, "%s: %s twice", place, row->name);
		if (last > row)
			return err_set(err, ERR_INPUT, "%s: %s goes before %s", place, row->name,
				last->name);
		if (!bundle_goes(parts->base, row, &why))
			return err_set(err, ERR_INPUT, "%s: %s does not go with %s, %s", place,
				row->name, parts->base->name, why);
		parts->suffixes[count] = last = row;
		rest += strlen(row->name);
	}
	return 0;
}

static int take_apart(struct parts *parts, const struct bundle_key *key,
	const struct options *layer, struct err *err)
{
	const char *name = options_text(layer, key->key);
	char place[512];

	*parts = (struct parts){.base = find_base(key->table, name)};
	snprintf(place, sizeof(place), "%.300s: %s = %.100s", options_source(layer, key->key),
		key->key, name);
	if (!parts->base)
		return unknown(place, key, name, err);
	return read_suffixes(parts, place, key, name + strlen(parts->base->name), err);
}

int bundle_check(const struct bundle_key *key, const struct options *layer, struct err *err)
{
	struct parts parts;

	return take_apart(&parts, key, layer, err);
}

static int apply(const struct bundle *bundle, enum option_origin origin, const char *source,
	struct options *options, bool over, struct err *err)
{
	char key[OPTION_KEY];
	int code = 0;

	for (const char *const *setting = bundle->settings; *setting && !code; setting++) {
		const bool hint = **setting == '~';
		const char *value = options_split(*setting + hint, key);

		if (over || !options_said(options, key))
			code = options_put(
				options, key, value, hint ? ORIGIN_HINT : origin, source, err);
	}
	return code;
}

int bundle_apply(const struct bundle_key *key, const struct options *layer, struct options *options,
	bool over, struct err *err)
{
	struct parts parts;
	char source[160];
	int code = take_apart(&parts, key, layer, err);

	snprintf(source, sizeof(source), "%s = %s", key->key, options_text(layer, key->key));
	if (!code)
		code = apply(parts.base, key->origin, source, options, over, err);
	for (int i = 0; !code && parts.suffixes[i]; i++)
		code = apply(parts.suffixes[i], key->origin, source, options, over, err);
	return code;
}

int bundle_drop_suffixes(const struct bundle_key *key, const struct options *layer,
	struct options *options, struct err *err)
{
	struct parts parts;
	char name[OPTION_KEY];
	int code = take_apart(&parts, key, layer, err);

	for (int i = 0; !code && parts.suffixes[i]; i++)
		for (const char *const *s = parts.suffixes[i]->settings; *s && !code; s++) {
			options_split(*s + (**s == '~'), name);
			code = options_put(options, name, options_row(options, name)->value,
				ORIGIN_DEFAULT, "default", err);
		}
	return code;
}
