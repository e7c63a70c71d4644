/* What `retain compare` can tell before it runs anything. */
#ifndef RETAIN_CLI_COMPARE_PLAN_H
#define RETAIN_CLI_COMPARE_PLAN_H

#include "contest/contest.h"

/* All experiments, their scales, and what data each needs. Returns an exit code. */
int compare_list(void);

/*
 * Which runs there are, how they stand, and what those that are missing will cost on this
 * machine, which is timed for this many seconds (0: not at all). Returns an exit code.
 */
int compare_plan(const struct contest *contest, double seconds);

#endif
