/*
 * Kinds of layers: one row each, one file each, listed below. A row has all that nets
 * and plans need to know, so that neither asks which kind a layer is.
 *
 * A net needs the shape of its output, its tensors, their first values and its cost.
 * A plan needs layouts, what is kept in memory for how long, and the passes. In a plan
 * a layer is a step (nn/own/plan/plan_impl.h), whose state is the type's own. What may be
 * absent is NULL or false.
 */
#ifndef RETAIN_NN_LAYERS_LAYER_TYPE_H
#define RETAIN_NN_LAYERS_LAYER_TYPE_H

#include <stddef.h>
#include "nn/own/layer.h"

struct plan;
struct step;

/* Where a step's weights come from: plan->params and stats, or a step that has packed them. */
struct binding {
	const float *stats;
	const struct step *packed; /* NULL: pack them */
};

struct layer_type {
	const char *name;

	/* Channels where they follow from the input, height and width. */
	void (*shape)(struct layer *layer, struct value_shape in);
	/* Adds its tensors to the net's tables, named after `name`. */
	int (*params)(struct net *net, struct layer *layer, const char *name, struct err *err);
	/* Their first values; both buffers are zero so far. */
	void (*init)(const struct net *net, const struct layer *layer, uint64_t seed, float *params,
		float *stats);
	/* Multiply-adds of one sample. */
	double (*macs)(const struct net *net, const struct layer *layer);

	bool dense;          /* weights times input plus bias: plan_dense.c runs nets of these */
	bool reads_vectors;  /* its input is one image whose pixels are the samples */
	bool reads_planar;   /* it can read a net's input without blocks of channels */
	bool writes_vectors; /* its output is one image whose pixels are the samples */
	bool computes_norm;  /* for inference it also computes a norm behind it that folds */
	bool in_place;       /* gradients, and values outside of training, replace what it reads */
	bool rereads_input;  /* its backward pass reads the input again */
	bool rereads_output; /* ... and the output, where a ReLU made it */
	/* Bytes that its backward pass needs besides: a buffer, step->extra. */
	size_t (*extra)(const struct plan *plan, const struct step *step);

	size_t state; /* size of step->state, zeroed */
	/* Fills in the state and says what scratch it wants (plan_want). */
	int (*plan)(struct plan *plan, struct step *step, struct err *err);
	void (*release)(struct step *step);
	/* Takes scratch and weights. */
	void (*bind)(struct plan *plan, struct step *step, const struct binding *from);
	void (*forward)(struct plan *plan, struct step *step);
	void (*backward)(struct plan *plan, struct step *step);
};

extern const struct layer_type layer_conv;  /* without bias */
extern const struct layer_type layer_dense; /* with bias, perhaps ReLU; flattens its input */
extern const struct layer_type layer_norm;  /* normalisation or none, a residual, perhaps ReLU */
extern const struct layer_type layer_max_pool;
extern const struct layer_type layer_mean_pool; /* over the whole image */
extern const struct layer_type layer_flatten;   /* an image as a vector */

#endif
