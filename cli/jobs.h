/*
 * Child processes that run this program in parallel. A child runs the same binary in its own
 * process group: Ctrl-C reaches it only through us, once, so that it saves and ends cleanly. If
 * we are killed, it is told to stop, too.
 */
#ifndef RETAIN_CLI_JOBS_H
#define RETAIN_CLI_JOBS_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct job {
	pid_t pid;        /* 0: not running */
	FILE *complaints; /* its standard error */
	int status;       /* after its end: an exit code, or 128 plus the signal that killed it */
};

/* words[0] is "retain" and words end with NULL. Returns an exit code, after an error message. */
int job_start(struct job *job, const char *const words[]);

/* True if the job has ended (and then it is no longer running). */
bool job_ended(struct job *job);

/* Its last error line with words in it, without "retain: "; "" if there is none. Frees nothing. */
void job_message(const struct job *job, char *out, size_t size);

/* Forwards a signal. */
void job_signal(const struct job *job, int signal);

/* Releases a job that has ended. */
void job_release(struct job *job);

/* Starts counting stop signals; 0: none so far. */
void jobs_watch_signals(void);
int jobs_signal(void);       /* the last one */
int jobs_signal_count(void); /* how many */

void jobs_pause(double seconds);

#endif
