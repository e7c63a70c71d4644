/* xdg-open knows the user's browser. We do not wait for it: it may live as long as the browser. */
#include "open.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"

extern char **environ;

static int has(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value;
}

void open_in_browser(const char *what)
{
	char program[] = "xdg-open";
	char *argv[] = {program, (char *)what, NULL};
	posix_spawn_file_actions_t actions;
	pid_t child;
	int code;

	if (!has("DISPLAY") && !has("WAYLAND_DISPLAY")) {
		say("no display here to open %s on", what);
		return;
	}
	if (posix_spawn_file_actions_init(&actions))
		return;
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	code = posix_spawnp(&child, program, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (code)
		say("xdg-open is not installed (Debian: xdg-utils); open %s yourself", what);
}

void open_report(const char *folder)
{
	char path[4096];

	/* What was printed should be seen before the browser takes over. */
	fflush(stdout);
	snprintf(path, sizeof(path), "%s/report.html", folder);
	open_in_browser(path);
}
