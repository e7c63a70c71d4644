/*
 * A thread pool whose results do not depend on the number of threads. Work is cut into tasks by
 * what it computes, never by how many threads there are, and every task owns what it writes. So
 * it does not matter which thread takes a task. Each thread starts on its own contiguous share
 * and then steals from the others.
 *
 * A team serves one caller at a time; two nets on two threads use two teams.
 */
#ifndef RETAIN_BASE_TEAM_H
#define RETAIN_BASE_TEAM_H

#include "base/err.h"

struct team;

/* `task` is 0 to tasks-1; `worker`, 0 to team_size-1, selects scratch memory. */
typedef void team_fn(void *context, int task, int worker);

int team_new(struct team **team, int threads, struct err *err);
void team_free(struct team *team);
int team_size(const struct team *team);

/*
 * Runs all tasks and returns when they are done. The caller works too (worker 0). No allocation.
 * Tasks run with denormals flushed to 0.
 */
void team_run(struct team *team, int tasks, team_fn *fn, void *context);

#endif
