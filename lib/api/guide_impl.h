/* A public guide, for the record of what it decided. */
#ifndef RETAIN_API_GUIDE_IMPL_H
#define RETAIN_API_GUIDE_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include "optim/scoring.h"

struct retain_guide {
	struct schedule *schedule;
	struct average *average;
	struct scoring scoring;
	int64_t iteration; /* complete */
	int64_t validate_every, statistics_every;
	bool serve_plain;
};

#endif
