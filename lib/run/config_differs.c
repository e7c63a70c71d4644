/* The saved config is read on defaults, so that keys which it lacks have theirs. */
#include "run/config.h"

#include <stdio.h>

static int compare(const struct options *then, const struct options *now, struct err *err)
{
	const struct option_row *row = options_difference(then, now);
	char key[128];

	if (!row)
		return 0;
	snprintf(key, sizeof(key), "%s.%s", row->section, row->name);
	return err_set(err, ERR_INPUT, "%s = %.150s, not %.150s", key, options_value(then, key),
		options_value(now, key));
}

int config_differs(
	const struct options *now, const char *saved, size_t size, bool strict, struct err *err)
{
	struct options *then = NULL;
	int code = options_defaults(&then, now, err);

	if (!code)
		code = options_read_foreign(then, "its config", saved, size, strict, err);
	if (!code)
		code = compare(then, now, err);
	options_free(then);
	return code;
}
