/* Environment variables set by launchers. */
#include <stdlib.h>

#include "dist.h"

/* Open MPI's mpirun, PMI of MPICH and Slurm, and srun's own word for a step. */
static const char *const sizes[] = {
	"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS", NULL};

/* How a process learns which of them it is, so that MPI can find the others. */
static const char *const introductions[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", NULL};

bool dist_introduced(void)
{
	for (int i = 0; introductions[i]; i++)
		if (getenv(introductions[i]))
			return true;
	return false;
}

int dist_alone(struct err *err)
{
	return err_set(err, ERR_INPUT,
		"%d processes were started, but each is alone, so each would make the whole run: "
		"MPI and the launcher do not know each other; try srun --mpi=pmix, or mpirun",
		dist_started());
}

int dist_started(void)
{
	for (int i = 0; sizes[i]; i++) {
		const char *text = getenv(sizes[i]);

		if (text && *text)
			return atoi(text) > 1 ? atoi(text) : 1;
	}
	return 1;
}
