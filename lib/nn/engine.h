/*
 * The compute device: an instruction set, a team of threads, and the choice of convolution
 * algorithm. An engine serves one caller at a time.
 */
#ifndef RETAIN_NN_ENGINE_H
#define RETAIN_NN_ENGINE_H

#include "base/err.h"
#include "base/team.h"

struct kernels;
struct ops;
struct ranks;
struct vectors;

struct engine_config {
	const char *isa; /* auto, avx512, avx2, baseline; NULL: auto */
	const char
		*conv; /* auto, own (no oneDNN), direct (no Winograd either), onednn; NULL: auto */
	int threads;   /* 0: one per processor */
	struct ranks *ranks;     /* cooperating processes (nn/ranks/ranks.h); NULL: one */
	struct vectors *vectors; /* kept by a program (nn/vectors.h), borrowed; NULL: memory */
};

struct engine {
	const struct kernels *kernels;
	const struct ops *ops;             /* nn/ops.h */
	const struct conv_algorithm *conv; /* NULL: choose by shape */
	struct team *team;
	struct ranks *ranks;     /* NULL: one process */
	struct vectors *vectors; /* NULL: in memory */
};

int engine_new(struct engine **engine, const struct engine_config *config, struct err *err);
void engine_free(struct engine *engine);
const char *engine_isa(const struct engine *engine);

/* Measures the multiply-add peak of the engine's threads together, in GFLOP/s. */
double engine_peak(struct engine *engine);

#endif
