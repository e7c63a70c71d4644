/*
 * Ranks that are threads of one process, for tests: whatever ranks do, they must do with the
 * same bits and without MPI, too.
 */
#ifndef RETAIN_TESTS_NN_THREAD_RANKS_H
#define RETAIN_TESTS_NN_THREAD_RANKS_H

#include "nn/ranks/ranks.h"

/* Runs `fn` on so many ranks at a time and returns when all of them have. */
typedef void thread_ranks_fn(struct ranks *ranks, void *context);
void thread_ranks(int count, thread_ranks_fn *fn, void *context);

#endif
