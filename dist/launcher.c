/* What launchers leave in the environment. */
#include <stdlib.h>

#include "dist.h"

/* Open MPI's mpirun, PMI of MPICH and Slurm, and srun's own word for a step. */
static const char *const sizes[] = {
	"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS", NULL};

int dist_started(void)
{
	for (int i = 0; sizes[i]; i++) {
		const char *text = getenv(sizes[i]);

		if (text && *text)
			return atoi(text) > 1 ? atoi(text) : 1;
	}
	return 1;
}
