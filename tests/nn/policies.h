/* What engine.conv may be. The last needs oneDNN, which some builds and blocks lack. */
#ifndef RETAIN_TESTS_NN_POLICIES_H
#define RETAIN_TESTS_NN_POLICIES_H

#include "nn/own/kernels.h"
#include "nn/own/onednn.h"

static const char *const policies[] = {"auto", "own", "direct", "onednn"};

static inline size_t policies_of(const struct kernels *kernels)
{
	return COUNT(policies) - (onednn_speed(kernels->block) == ONEDNN_NONE);
}

#endif
