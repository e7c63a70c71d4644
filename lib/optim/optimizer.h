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
	float decay;      /* this times the parameters is added to the gradient, as PyTorch does */
	float kappa;      /* above 0: the decay follows the pool instead; see optimizer_segments */
	float beta1, beta2, epsilon; /* adam */
	float r, beta;               /* schedule-free */
};

struct optimizer;

/*
 * A kind's usual settings. SGD: momentum 0.9, decay 1e-4, as in the paper. ADAM: 0.9,
 * 0.999, 1e-8, no decay. Schedule-free: r 8, beta 0.9, decay 1e-4.
 */
int optimizer_defaults(struct optimizer_config *config, const char *kind, struct err *err);

/* What the optimizer.* keys say. */
void optimizer_config(struct optimizer_config *config, const struct options *options);

/* For `floats` parameters. The engine is borrowed and must outlive the optimizer. */
int optimizer_new(struct optimizer **optimizer, const struct optimizer_config *config,
	size_t floats, struct engine *engine, struct err *err);
void optimizer_free(struct optimizer *optimizer);

/*
 * Pool-scaled decay, a prior that counts for less the more was seen. In a step, what
 * times the parameters is added to the gradient is min(0.1, kappa * inputs / samples):
 * `inputs` is how many numbers an output of the segment is a sum of, 0 for what does
 * not decay, such as biases; `samples` is how many can be drawn from the pool, 0 unless
 * told. The segments follow one another from 0 to the last parameter and are copied.
 * Without kappa they are needed only where one has a rate of its own, or is frozen.
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
 * One step. averages, from average_due, may be NULL. Of several processes each steps in its own
 * slices (nn/slices.h) of parameters, gradient and averages, and its buffers are as long as
 * these; the caller gathers what others must see. The same slice by slice, in any order:
 * optimizer_begin, then every own slice once.
 */
void optimizer_step(struct optimizer *optimizer, float *params, const float *grad, float rate,
	const struct average_step *averages);
void optimizer_begin(struct optimizer *optimizer);
void optimizer_step_slice(struct optimizer *optimizer, float *params, const float *grad, float rate,
	const struct average_step *averages, const struct slice *slice);

/* Forgets all steps: the next one is a first step, whatever parameters it is given. */
void optimizer_restart(struct optimizer *optimizer);

/*
 * The parameters to predict with, if they are not the trained ones: schedule-free SGD
 * takes gradients at one point and predicts with another. NULL: the trained ones, as
 * always before the first step. The buffer is the optimizer's; every step changes it. It
 * is what this process keeps (nn/slices.h).
 */
const float *optimizer_inference(const struct optimizer *optimizer);

/*
 * One of the optimizer's own buffers, as long as the parameters: momentum (sgd), mean
 * and square (adam), z and x (schedule-free). NULL if the kind has none of that name.
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
