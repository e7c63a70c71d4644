/*
 * What plans of dense nets are made of: shared by plan_dense.c and by
 * plan_sparse.c, which is another way to compute the same.
 */
#ifndef RETAIN_NN_PLAN_PLAN_DENSE_IMPL_H
#define RETAIN_NN_PLAN_PLAN_DENSE_IMPL_H

#include "nn/own/plan/plan_dense.h"

struct dense_layer {
	int in, out;
	bool relu;
	size_t weights, bias; /* in the flat buffers */
	size_t input, output; /* in a panel's values */
	int rows, grads;   /* buffers: inputs as rows of features, gradients of outputs in panels */
	int turned, apart; /* buffers of a sparse net: weights turned over, and row by row; or -1 */
	int in_tasks, tasks; /* of the weights' gradient: across the features, in all */
};

struct dense {
	int count, wide;   /* layers; samples per panel */
	int panels, group; /* group: panels of a sparse net's task */
	int tasks;
	bool sparse;
	size_t values_floats; /* of one panel, all layers */
	int values;           /* buffer of a large or sparse net's values, else -1 */
	int logits; /* buffer of a sparse net's logits, then of their gradients: rows of classes */
	struct dense_layer layers[];
};

/* Panels [first, first + count) and where the values of the first are. */
struct span {
	const struct plan *plan;
	int first, count;
	float *values;
};

static inline struct span span_of(const struct plan *plan, int first, int count, int worker)
{
	const struct dense *d = plan->dense;
	float *values = d->values < 0 ? plan->worker + worker * plan->worker_stride
				      : plan_buffer(plan, d->values) + first * d->values_floats;

	return (struct span){plan, first, count, values};
}

static inline int panel_samples(const struct plan *plan, int panel)
{
	const int left = plan->n - panel * plan->dense->wide;
	return left < plan->dense->wide ? left : plan->dense->wide;
}

static inline float *panel_grads(const struct plan *plan, const struct dense_layer *l, int panel)
{
	return plan_buffer(plan, l->grads) + (size_t)panel * l->out * plan->dense->wide;
}

/* A panel's input in its values and, for gradients, in the first layer's rows. */
void dense_take_input(const struct span *span);
/* Outputs [first, first + rows) of a layer. */
void dense_forward(const struct span *span, const struct dense_layer *l, int first, int rows);
/* A panel's losses and their gradients, as far as they are asked for. */
void dense_losses(const struct span *span);
/*
 * Features [first, first + rows) of the gradient of a layer's input, the output of the layer
 * before. Weights are copied to scratch, if any: their columns are long strides apart in
 * memory and share few sets of the caches.
 */
void dense_backward(
	const struct span *span, const struct dense_layer *l, int first, int rows, float *scratch);

/* Whether the net's shape suits sparse products. */
bool sparse_fits(const struct plan *plan);
/* Buffers and scratch. */
int sparse_plan(struct plan *plan, struct err *err);
void sparse_run(struct plan *plan);

#endif
