#include "cli/adopt.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/paths.h"
#include "cli/cli.h"
#include "cli/settings.h"
#include "learn/losses/loss.h"
#include "stored/stored.h"
#include "streams/source.h"

static void warn(void *context, enum log_level level, const char *message)
{
	(void)context;
	say("%s: %s", log_level_name(level), message);
}

/* A program's folder says nothing of a stream. */
static bool is_over_source(const struct options *options)
{
	return options_origin(options, "stream.source") != ORIGIN_ABSENT &&
	       !source_is_live(options);
}

/* What is behind PATH or KIND:PATH; false: nothing. */
static bool look(const char *source, struct stat *found)
{
	const char *colon = strchr(source, ':');

	return !stat(source, found) || (colon && !stat(colon + 1, found));
}

static bool is_same(const char *source, const char *data)
{
	struct stat one, other;

	return !strcmp(source, data) ||
	       (look(source, &one) && look(data, &other) && one.st_dev == other.st_dev &&
		       one.st_ino == other.st_ino);
}

/* What is to be set is looked at before anything changes. */
static int check_user(const char *folder, const struct setting *none, const struct arg_list *user,
	struct err *err)
{
	struct options *options = NULL;
	int code = settings_resolve(&options, folder, none, user, err);

	if (!code)
		code = loss_check_target(options, err);
	options_free(options);
	return code;
}

int adopt_folder(const char *folder, const char *data, const struct arg_list *user, bool *same,
	struct err *err)
{
	const struct log log = {.write = warn, .most = LOG_WARN};
	const struct setting none[] = {{0}};
	struct options *options = NULL;
	char path[4096];
	int code;

	*same = false;
	snprintf(path, sizeof(path), "%s/config.ini", folder);
	if (!path_exists(path))
		return 0;
	code = check_user(folder, none, user, err);
	if (!code)
		code = settings_resolve(&options, folder, none, NULL, err);
	if (!code && is_over_source(options)) {
		*same = data && is_same(options_text(options, "stream.source"), data);
		if (!*same)
			code = stored_adopt(options, folder, &log, err);
		if (!*same && !code)
			say("%s: keeps its samples in a journal from now on", folder);
	}
	options_free(options);
	return code;
}
