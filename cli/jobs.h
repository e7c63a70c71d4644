/*
 * Runs of this program, side by side. A child is a process of the same binary in
 * a process group of its own: Ctrl-C reaches it only through us, once, so that it
 * saves and ends in good order. If we are killed, it is told to stop, too.
 */
#ifndef RETAIN_CLI_JOBS_H
#define RETAIN_CLI_JOBS_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct job {
	pid_t pid;        /* 0: not running */
	FILE *complaints; /* what it writes to standard error */
	int status;       /* after its end: an exit code, or 128 plus the signal that ended it */
};

/* words[0] is "retain" and words end with NULL. Returns an exit code, after a complaint. */
int job_start(struct job *job, const char *const words[]);

/* True if the job has ended (and then it is no longer running). */
bool job_ended(struct job *job);

/* The last line it complained with, without "retain: "; "" if there is none. Frees nothing. */
void job_message(const struct job *job, char *out, size_t size);

/* Passes a signal on. */
void job_signal(const struct job *job, int signal);

/* Gives back what a job that ended holds. */
void job_release(struct job *job);

/* From here on the signals that ask to stop are counted; 0: none came. */
void jobs_watch_signals(void);
int jobs_signal(void);       /* the last one */
int jobs_signal_count(void); /* how many */

/* Processors that this process may use. */
int jobs_processors(void);

void jobs_pause(double seconds);

#endif
