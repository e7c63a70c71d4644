/*
 * Base optimizers over flat buffers. A step is one pass that reads the gradient
 * and updates parameters, state and, where asked, moving averages of the
 * parameters. Kinds are rows of optimizer_types, one file each: SGD with
 * momentum and ADAM as PyTorch defines them, and schedule-free SGD.
 */
#ifndef RETAIN_OPTIM_OPTIMIZER_H
#define RETAIN_OPTIM_OPTIMIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/options.h"
#include "base/state.h"
#include "nn/engine.h"
#include "nn/kernels.h"

struct optimizer_config {
	const char *kind;            /* sgd, adam, schedule-free; borrowed until optimizer_new */
	float momentum;              /* sgd */
	float decay;                 /* added to the gradient, as in PyTorch's SGD and Adam */
	float beta1, beta2, epsilon; /* adam */
	float r, beta;               /* schedule-free */
};

struct optimizer;

/*
 * What a kind is used with where nobody says otherwise. SGD: the paper's momentum 0.9, decay 1e-4;
 * ADAM: 0.9, 0.999, 1e-8 without decay; schedule-free: r 8, beta 0.9, decay 1e-4.
 */
int optimizer_defaults(struct optimizer_config *config, const char *kind, struct err *err);

/* What the optimizer.* keys say. */
void optimizer_config(struct optimizer_config *config, const struct options *options);

/* For parameters of `floats` numbers. The engine is borrowed. */
int optimizer_new(struct optimizer **optimizer, const struct optimizer_config *config,
	size_t floats, struct engine *engine, struct err *err);
void optimizer_free(struct optimizer *optimizer);

/* averages may be NULL. */
void optimizer_step(struct optimizer *optimizer, float *params, const float *grad, float rate,
	const struct average_step *averages);

/* Forgets everything: the next step is a first one, from whatever parameters it is given. */
void optimizer_restart(struct optimizer *optimizer);

/*
 * The parameters to predict with, where they are others than those that are trained: schedule-free
 * SGD takes its gradients at one point and offers another. NULL: the trained ones, which is always
 * so before the first step. The buffer belongs to the optimizer and changes with every step.
 */
const float *optimizer_inference(const struct optimizer *optimizer);

/*
 * A buffer of the optimizer's memory by its name, of the parameters' length: momentum (sgd), mean
 * and square (adam), z and x (schedule-free). NULL if the kind has no such buffer.
 */
const float *optimizer_buffer(const struct optimizer *optimizer, const char *name);

void optimizer_state(struct optimizer *optimizer, struct state *state);

/* What a kind means for what is around it. The kind must exist. */
struct optimizer_traits {
	bool averages; /* it averages by itself, and predicts with that: optimizer_inference */
};
struct optimizer_traits optimizer_traits(const char *kind);

struct optimizer_type;
extern const struct optimizer_type *const optimizer_types[]; /* ends with NULL */
const char *optimizer_type_name(const struct optimizer_type *type);
const char *optimizer_type_help(const struct optimizer_type *type);

/* optimizer.* keys. Ends with a row without a section. */
extern const struct option_row optimizer_options[];

#endif
