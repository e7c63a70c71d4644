/* See child.h. */
#include "serve/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { VARIABLES = 4096 };

extern char **environ;

static void copy_environment(char *to[VARIABLES])
{
	static const char *const launchers[] = {"OMPI_", "PMIX_", "PMI_", "SLURM_"};
	size_t n = 0;

	for (char **at = environ; *at && n < VARIABLES - 1; at++) {
		bool keep = true;

		for (size_t i = 0; i < sizeof(launchers) / sizeof(*launchers); i++)
			keep = keep && strncmp(*at, launchers[i], strlen(launchers[i])) != 0;
		if (keep)
			to[n++] = *at;
	}
	to[n] = NULL;
}

static int redirect(posix_spawn_file_actions_t *actions, int input, int output, int complaints)
{
	int code = input < 0 ? posix_spawn_file_actions_addopen(
				       actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
			     : posix_spawn_file_actions_adddup2(actions, input, STDIN_FILENO);

	if (!code && output < 0)
		code = posix_spawn_file_actions_addopen(
			actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	else if (!code)
		code = posix_spawn_file_actions_adddup2(actions, output, STDOUT_FILENO);
	if (!code)
		code = posix_spawn_file_actions_adddup2(actions, complaints, STDERR_FILENO);
	return code;
}

int child_start(pid_t *child, const char *program, const char *const words[], int input, int output,
	int complaints)
{
	char *environment[VARIABLES];
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t how;
	sigset_t none, all;
	int code = posix_spawn_file_actions_init(&actions);

	if (code)
		return code;
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&how);
	posix_spawnattr_setsigmask(&how, &none);
	posix_spawnattr_setsigdefault(&how, &all);
	posix_spawnattr_setflags(
		&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
	posix_spawnattr_setpgroup(&how, 0);
	copy_environment(environment);
	code = redirect(&actions, input, output, complaints);
	if (!code)
		code = posix_spawnp(
			child, program, &actions, &how, (char *const *)words, environment);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&how);
	return code;
}

void child_line(char words[512], size_t size)
{
	while (size && words[size - 1] == '\n')
		size--;
	for (size_t i = 0; i < size; i++)
		if ((unsigned char)words[i] < ' ')
			words[i] = ' ';
	words[size] = '\0';
}

void child_hear(int complaints, char words[512])
{
	size_t size = 0;
	ssize_t got;
	char rest[512];

	while ((got = read(complaints, rest, sizeof(rest))) > 0 || (got < 0 && errno == EINTR))
		for (ssize_t i = 0; i < got && size < 511; i++)
			words[size++] = rest[i];
	child_line(words, size);
}
