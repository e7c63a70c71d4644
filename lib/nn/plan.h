/*
 * A plan: a net for one batch size and one mode, with shapes, layouts, buffer
 * places and scratch settled, so that running it allocates nothing. Buffers lie
 * in a workspace that the caller provides and plans may share, one running at
 * a time; packed weights belong to the plan.
 */
#ifndef RETAIN_NN_PLAN_PLAN_H
#define RETAIN_NN_PLAN_PLAN_H

#include <stdint.h>
#include "base/err.h"
#include "nn/engine.h"
#include "nn/net.h"

enum plan_mode {
	PLAN_TRAIN,   /* forward and backward */
	PLAN_FORWARD, /* forward as in training: batch norm uses the batch's statistics */
	PLAN_INFER,   /* batch norm uses the running statistics and is folded into the weights */
	PLAN_SERVE,   /* as PLAN_INFER, but with weights that another plan has packed */
};

struct plan;

int plan_new(struct plan **plan, const struct net *net, struct engine *engine, int n,
	enum plan_mode mode, struct err *err);
void plan_free(struct plan *plan);
int plan_batch(const struct plan *plan);
enum plan_mode plan_mode(const struct plan *plan);

/* The length the workspace must have; it may change between runs, not within one. */
size_t plan_floats(const struct plan *plan);

/*
 * Takes the workspace and packs the weights: before the first run, and when either has changed.
 * Binding and running fail only where a net is computed by somebody else.
 */
int plan_bind(struct plan *plan, float *workspace, const float *params, const float *stats,
	struct err *err);

/*
 * The same for PLAN_SERVE: the weights are those that a PLAN_INFER plan of the same net,
 * kernels and convolutions, of any batch size, was last bound to. They are only read, so
 * any number of plans may do so at a time.
 */
void plan_borrow(struct plan *plan, float *workspace, const struct plan *packed);

/*
 * Told now and then during a run with grad: losses are known, and the gradient of parameters
 * from `from` on is final, as is the use of these parameters. Where layers are not run one by
 * one it is not told at all.
 */
typedef void plan_final_fn(void *context, size_t from);

/* One run: what it is given, and where it leaves what is asked for. */
struct plan_run {
	const float *input;
	const int32_t *labels;          /* with losses */
	const float *weights;           /* with grad: as in struct runner_batch, never NULL */
	float *losses;                  /* one per sample, or NULL; wanted with grad */
	const struct sample_loss *loss; /* of gradients; NULL: cross-entropy */
	int loss_at;                    /* which of the loss's samples is the first */
	float *logits;                  /* (n, classes), or NULL */
	float *features;                /* (n, net_features): what the last layer sees, or NULL */
	float *grad;                    /* overwritten; NULL unless PLAN_TRAIN */
	float *stats; /* NULL, or updated with the batch's (batch norm, not when inferring) */
	float momentum;
	plan_final_fn *final; /* NULL: nobody asks */
	void *final_context;
};
int plan_run(struct plan *plan, const struct plan_run *run, struct err *err);

#endif
