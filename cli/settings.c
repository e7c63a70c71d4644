/* From a command line to options, and from a code to an exit code. */
#include "settings.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "config/app_defaults.h"

int settings_resolve(struct options **options, const char *file, const struct setting *verb,
	const struct arg_list *user, struct err *err)
{
	return app_config_make(
		options, file, verb, user ? user->items : NULL, user ? user->count : 0, err);
}

const char *settings_data(const char *word, struct arg_list *user, char room[SETTINGS_ROOM])
{
	if (!word || !strcmp(word, "-") || !app_is_data(word) || user->count == ARGS_LIST)
		return word;
	snprintf(room, SETTINGS_ROOM, "stream.source=%s", word);
	memmove(user->items + 1, user->items, (size_t)user->count * sizeof(*user->items));
	user->items[0] = room;
	user->count++;
	return NULL;
}

void settings_place(const char *data, char place[SETTINGS_ROOM])
{
	const char *at = data, *end = at + strlen(at), *dot;

	while (end > at + 1 && end[-1] == '/')
		end--;
	for (const char *slash = at; slash < end; slash++)
		if (*slash == '/' || *slash == ':')
			at = slash + 1;
	dot = memchr(at + (at < end), '.', (size_t)(end - at) - (at < end));
	snprintf(place, SETTINGS_ROOM, "runs/%.*s", (int)((dot ? dot : end) - at), at);
}

int settings_leave(struct options *options, int code, const struct err *err)
{
	options_free(options);
	if (!code)
		return EXIT_OK;
	return complain(code == ERR_INPUT ? EXIT_USAGE : EXIT_FAILED, "%s", err->message);
}
