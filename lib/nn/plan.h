/*
 * A plan: a net for one batch size and one mode, with shapes, layouts, buffer offsets and scratch
 * fixed, so that running it allocates nothing. Buffers live in a workspace that the caller
 * provides; plans may share it if only one runs at a time. Packed weights belong to the plan.
 */
#ifndef RETAIN_NN_PLAN_PLAN_H
#define RETAIN_NN_PLAN_PLAN_H

#include <stdint.h>
#include "base/err.h"
#include "nn/engine.h"
#include "nn/net.h"
#include "target/target.h"

enum plan_mode {
	PLAN_TRAIN,   /* forward and backward */
	PLAN_FORWARD, /* forward as in training: batch norm uses the batch's statistics */
	PLAN_INFER,   /* batch norm uses the running statistics and is folded into the weights */
	PLAN_SERVE,   /* like PLAN_INFER, but with weights packed by another plan */
};

struct plan;

int plan_new(struct plan **plan, const struct net *net, struct engine *engine, int n,
	enum plan_mode mode, struct err *err);
void plan_free(struct plan *plan);
int plan_batch(const struct plan *plan);
enum plan_mode plan_mode(const struct plan *plan);

/* The required length of the workspace, which may move between runs. */
size_t plan_floats(const struct plan *plan);

/*
 * Sets the workspace and packs the weights: before the first run, and whenever either has
 * changed. Binding and running fail only if a net is computed externally.
 */
int plan_bind(struct plan *plan, float *workspace, const float *params, const float *stats,
	struct err *err);

/*
 * The same for PLAN_SERVE: reads the weights that a PLAN_INFER plan of the same net, kernels and
 * convolutions, of any batch size, was last bound to. Any number of plans may share them.
 */
void plan_borrow(struct plan *plan, float *workspace, const struct plan *packed);

/*
 * Callback during a run with grad: losses are known, the gradient of parameters from `from` on is
 * final, and these parameters are no longer read. Never called if layers are not run one by one.
 */
typedef void plan_final_fn(void *context, size_t from);

/* Inputs and outputs of one run. */
struct plan_run {
	const float *input;
	const union target *labels;     /* with losses */
	const float *weights;           /* with grad: as in struct runner_batch, never NULL */
	float *losses;                  /* one per sample, or NULL; required with grad */
	const struct sample_loss *loss; /* NULL: cross-entropy */
	int loss_at;                    /* index of the first sample in the loss's batch */
	float *logits;                  /* (n, classes), or NULL */
	float *features;                /* (n, net_features): inputs of the last layer, or NULL */
	float *grad;                    /* overwritten; NULL unless PLAN_TRAIN */
	float *stats; /* NULL, or updated with the batch's (batch norm, not when inferring) */
	float momentum;
	uint64_t seed;        /* of masks, as in struct runner_batch, for this micro-batch */
	plan_final_fn *final; /* NULL: no callback */
	void *final_context;
};
int plan_run(struct plan *plan, const struct plan_run *run, struct err *err);

#endif
