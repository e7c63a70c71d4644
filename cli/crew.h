/*
 * `mpirun -n 8 retain run ...`: rank 0 is the command, and the others follow its learner. Without
 * a launcher all of this does nothing.
 */
#ifndef RETAIN_CLI_CREW_H
#define RETAIN_CLI_CREW_H

#include <stdbool.h>

#include "base/options.h"

struct learner_peers;

/*
 * Call before the verb, which may support sharing or not. Returns true if this process should
 * continue with it. Other ranks are finished when this returns, with *status.
 */
bool crew_begin(const char *verb, bool shares, int *status);

/*
 * The peers that share the work of these options; NULL: none. Call once per verb. anyway: even if
 * one process would be faster.
 */
struct learner_peers *crew_lead(const struct options *options, bool anyway);

/* Call after the verb. Returns its argument. */
int crew_end(int status);

#endif
