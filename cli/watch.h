/* A run under the user's eyes: the progress line, warnings, and Ctrl-C. */
#ifndef RETAIN_CLI_WATCH_H
#define RETAIN_CLI_WATCH_H

#include "session/run.h"

struct watch {
	const struct options *options; /* as long as the watch */
	const char *name;              /* before the progress bar and in the report */
	const char *folder;            /* NULL: nothing is written */
	enum run_start start;          /* what to do with a folder that holds a run */
	bool quiet;                    /* no progress; warnings are shown */
	bool calm;                     /* no warnings */
	bool describe;                 /* a line on standard output says what is to come */
	struct learner_peers *peers;   /* that share the work; NULL: none */
	bool live; /* standard input is the stream, standard output is for answers alone */
	const char
		*feed; /* ... or this file is, and nobody waits for answers; NULL or "-": not so */
};

/* What a run came to, and what only one kind of runs has to tell. */
struct watch_result {
	struct run_result run;
	int64_t skipped;          /* of stored data: samples that could not be read, */
	double waited;            /* ... and seconds that this process waited for it */
	int64_t lines, bad_lines; /* of a live stream */
};

/*
 * Goes through a run and, where it has a folder, writes its page. An error is
 * complained about. Returns an exit code: EXIT_STOPPED after Ctrl-C.
 */
int watch_run(const struct watch *watch, struct watch_result *result);

/*
 * From here on the first Ctrl-C asks a run to stop after its time step; the second ends it at
 * once.
 */
void watch_interrupts(void);

/* Set once Ctrl-C was seen. */
const volatile sig_atomic_t *watch_stop(void);

#endif
