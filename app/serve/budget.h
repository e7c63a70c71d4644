/*
 * The memory that clients may make a service take: bodies that are still arriving, inputs,
 * answers that nobody has read yet, buffers of lines. All draw on one sum, serve.memory, and who
 * would go beyond it is told to come back. What learners need themselves is not in it.
 */
#ifndef RETAIN_SERVE_BUDGET_H
#define RETAIN_SERVE_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget {
	_Atomic int64_t used;
	int64_t most; /* bytes; 0: there is no bound */
};

/*
 * From any thread. *held is what the caller has, and becomes `wanted`. False: there is not as
 * much, and the caller has what it had; less is always to be had.
 */
bool budget_hold(struct budget *budget, int64_t *held, int64_t wanted);

/* How much answers to these lines may take, if those that say nothing else want `top` classes. */
int64_t budget_answers(const char *lines, size_t size, int top);

#endif
