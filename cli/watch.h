/* Runs with user interaction: the progress line, warnings, and Ctrl-C. */
#ifndef RETAIN_CLI_WATCH_H
#define RETAIN_CLI_WATCH_H

#include "session/run/run.h"

struct stored_probe;

struct watch {
	const struct options *options; /* must outlive the watch */
	const char *name;              /* shown before the progress bar and in the report */
	const char *folder;            /* NULL: nothing is written */
	enum run_start start;          /* what to do with a folder that holds a run */
	bool quiet;                    /* no progress; warnings are shown */
	bool calm;                     /* no warnings */
	bool describe;                 /* print a line to standard output about the run to come */
	struct learner_peers *peers;   /* that share the work; NULL: none */
	bool live; /* standard input is the stream, standard output is only for answers */
	const struct stored_probe *probe; /* looks at a stored run on its way; NULL: none */
	const char *feed; /* ... or this file is, and answers are discarded; NULL or "-": no */
	/* Other options, where the first label of a stream shows that it is a number; NULL: none. */
	int (*numbers)(void *context, const struct options **options, struct err *err);
	void *context; /* of numbers */
};

/* The result of a run, and what only some kinds of runs report. */
struct watch_result {
	struct run_result run;
	int64_t skipped;          /* of stored data: samples that could not be read, */
	double waited;            /* ... and seconds that this process waited for it */
	int64_t lines, bad_lines; /* of a live stream, */
	bool useless;             /* ... of which this time no line could be taken */
};

/*
 * Executes a run and, if it has a folder, writes its page. Prints errors. Returns an exit code:
 * EXIT_STOPPED after Ctrl-C.
 */
int watch_run(const struct watch *watch, struct watch_result *result);

/*
 * From here on the first Ctrl-C asks a run to stop after its time step; the second kills it at
 * once.
 */
void watch_interrupts(void);

/* Set once Ctrl-C was seen. */
const volatile sig_atomic_t *watch_stop(void);

#endif
