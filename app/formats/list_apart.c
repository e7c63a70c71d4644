/*
 * The other process writes what it finds to a pipe (formats/list_pipe.h).
 *
 * A damaged file may also keep a reader busy for ever, or have it take all memory: its
 * process is ended after so much time of a processor without a value, and allocations
 * fail beyond a bound.
 */
#define _GNU_SOURCE 1
#include "formats/list_apart.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/list_pipe.h"

enum { STALL_SECONDS = 60, STALL_VALUES = 1024 };

#define DATA_MOST ((rlim_t)4 << 30)

struct sender {
	const char *path;
	FILE *out;
	uint64_t count;
};

static void begin_stall(void)
{
	setitimer(ITIMER_PROF, &(struct itimerval){.it_value = {.tv_sec = STALL_SECONDS}}, NULL);
}

static int send_value(void *self, const struct list_value *value, struct err *err)
{
	struct sender *sender = self;

	if (sender->count++ % STALL_VALUES == 0)
		begin_stall();
	return list_pipe_send(sender->out, sender->path, value, err);
}

/* Memory beyond what this process has, whatever that is: sanitizers map much. */
static void bound_data(void)
{
	FILE *facts = fopen("/proc/self/statm", "re");
	unsigned long long pages;

	if (facts && fscanf(facts, "%*u %*u %*u %*u %*u %llu", &pages) == 1) {
		const rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + DATA_MOST;

		setrlimit(RLIMIT_DATA, &(struct rlimit){most, most});
	}
	if (facts)
		fclose(facts);
}

/* The other process. It must not run this one's crash handlers. */
_Noreturn static void work(const char *path, int out, list_reader *read, void *job)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPIPE, SIGPROF};
	struct sender sender = {.path = path};
	struct err err = {0};
	sigset_t all;

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_DFL);
	sigfillset(&all);
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	setrlimit(RLIMIT_CORE, &(struct rlimit){0});
	bound_data();
	begin_stall();
	sender.out = fdopen(out, "w");
	if (!sender.out)
		_exit(1);
	list_pipe_end(sender.out, read(job, send_value, &sender, &err), &err);
	_exit(0);
}

static int system_error(const char *path, struct err *err)
{
	return err_set(
		err, ERR_FILE, "%s: no process can be had to read it: %s", path, strerror(errno));
}

int list_apart(const char *path, list_reader *read, void *job, list_visit *visit, void *self,
	struct err *err)
{
	FILE *in = NULL;
	int ends[2], code;
	pid_t worker;

	if (pipe2(ends, O_CLOEXEC))
		return system_error(path, err);
	worker = fork();
	if (worker == 0) {
		close(ends[0]);
		work(path, ends[1], read, job);
	}
	code = worker < 0 ? system_error(path, err) : 0;
	close(ends[1]);
	if (!code && !(in = fdopen(ends[0], "r")))
		code = system_error(path, err);
	if (!code)
		code = list_pipe_receive(in, path, visit, self, err);
	/* Whatever the worker still does, nobody waits for it. */
	if (worker > 0)
		kill(worker, SIGKILL);
	if (in)
		fclose(in);
	else
		close(ends[0]);
	while (worker > 0 && waitpid(worker, NULL, 0) < 0 && errno == EINTR)
		continue;
	return code;
}
