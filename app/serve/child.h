/*
 * Processes that the service starts: backups, exports, alarms, curl. A child has the default signals,
 * a process group of its own, and this process's environment, without what would make it a rank of an
 * MPI job.
 */
#ifndef RETAIN_SERVE_CHILD_H
#define RETAIN_SERVE_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/text.h"

/*
 * Starts a program, looked up in PATH unless its name has a slash. Its standard input is a
 * descriptor, or empty if that is negative; its output goes to another, or nowhere; its errors go to
 * `complaints`. Returns 0 or an errno.
 */
int child_start(pid_t *child, const char *program, const char *const words[], int input, int output,
	int complaints);

/* Reads what the child complains about until it closes the pipe: one line, cut at 511 bytes. */
void child_hear(int complaints, char words[512]);

/*
 * Runs a program to its end, with these bytes as its standard input; true: it ended well. It is
 * terminated, with all that it has started, at the time that `latest` says of its start, and killed a
 * second later. `complaint` is what it said, cut as above, or why it could not be started.
 */
bool child_run(const char *const words[], const struct text *input,
	double (*latest)(void *context, double start), void *context, char complaint[512]);

#endif
