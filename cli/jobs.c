/* Child processes: starting, watching and stopping them. */
#include "jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "base/os.h"

static volatile sig_atomic_t last_signal, signal_count;

static void on_signal(int signal)
{
	last_signal = signal;
	signal_count++;
}

void jobs_watch_signals(void)
{
	const struct sigaction watch = {.sa_handler = on_signal};
	static const int signals[] = {SIGINT, SIGTERM};
	struct sigaction old;

	signal_count = 0;
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &watch, NULL);
}

int jobs_signal(void)
{
	return last_signal;
}

int jobs_signal_count(void)
{
	return signal_count;
}

void jobs_pause(double seconds)
{
	const struct timespec span = {
		(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};

	nanosleep(&span, NULL);
}

/* In the child; only what is safe after fork. */
static void become(const char *const words[], int complaints, pid_t parent)
{
	const int nowhere = open("/dev/null", O_RDWR);

	setpgid(0, 0);
	os_end_with_parent();
	if (getppid() != parent || nowhere < 0 || dup2(nowhere, STDIN_FILENO) < 0 ||
		dup2(nowhere, STDOUT_FILENO) < 0 || dup2(complaints, STDERR_FILENO) < 0)
		_exit(EXIT_FAILED);
	execv(os_program(), (char *const *)words);
	_exit(127);
}

/* Signals wait until the child has forgotten our handlers, which would swallow them. */
int job_start(struct job *job, const char *const words[])
{
	const pid_t parent = getpid();
	sigset_t all, before;

	*job = (struct job){.complaints = tmpfile()};
	if (!job->complaints)
		return complain(EXIT_FAILED, "a temporary file: %s", strerror(errno));
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	job->pid = fork();
	if (job->pid == 0) {
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		become(words, fileno(job->complaints), parent);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (job->pid > 0)
		return EXIT_OK;
	job->pid = 0;
	job_release(job);
	return complain(EXIT_FAILED, "a run cannot be started: %s", strerror(errno));
}

bool job_ended(struct job *job)
{
	int status;

	if (!job->pid || waitpid(job->pid, &status, WNOHANG) != job->pid)
		return false;
	job->status = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_STOPPED + WTERMSIG(status);
	job->pid = 0;
	return true;
}

void job_message(const struct job *job, char *out, size_t size)
{
	char line[1024];

	*out = '\0';
	rewind(job->complaints);
	while (fgets(line, sizeof(line), job->complaints)) {
		const char *words = strncmp(line, "retain: ", 8) ? line : line + 8;

		if (strpbrk(words, "abcdefghijklmnopqrstuvwxyz"))
			snprintf(out, size, "%.*s", (int)strcspn(words, "\n"), words);
	}
}

void job_signal(const struct job *job, int signal)
{
	if (job->pid > 0)
		kill(job->pid, signal);
}

void job_release(struct job *job)
{
	if (job->complaints)
		fclose(job->complaints);
	job->complaints = NULL;
}
