/* What a plan is made of: shared by the files that make it (plan.c) and run it (plan_run.c, plan_dense.c). */
#ifndef RETAIN_NN_PLAN_PLAN_IMPL_H
#define RETAIN_NN_PLAN_PLAN_IMPL_H

#include "nn/conv/conv.h"
#include "nn/layer.h"
#include "nn/plan/lifetimes.h"
#include "nn/norm.h"
#include "nn/plan/plan.h"

/* A value of the net: its layout and where its numbers and gradients lie (rows of plan->buffers). */
struct value {
	struct tensor tensor;
	int data;
	int grad[2]; /* from its consumers, to be added */
	int grads;
};

struct step {
	const struct layer *layer;
	struct conv conv; /* convolution, dense */
	struct norm norm;
	struct pool_shape pool;
	int output;                 /* the value it writes: a folded norm's where one is fused */
	const struct layer *folded; /* the norm this convolution also computes */
	bool skip;                  /* a norm that was folded */
	int extra;    /* buffer: ReLU bits of a join, or the winners of a max pool; -1: none */
	int join, dx; /* buffers of the backward pass; -1: none */
	float *fold_scale, *fold_shift;
	float *bias_grad; /* padded */
};

struct plan {
	const struct net *net;
	struct engine *engine;
	const struct kernels *kernels;
	struct team *team;
	int n;
	enum plan_mode mode;
	struct arena arena;
	struct lifetimes buffers;
	struct value *values; /* layers + 1 */
	struct step *steps;
	float *logits, *logit_grads; /* plain (n, classes) */
	size_t shared_floats, worker_floats;
	struct dense
		*dense; /* a net of dense layers only: it has no values, steps and logits here */

	/* of the current run */
	float *workspace, *worker; /* buffers; scratch, worker_stride per worker */
	size_t worker_stride;
	const float *params;
	struct plan_run run;
};

/* Norms use running statistics, which may be folded into weights. */
static inline bool plan_infers(const struct plan *plan)
{
	return plan->mode == PLAN_INFER || plan->mode == PLAN_SERVE;
}

static inline float *plan_buffer(const struct plan *plan, int row)
{
	return row < 0 ? NULL : plan->workspace + plan->buffers.rows[row].offset;
}

static inline float *value_data(const struct plan *plan, int value)
{
	return plan_buffer(plan, plan->values[value].data);
}

static inline float *value_grad(const struct plan *plan, int value, int which)
{
	const struct value *v = plan->values + value;
	return which < v->grads ? plan_buffer(plan, v->grad[which]) : NULL;
}

#endif
