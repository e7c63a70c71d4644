/*
 * The row of a kind of optimizer: its defaults, its buffers, and a step of one slice of the flat
 * buffers. For optimizer.c and the files of the kinds.
 */
#ifndef RETAIN_OPTIM_OPTIMIZER_TYPE_H
#define RETAIN_OPTIM_OPTIMIZER_TYPE_H

#include "nn/vectors.h"
#include "optim/optimizer.h"

enum { OPTIMIZER_BUFFERS = 2 };

struct optimizer {
	const struct optimizer_type *type;
	struct optimizer_config config;
	struct engine *engine;
	size_t floats;
	size_t count;   /* of the floats that this process keeps */
	uint64_t steps; /* started so far: 1 during the first */
	float *buffers[OPTIMIZER_BUFFERS];
	struct optimizer_segment *segments; /* pool-scaled decay; NULL: config.decay everywhere */
	int segment_count;
	double samples; /* of the pool */
};

/* A range with one decay; pointers are to its first float. */
struct optimizer_slice {
	const struct optimizer *optimizer;
	size_t first; /* its offset among all parameters */
	float *params;
	const float *grad;
	float *buffers[OPTIMIZER_BUFFERS];
	size_t count;
	float rate, decay;
	struct average_step averages;
};

struct optimizer_type {
	const char *name, *help;
	struct optimizer_config defaults;
	const char *buffers[OPTIMIZER_BUFFERS]; /* their names; NULL after the last */
	const char *inference;                  /* the buffer to predict with; NULL: none */
	/* How much of the distance to the trained parameters that buffer went in the last step. */
	double (*approach)(const struct optimizer *optimizer);
	bool program; /* a program makes the steps, for all parameters at once */
	void (*step)(const struct optimizer_slice *slice);
};

extern const struct optimizer_type optimizer_sgd, optimizer_adam, optimizer_schedule_free,
	optimizer_program;

#endif
