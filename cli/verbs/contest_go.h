/* Makes all runs of a contest that are not made yet, side by side, under the user's eyes. */
#ifndef RETAIN_CLI_CONTEST_GO_H
#define RETAIN_CLI_CONTEST_GO_H

#include "contest/contest.h"

struct contest_watch {
	const char *label; /* before the progress bar */
	int jobs;          /* runs at a time; 0: as many as processors, over threads */
	int threads;       /* of a run; 0: one, or what fits the net if runs go one by one */
	bool quiet;        /* no progress */
	bool mute;         /* failures are for the caller to complain about */
};

/*
 * Never uses more threads than there are processors; asking for more is an error.
 * Returns EXIT_OK, or EXIT_STOPPED plus the signal that stopped it after all runs
 * were saved, or EXIT_FAILED if some runs failed: the others are made all the
 * same, and the failures are complained about, unless mute, and remembered in the contest.
 */
int contest_go(struct contest *contest, const struct contest_watch *watch);

#endif
