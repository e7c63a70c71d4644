/*
 * Optimizers over flat buffers. A step is one pass that reads the gradient and updates
 * the parameters, the optimizer's own buffers and, if asked, moving averages. Kinds
 * are rows of optimizer_types, one file each: SGD with momentum and ADAM as PyTorch
 * defines them, and schedule-free SGD.
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
#include "nn/ops.h"
#include "nn/slices.h"

struct optimizer_config {
	const char *kind; /* sgd, adam, schedule-free; borrowed until optimizer_new returns */
	float momentum;   /* sgd */
	float decay; /* L2: this times the parameters is added to the gradient, as in PyTorch */
	float kappa; /* above 0: pool-scaled decay instead; see optimizer_segments */
	float beta1, beta2, epsilon; /* adam */
	float r, beta;               /* schedule-free */
};

struct optimizer;

/*
 * A kind's defaults. SGD: momentum 0.9, decay 1e-4, as in the paper. ADAM: 0.9, 0.999, 1e-8, no
 * decay. Schedule-free: r 8, beta 0.9, decay 1e-4.
 */
int optimizer_defaults(struct optimizer_config *config, const char *kind, struct err *err);

/* From the optimizer.* keys. */
void optimizer_config(struct optimizer_config *config, const struct options *options);

/* For `floats` parameters. The engine is borrowed and must outlive the optimizer. */
int optimizer_new(struct optimizer **optimizer, const struct optimizer_config *config,
	size_t floats, struct engine *engine, struct err *err);
void optimizer_free(struct optimizer *optimizer);

/*
 * Pool-scaled decay, a prior that fades as samples accumulate. In each step, min(0.1, kappa *
 * inputs / samples) times the parameters is added to the gradient. `inputs` is the fan-in of the
 * segment's outputs, 0 for parameters that do not decay, such as biases; `samples` is how many
 * can be drawn from the pool, 0 until set. The segments cover 0 to the last parameter in order
 * and are copied. Without kappa they are needed only for segments that are frozen or have their
 * own rate.
 */
struct optimizer_segment {
	size_t first;
	double inputs;
	float factor; /* of the rate; 0: 1 */
	bool frozen;  /* neither steps nor decay */
};
int optimizer_segments(struct optimizer *optimizer, const struct optimizer_segment *segments,
	int count, struct err *err);
void optimizer_samples(struct optimizer *optimizer, int64_t samples);

/*
 * One step. averages, from average_due, may be NULL. With several processes each steps its own
 * slices (nn/slices.h) of parameters, gradient and averages, and has buffers of that length; the
 * caller gathers the results. To step slice by slice, in any order: optimizer_begin, then
 * optimizer_step_slice once for every own slice.
 */
void optimizer_step(struct optimizer *optimizer, float *params, const float *grad, float rate,
	const struct average_step *averages);
void optimizer_begin(struct optimizer *optimizer);
void optimizer_step_slice(struct optimizer *optimizer, float *params, const float *grad, float rate,
	const struct average_step *averages, const struct slice *slice);

/* Resets all state: the next step is a first step, for any parameters. */
void optimizer_restart(struct optimizer *optimizer);

/*
 * The parameters to predict with, if they are not the trained ones: schedule-free SGD takes
 * gradients at one point and predicts with another. NULL: the trained ones, as always before the
 * first step. The buffer belongs to the optimizer and changes with every step. It holds this
 * process's slices (nn/slices.h).
 */
const float *optimizer_inference(const struct optimizer *optimizer);

/*
 * Of the distance to the trained parameters after the last step, the share that those to predict
 * with went in that step: 0 to 1.
 */
double optimizer_approach(const struct optimizer *optimizer);

/*
 * One of the optimizer's own buffers, as long as the parameters: momentum (sgd), mean
 * and square (adam), z and x (schedule-free). NULL if the kind has none of that name.
 */
const float *optimizer_buffer(const struct optimizer *optimizer, const char *name);

void optimizer_state(struct optimizer *optimizer, struct state *state);

/* Properties of a kind that others depend on. The kind must exist. */
struct optimizer_traits {
	bool program; /* only a program that keeps the vectors has it */
	bool averages; /* it does its own averaging, and predicts with the average: optimizer_inference */
};
struct optimizer_traits optimizer_traits(const char *kind);

struct optimizer_type;
extern const struct optimizer_type *const optimizer_types[]; /* ends with NULL */
const char *optimizer_type_name(const struct optimizer_type *type);
const char *optimizer_type_help(const struct optimizer_type *type);

/* optimizer.* keys. Ends with a row without a section. */
extern const struct option_row optimizer_options[];

#endif
