/*
 * What every test of the engine starts with: made-up numbers, memory that
 * notices when it is overrun or read before it is written, layouts, comparisons,
 * and rigs: a net with all it needs to run.
 */
#ifndef RETAIN_TESTS_NN_CHECK_H
#define RETAIN_TESTS_NN_CHECK_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "../base/check.h"
#include "nn/own/kernels.h"
#include "nn/runner.h"
#include "nn/own/tensor.h"

#define assert_ok(call, err)                                                                       \
	do {                                                                                       \
		if (call)                                                                          \
			fail_msg("%s: %s", #call, (err).message);                                  \
	} while (0)

/* Uniform in [-1, 1), a function of seed and place. */
void fill(float *values, size_t count, uint64_t seed);
void fill_labels(int32_t *labels, int count, int classes, uint64_t seed);

/*
 * Aligned floats, all NaN, between two guards. guarded_free fails the test if a
 * guard was touched; guarded_untouched says whether some of them still hold the
 * NaN they came with.
 */
float *guarded_new(size_t count);
void guarded_free(float *values);
bool guarded_untouched(const float *values, size_t count);

/* Guarded copies. */
float *guarded_copy(const float *values, size_t count);

/* A plain (n, channels, height, width) array to the tensor's layout: zeros where channels or planes
 * are padded, NaN where nobody should look. */
void tensor_put(const struct tensor *t, int block, const float *plain, float *data);
/* And back; fails the test if padded channels are not zero. */
void tensor_get(const struct tensor *t, int block, const float *data, float *plain);

/*
 * The largest |got - want| / size, where size is per element or, if NULL, the largest |want|.
 * Infinite where got is NaN and want is not.
 */
double worst(const float *got, const double *want, const double *size, size_t count);

/* The same for two float arrays: || got - want || / || want ||. */
double distance(const float *got, const float *want, size_t count);
double norm_of(const float *values, size_t count);

bool same_bits(const void *a, const void *b, size_t floats);

/* A net, an engine, a runner, a batch, and room for what comes out. */
struct rig {
	struct net *net;
	struct engine *engine;
	struct runner *runner;
	int n;
	size_t floats, stat_floats, sample; /* lengths: parameters, statistics, one input */
	int classes;
	float *params, *stats, *grad, *input, *losses, *logits;
	float loss;
	int32_t *labels;
};

struct rig_config {
	struct net_spec spec;
	struct engine_config engine;
	int micro, n;
	uint64_t seed;
	bool firm; /* norms' shifts keep ReLUs far from their kinks, half of them on either side */
};

/* All parameters are random, biases and norms, too: nothing hides behind a zero or a one. */
void rig_open(struct rig *rig, const struct rig_config *config);
void rig_close(struct rig *rig);

/* The batch of samples [first, first + n). weights may be NULL. */
struct runner_batch rig_batch(const struct rig *rig, int first, int n, const float *weights);

/* runner_gradient over the whole batch into the rig's own buffers. */
void rig_gradient(struct rig *rig);
void rig_learn(struct rig *rig, int steps); /* by SGD */

#endif
