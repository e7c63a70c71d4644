/* See child.h. */
#include "serve/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os.h"

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

static void one_line(char words[512], size_t size)
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
	one_line(words, size);
}

/* What a command complains about: the beginning is kept, the rest read and forgotten. */
struct complaint {
	int from; /* a pipe's end that does not block */
	char words[512];
	size_t size;
};

static void hear(struct complaint *complaint)
{
	char rest[1 << 16];
	const ssize_t got = read(complaint->from, rest, sizeof(rest));

	for (ssize_t i = 0; i < got && complaint->size < sizeof(complaint->words) - 1; i++)
		complaint->words[complaint->size++] = rest[i];
}

/* The child's status; it is ended, with all that it has started, if it takes too long. */
static int wait_child(
	pid_t child, double (*latest)(void *, double), void *context, struct complaint *complaint)
{
	const struct timespec pause = {.tv_nsec = 20000000};
	const double start = clock_now();
	double asked = 0; /* to end */
	int status = -1;

	while (waitpid(child, &status, WNOHANG) == 0) {
		const double now = clock_now();

		hear(complaint);
		if (!asked && now > latest(context, start)) {
			asked = now;
			kill(-child, SIGTERM);
		}
		if (asked && now > asked + 1)
			kill(-child, SIGKILL);
		nanosleep(&pause, NULL);
	}
	hear(complaint);
	one_line(complaint->words, complaint->size);
	if (asked) {
		kill(-child, SIGKILL); /* what did not listen */
		snprintf(complaint->words, sizeof(complaint->words), "it took too long");
	}
	return status;
}

bool child_run(const char *const words[], const struct text *input,
	double (*latest)(void *context, double start), void *context, char complaint[512])
{
	const int in = os_unnamed_file();
	const ssize_t size = (ssize_t)input->size;
	struct complaint heard = {0};
	int ends[2] = {-1, -1}, code = 0, status = -1;
	pid_t child;

	if (in < 0 || write(in, input->data, input->size) != size || lseek(in, 0, SEEK_SET) ||
		os_pipe(ends, true) || fcntl(ends[0], F_SETFL, O_NONBLOCK))
		code = errno ? errno : EIO;
	heard.from = ends[0];
	if (!code)
		code = child_start(&child, words[0], words, in, -1, ends[1]);
	if (ends[1] >= 0)
		close(ends[1]);
	if (code)
		snprintf(heard.words, sizeof(heard.words), "%s: %s", words[0], strerror(code));
	else
		status = wait_child(child, latest, context, &heard);
	if (in >= 0)
		close(in);
	if (ends[0] >= 0)
		close(ends[0]);
	memcpy(complaint, heard.words, sizeof(heard.words));
	return !code && !status;
}
