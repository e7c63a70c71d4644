/*
 * `mpirun -n 8 retain run ...`: rank 0 is the command, and the others follow what its learner
 * does. Without a launcher all of this is nothing.
 */
#ifndef RETAIN_CLI_CREW_H
#define RETAIN_CLI_CREW_H

#include <stdbool.h>

#include "base/options.h"

struct learner_peers;

/*
 * Before the verb, which can share its work or not. Returns 0 if this process is to go on with
 * it. Others are done when this returns, with *status.
 */
bool crew_begin(const char *verb, bool shares, int *status);

/*
 * Those who share what these options say; NULL: nobody. For a verb, once. anyway: even if
 * one process would be faster.
 */
struct learner_peers *crew_lead(const struct options *options, bool anyway);

/* After the verb. Returns what it is given. */
int crew_end(int status);

#endif
