/*
 * What a plan is made of: shared by the files that make it (plan.c), that run it
 * (plan_run.c, plan_dense.c) and by the kinds of layers (nn/layers).
 */
#ifndef RETAIN_NN_PLAN_PLAN_IMPL_H
#define RETAIN_NN_PLAN_PLAN_IMPL_H

#include "nn/own/conv/conv.h"
#include "nn/own/layers/layer_type.h"
#include "nn/own/norm/norm.h"
#include "nn/own/plan/lifetimes.h"
#include "nn/plan.h"

/* A value of the net: its layout, and which buffers hold its numbers and gradients. */
struct value {
	struct tensor tensor;
	int data;
	int grad[2]; /* from its consumers, to be added */
	int grads;
};

struct step {
	const struct layer *layer;
	int output;                 /* the value it writes: a folded norm's where one is fused */
	const struct layer *folded; /* the norm this convolution also computes */
	bool skip;                  /* a norm that was folded */
	int extra;                  /* buffer that its type asked for; -1: none */
	int join, dx;               /* buffers of the backward pass; -1: none */
	void *state;                /* its type's own */
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
	struct dense *dense; /* a net of dense layers only: no values, steps and logits then */

	/* of the current run */
	float *workspace;       /* buffers */
	float *shared, *worker; /* scratch: for all together; worker_stride for each worker */
	size_t worker_stride;
	const float *params;
	struct plan_run run;

	/* of nets that a program computes (nn/foreign) */
	const float *stats;   /* as bound */
	uint64_t version;     /* of the binding */
	float *changed_stats; /* what a pass in training makes of them */
};

/* The losses of some samples and, with grad, their logits' gradients; from plain logits. */
void plan_losses(const struct plan *plan, size_t first, int count);

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

static inline const float *param_at(const struct plan *plan, int row)
{
	return row < 0 ? NULL : plan->params + plan->net->params.rows[row].offset;
}

static inline float *grad_at(const struct plan *plan, int row)
{
	return row < 0 ? NULL : plan->run.grad + plan->net->params.rows[row].offset;
}

static inline float *stat_at(const struct plan *plan, float *stats, int row)
{
	return row < 0 || !stats ? NULL : stats + plan->net->stats.rows[row].offset;
}

/* Scratch that a step will need, in floats. */
static inline void plan_want(struct plan *plan, size_t shared, size_t worker)
{
	plan->shared_floats = plan->shared_floats < shared ? shared : plan->shared_floats;
	plan->worker_floats = plan->worker_floats < worker ? worker : plan->worker_floats;
}

/* What tasks of a step are given. */
struct step_run {
	struct plan *plan;
	struct step *step;
};

#endif
