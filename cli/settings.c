/* From a command line to options, and from a code to an exit code. */
#include "settings.h"

#include <stddef.h>

#include "cli.h"

int settings_resolve(struct options **options, const char *file, const struct setting *verb,
	const struct arg_list *user, struct err *err)
{
	return app_config_make(
		options, file, verb, user ? user->items : NULL, user ? user->count : 0, err);
}

int settings_leave(struct options *options, int code, const struct err *err)
{
	options_free(options);
	if (!code)
		return EXIT_OK;
	return complain(code == ERR_INPUT ? EXIT_USAGE : EXIT_FAILED, "%s", err->message);
}
