/* The saved config is read over defaults, so that missing keys have them. */
#define _GNU_SOURCE 1 /* memmem */
#include "session/config/config.h"

#include <stdio.h>
#include <string.h>

static int compare(const struct options *then, const struct options *now, struct err *err)
{
	const struct option_row *row = options_difference(then, now);
	char key[OPTION_KEY];

	if (!row)
		return 0;
	option_row_key(row, key);
	return err_set(err, ERR_INPUT, "%s = %.150s, not %.150s", key, options_value(then, key),
		options_value(now, key));
}

static int read_saved(struct options **then, const struct options *like, const char *saved,
	size_t size, bool strict, struct err *err)
{
	const int code = options_defaults(then, like, err);

	return code ? code : options_read_saved(*then, "its config", saved, size, strict, err);
}

/* A program's config and the command's have keys that the other does not know. */
static bool is_others(const struct options *now, const char *saved, size_t size)
{
	const char *key = options_has(now, "stream.source") ? "\nwaiting_most = " : "\nsource = ";

	return memmem(saved, size, key, strlen(key));
}

/* What the other did not know it left as it was. */
static int fill_in(struct options *then, const struct options *now, struct err *err)
{
	const struct option_row *row;
	int code = 0;

	for (size_t i = 0; !code && (row = options_at(now, i)); i++) {
		char key[OPTION_KEY];

		option_row_key(row, key);
		if (options_origin(then, key) == ORIGIN_ABSENT)
			code = options_put(then, key, options_value(now, key), ORIGIN_FOLDER,
				"its config", err);
	}
	return code;
}

int config_differs(
	const struct options *now, const char *saved, size_t size, bool strict, struct err *err)
{
	const bool others = is_others(now, saved, size);
	struct options *then = NULL;
	int code = read_saved(&then, now, saved, size, strict && !others, err);

	if (!code && others)
		code = fill_in(then, now, err);
	if (!code)
		code = compare(then, now, err);
	options_free(then);
	return code;
}

int config_adopt(struct options *now, const char *saved, size_t size, struct err *err)
{
	struct options *then = NULL;
	const struct option_row *row;
	int code = read_saved(&then, now, saved, size, false, err);

	for (size_t i = 0; !code && (row = options_at(now, i)); i++) {
		char key[OPTION_KEY];

		option_row_key(row, key);
		if (!(row->flags & OPTION_MAY_CHANGE) &&
			(!strcmp(options_value(now, key), "auto") ||
				options_origin(now, key) <= ORIGIN_DATA))
			code = options_put(now, key, options_value(then, key), ORIGIN_FOLDER,
				"its config", err);
	}
	options_free(then);
	return code;
}
