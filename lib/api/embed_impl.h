/* What the two halves of retain.h share: configurations and learners. */
#ifndef RETAIN_API_EMBED_IMPL_H
#define RETAIN_API_EMBED_IMPL_H

#include <assert.h>

#include <retain.h>
#include "base/err.h"
#include "run/config.h"

/* The public error is the internal one under another name. */
static_assert(sizeof(struct retain_err) == sizeof(struct err), "errors have one form");

static inline struct err *inner(struct retain_err *err)
{
	return (struct err *)err;
}

/* Whom a learner warns. */
struct warning {
	retain_warn_fn *warn; /* NULL: nobody */
	void *context;
};

struct retain_config {
	struct config *layers;
	struct warning warning;
};

/* Who did not look at what retain_config_new gave learns of it by this error. */
int config_missing(struct retain_err *err);

#endif
