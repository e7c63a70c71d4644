/*
 * A thread for each backup starts the process and waits for it.
 *
 * Invariants: `busy` from backups_put until the job is done. `child` is a process that was not
 * waited for yet: reading it to kill it, and waiting for it, require the lock.
 */
#include "serve/backups.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/paths.h"
#include "serve/child.h"

enum { NAMES = 1000 };

struct backups {
	pthread_mutex_t lock;
	pthread_t thread;
	bool started, busy, ending;
	pid_t child; /* 0: none */
	const char *folder;
	char *to;
	struct job *job;
};

int backups_open(struct backups **backups, struct err *err)
{
	*backups = mem_new(1, sizeof(**backups));
	if (!*backups)
		return err_memory(err, "backups", sizeof(**backups));
	pthread_mutex_init(&(*backups)->lock, NULL);
	return 0;
}

/* Starts `retain backup`, what it complains about going to a pipe. */
static int start(struct backups *b, int complaints, pid_t *child)
{
	const char *const words[] = {"retain", "backup", "--quiet", "--", b->folder, b->to, NULL};

	return child_start(child, os_program(), words, -1, -1, complaints);
}

/* What the process says, until it ends; and its status. */
static int hear(struct backups *b, int complaints, char words[512])
{
	int status = -1;
	siginfo_t about;

	child_hear(complaints, words);
	while (waitid(P_PID, (id_t)b->child, &about, WEXITED | WNOWAIT) && errno == EINTR)
		;
	pthread_mutex_lock(&b->lock);
	while (waitpid(b->child, &status, 0) < 0 && errno == EINTR)
		;
	b->child = 0;
	pthread_mutex_unlock(&b->lock);
	return status;
}

static int make(struct backups *b, struct err *err)
{
	static const char own[] = "retain: ";
	char words[512] = "";
	int ends[2], code, status;

	if (os_pipe(ends, true))
		return err_set(err, ERR_FILE, "a backup: %s", strerror(errno));
	pthread_mutex_lock(&b->lock);
	code = b->ending ? ECANCELED : start(b, ends[1], &b->child);
	if (code)
		b->child = 0;
	pthread_mutex_unlock(&b->lock);
	close(ends[1]);
	status = code ? 0 : hear(b, ends[0], words);
	close(ends[0]);
	if (code)
		return err_set(err, ERR_STATE, "a backup cannot be started: %s", strerror(code));
	if (status) {
		char part[BACKUPS_PATH + 8];

		snprintf(part, sizeof(part), "%s.part", b->to);
		file_remove_tree(part);
		return err_set(err, ERR_FILE, "%s",
			!*words                                 ? "the backup was ended"
			: !strncmp(words, own, sizeof(own) - 1) ? words + sizeof(own) - 1
								: words);
	}
	return 0;
}

static void *work(void *context)
{
	struct backups *b = context;
	struct job *job = b->job;

	job->code = make(b, &job->err);
	pthread_mutex_lock(&b->lock);
	b->busy = false;
	pthread_mutex_unlock(&b->lock);
	job->done(job);
	return NULL;
}

/* A name that is not taken; whoever takes it meanwhile is told so by the process. */
static void choose_name(char to[BACKUPS_PATH], const char *within)
{
	char when[32] = "";
	const time_t now = time(NULL);
	struct tm day;

	if (gmtime_r(&now, &day))
		strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &day);
	snprintf(to, BACKUPS_PATH, "%s/%s", within, when);
	for (int i = 2; i < NAMES && path_exists(to); i++)
		snprintf(to, BACKUPS_PATH, "%s/%s-%d", within, when, i);
}

bool backups_put(
	struct backups *backups, const char *folder, const char *within, char *to, struct job *job)
{
	bool put;

	pthread_mutex_lock(&backups->lock);
	put = !backups->busy && !backups->ending;
	/* A thread that is not busy needs the lock no more. */
	if (put && backups->started)
		pthread_join(backups->thread, NULL);
	if (put) {
		choose_name(to, within);
		backups->folder = folder;
		backups->to = to;
		backups->job = job;
		put = !pthread_create(&backups->thread, NULL, work, backups);
		backups->busy = backups->started = put;
	}
	pthread_mutex_unlock(&backups->lock);
	return put;
}

void backups_end(struct backups *backups)
{
	bool started;

	pthread_mutex_lock(&backups->lock);
	backups->ending = true;
	if (backups->child)
		kill(backups->child, SIGTERM);
	started = backups->started;
	backups->started = false;
	pthread_mutex_unlock(&backups->lock);
	if (started)
		pthread_join(backups->thread, NULL);
}

void backups_close(struct backups *backups)
{
	if (!backups)
		return;
	backups_end(backups);
	pthread_mutex_destroy(&backups->lock);
	mem_free(backups);
}
