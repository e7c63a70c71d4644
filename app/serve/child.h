/*
 * Processes that the service starts: backups, exports and alarms. A child has the default signals, a process
 * group of its own, and this process's environment, without what would make it a rank of an MPI job.
 */
#ifndef RETAIN_SERVE_CHILD_H
#define RETAIN_SERVE_CHILD_H

#include <sys/types.h>

/*
 * Starts a program, looked up in PATH unless its name has a slash. Its standard input is a
 * descriptor, or empty if that is negative; its output goes to another, or nowhere; its errors go to
 * `complaints`. Returns 0 or an errno.
 */
int child_start(pid_t *child, const char *program, const char *const words[], int input, int output,
	int complaints);

/* Reads what the child complains about until it closes the pipe: one line, cut at 511 bytes. */
void child_hear(int complaints, char words[512]);
void child_line(
	char words[512], size_t size); /* makes one line of bytes that were read otherwise */

#endif
