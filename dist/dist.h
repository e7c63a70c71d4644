/*
 * Processes that mpirun or srun started, as ranks (nn/ranks/ranks.h). Of MPI only dist_mpi.c
 * knows. A build without MPI has dist_none.c instead, which refuses to be one of several.
 */
#ifndef RETAIN_DIST_DIST_H
#define RETAIN_DIST_DIST_H

#include <stdbool.h>

#include "base/err.h"
#include "nn/ranks/ranks.h"

/* How many processes a launcher says it started with this one; 1 without a launcher. */
int dist_started(void);

/* Whether the launcher told this process which of them it is; without that MPI finds nobody. */
bool dist_introduced(void);

/* Refuses: processes of one launcher that cannot see each other. */
int dist_alone(struct err *err);

/*
 * Meets the others. *ranks is NULL if nobody started this process as one of several, which
 * costs nothing. Refuses ranks of other versions and, since it would be N times the same
 * run, processes of one launcher that cannot see each other (ERR_INPUT). Ranks live until
 * dist_close.
 */
int dist_open(struct ranks **ranks, const char *version, struct err *err);

/* After so many seconds in a call a rank that does not answer ends all. */
void dist_patience(struct ranks *ranks, double seconds);

/*
 * The end, in good order: all ranks call it. If some are elsewhere (ranks->lost), dist_abort
 * ends all of them with this exit code.
 */
void dist_close(struct ranks *ranks);
_Noreturn void dist_abort(struct ranks *ranks, int status);

#endif
