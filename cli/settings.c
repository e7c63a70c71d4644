/* A config that lives just long enough to be resolved. */
#include "settings.h"

#include <stddef.h>

#include "cli.h"

int settings_resolve(struct options **options, const char *file, const struct setting *verb,
	const struct arg_list *user, struct err *err)
{
	struct config *config = NULL;
	int code = config_new(&config, &app_scope, err);

	*options = NULL;
	if (!code && file)
		code = config_load(config, file, err);
	for (; verb && verb->key && !code; verb++)
		if (verb->value)
			code = config_set(config, verb->key, verb->value, err);
	for (int i = 0; user && i < user->count && !code; i++)
		code = config_assign(config, user->items[i], err);
	if (!code)
		code = app_config_resolve(config, options, err);
	config_free(config);
	return code;
}

int settings_leave(struct options *options, int code, const struct err *err)
{
	options_free(options);
	if (!code)
		return EXIT_OK;
	return complain(code == ERR_INPUT ? EXIT_USAGE : EXIT_FAILED, "%s", err->message);
}
