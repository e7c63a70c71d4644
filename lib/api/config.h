/* What a public configuration is made of, for those who make learners from it. */
#ifndef RETAIN_API_CONFIG_H
#define RETAIN_API_CONFIG_H

#include <retain.h>
#include "api/progress.h"
#include "base/options.h"
#include "session/config.h"

/* Whom a learner warns. */
struct warning {
	retain_warn_fn *warn; /* NULL: nobody */
	void *context;
};

struct retain_config {
	struct config *layers;
	struct options *defaults;
	struct options *now; /* what the layers make, for retain_config_get; NULL: not known yet */
	struct warning warning;
	struct progress progress;
};

/* Keys that nobody set, by what model.input says of the inputs (session/defaults.h). */
int api_config_fill(struct options *options, struct err *err);

#endif
