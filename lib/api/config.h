/* Internals of a public configuration, for code that creates learners from it. */
#ifndef RETAIN_API_CONFIG_H
#define RETAIN_API_CONFIG_H

#include <retain.h>
#include "api/progress.h"
#include "base/options.h"
#include "nn/foreign/foreign.h"
#include "session/config/config.h"

/* The warning callback of a learner. */
struct warning {
	retain_warn_fn *warn; /* NULL: none */
	void *context;
};

struct retain_config {
	struct config *layers;
	struct options *defaults;
	struct options *now; /* the merged layers, for retain_config_get; NULL: not computed yet */
	struct warning warning;
	struct progress progress;
	struct net_maker maker;
};

/* The merged layers alone; NULL: all defaults. */
int api_config_options(
	struct options **options, const struct retain_config *config, struct err *err);

/* Fills in unset keys by the value of model.input (session/config/defaults.h). */
int api_config_fill(struct options *options, struct err *err);

#endif
