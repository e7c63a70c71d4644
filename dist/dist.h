/*
 * Processes started by mpirun or srun, as ranks (nn/ranks/ranks.h). Only dist_mpi.c knows MPI. A
 * build without MPI has dist_none.c instead, which refuses to be one of several.
 */
#ifndef RETAIN_DIST_DIST_H
#define RETAIN_DIST_DIST_H

#include <stdbool.h>

#include "base/err.h"
#include "nn/ranks/ranks.h"

/* The number of processes that the launcher started, this one included; 1 without a launcher. */
int dist_started(void);

/* Whether the launcher told this process its rank; without it MPI cannot connect. */
bool dist_introduced(void);

/* Fails: processes of one launcher cannot see each other. */
int dist_alone(struct err *err);

/*
 * Connects to the other ranks. *ranks is NULL if this process was not started as one of several,
 * which costs nothing. Rejects ranks of other versions and, since it would be N times the same
 * run, processes of one launcher that cannot see each other (ERR_INPUT). Ranks live until
 * dist_close.
 */
int dist_open(struct ranks **ranks, const char *version, struct err *err);

/* Sets the timeout: a rank that does not answer for this many seconds in a call ends all. */
void dist_patience(struct ranks *ranks, double seconds);

/*
 * Clean shutdown: all ranks call it. If some are elsewhere (ranks->lost), dist_abort ends all of
 * them with this exit code.
 */
void dist_close(struct ranks *ranks);
_Noreturn void dist_abort(struct ranks *ranks, int status);

#endif
