/*
 * The memory that clients may make a service use: bodies still arriving, inputs, unread answers,
 * line buffers. All share one limit, serve.memory; requests beyond it are told to retry. The
 * learners' own memory is not included.
 */
#ifndef RETAIN_SERVE_BUDGET_H
#define RETAIN_SERVE_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget {
	_Atomic int64_t used;
	int64_t most; /* bytes; 0: unlimited */
};

/*
 * Thread-safe. Changes *held, the caller's reservation, to `wanted`. False: not available, and
 * *held is unchanged; shrinking always succeeds.
 */
bool budget_hold(struct budget *budget, int64_t *held, int64_t wanted);

/* An upper bound of the answers' size for these lines, if the default is `top` classes. */
int64_t budget_answers(const char *lines, size_t size, int top);

#endif
