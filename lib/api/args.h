/*
 * Argument checks of public functions: once, at the beginning, by
 *
 *	int code = ARGS_CHECK(err, ARG(learner), ARG(ticket));
 *
 * which rejects the first that is NULL, naming function and argument.
 */
#ifndef RETAIN_API_ARGS_H
#define RETAIN_API_ARGS_H

#include <assert.h>

#include <retain.h>
#include "base/err.h"

struct arg {
	const char *name; /* NULL: end of the list */
	const void *value;
};

#define ARG(argument)                                                                              \
	{                                                                                          \
#argument, argument                                                                \
	}
#define ARGS_CHECK(err, ...)                                                                       \
	args_check(__func__, (const struct arg[]){__VA_ARGS__, {0}}, inner(err))

int args_check(const char *function, const struct arg *args, struct err *err);

/* The public error is the internal one under another name. */
static_assert(sizeof(struct retain_err) == sizeof(struct err), "errors have one form");

static inline struct err *inner(struct retain_err *err)
{
	return (struct err *)err;
}

#endif
