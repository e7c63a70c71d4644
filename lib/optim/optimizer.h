/*
 * Base optimizers over flat buffers: SGD with momentum and ADAM, as PyTorch
 * defines them. A step is one pass that reads the gradient and updates
 * parameters, state and, where asked, moving averages of the parameters.
 */
#ifndef RETAIN_OPTIM_OPTIMIZER_H
#define RETAIN_OPTIM_OPTIMIZER_H

#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "nn/engine.h"
#include "nn/kernels.h"

struct optimizer_config {
	const char *kind;      /* sgd or adam */
	float momentum, decay; /* decay is added to the gradient, as in PyTorch's SGD and Adam */
	float beta1, beta2, epsilon;
};

struct optimizer;

/* The settings of the paper: momentum 0.9, decay 1e-4; ADAM 0.9, 0.999, 1e-8 without decay. */
int optimizer_defaults(struct optimizer_config *config, const char *kind, struct err *err);

/* For parameters of `floats` numbers. The engine is borrowed. */
int optimizer_new(struct optimizer **optimizer, const struct optimizer_config *config, size_t floats,
	struct engine *engine, struct err *err);
void optimizer_free(struct optimizer *optimizer);

/* averages may be NULL. */
void optimizer_step(struct optimizer *optimizer, float *params, const float *grad, float rate,
	const struct average_step *averages);

/*
 * What must be kept to go on exactly where this one stands: the number of steps taken and `count`
 * buffers of the parameters' length, which may be read and written through the pointers.
 */
struct optimizer_state {
	uint64_t *steps;
	int count;
	const char *names[2];
	float *buffers[2];
};
struct optimizer_state optimizer_state(struct optimizer *optimizer);

#endif
