/* A build without MPI always runs as a single process. */
#include <stdlib.h>

#include "dist.h"

int dist_open(struct ranks **ranks, const char *version, struct err *err)
{
	*ranks = NULL;
	if (dist_started() == 1)
		return 0;
	return err_set(err, ERR_INPUT,
		"%d processes were started, and this retain is built without MPI, so each would "
		"make the whole run; build it by ./bootstrap mpi",
		dist_started());
}

void dist_patience(struct ranks *ranks, double seconds)
{
}

void dist_close(struct ranks *ranks)
{
}

void dist_abort(struct ranks *ranks, int status)
{
	exit(status);
}
