/*
 * Convolution as a planned object: shapes, algorithm and packed weights are
 * fixed when the plan is made; the passes then only compute. A dense layer is a
 * 1x1 convolution of one image whose pixels are the samples.
 *
 * Weights come from the flat buffer, plain and perhaps to be standardized, and
 * are packed once per bind. The weights' gradient goes back the same way.
 */
#ifndef RETAIN_NN_CONV_CONV_H
#define RETAIN_NN_CONV_CONV_H

#include <stdbool.h>
#include "base/err.h"
#include "base/mem.h"
#include "base/team.h"
#include "nn/own/kernels.h"
#include "nn/own/tensor.h"

struct conv_shape {
	int n, in, out;
	int height, width, size, stride, pad;
	int out_height, out_width;
	bool planar; /* the input is planar and already padded (few channels: the first layer) */
};

/* Part of a convolution computed by one job of tiles; see conv_direct.c. */
struct conv_class;

struct conv {
	struct conv_shape shape;
	struct tensor in, out;
	const struct kernels *kernels;
	struct team *team;
	const struct conv_algorithm *algorithm;

	bool standardize;
	bool train; /* backward passes will be asked for */
	bool input_grad;
	bool fused;   /* forward is asked for more than the convolution: bias, residual, ReLU */
	bool borrows; /* packed weights are another convolution's: conv_borrow, not conv_bind */

	int taps; /* size * size */
	int in_blocks, out_blocks;
	int in_panels, out_panels; /* a panel is two blocks */

	float *forward_weights, *backward_weights;
	float *filter_mean, *filter_deviation,
		*filter_scale; /* one per filter: how it was standardized */
	float *bias;           /* padded to panels; used where has_bias */
	bool has_bias;

	struct conv_class *forward_class;
	struct conv_class *backward_classes;
	int backward_class_count;
	int outer_parts;     /* conv_outer.c: into how many the images are divided */
	bool plain_gradient; /* ... its sums are the plain gradient and need no unpacking */
	float *gradient;     /* ... where they go: the plain gradient or shared scratch */
	struct onednn_conv *onednn;

	size_t shared_floats, worker_floats; /* scratch wanted */
	float *shared;                       /* scratch given: for one pass */
	float *worker;                       /* ... per worker, worker_stride apart */
	size_t worker_stride;
};

/* A way to compute convolutions: one row. */
struct conv_algorithm {
	const char *name;
	bool (*fits)(const struct conv *conv);
	/* Sizes scratch and takes what lives as long as the plan from the arena. */
	int (*plan)(struct conv *conv, struct arena *arena, struct err *err);
	/*
	 * Packs one panel of 2 B filters, which are filter_step floats apart. Each is
	 * [tap][row_step] numbers, of which `in` count; for planar input (in, size, size).
	 */
	void (*pack)(struct conv *conv, int panel, const float *rows, size_t filter_step,
		size_t row_step);
	void (*forward)(struct conv *conv, const float *in, float *out, const struct epilogue *end);
	void (*backward_input)(struct conv *conv, const float *out_grad, float *in_grad);
	/* Writes the gradient of the packed weights to conv->shared. */
	void (*backward_weights)(struct conv *conv, const float *in, const float *out_grad);
	/* The gradient of one filter from conv->shared, in the form of pack's rows. */
	void (*unpack)(struct conv *conv, int filter, float *rows, size_t row_step);
	void (*release)(struct conv *conv); /* or NULL */
};

extern const struct conv_algorithm conv_direct, conv_winograd, conv_onednn;

/*
 * What the engine prefers by the names "auto" (NULL: by shape), "own", "direct" and "onednn".
 * Non-zero: there is no such name.
 */
int conv_policy_find(const char *name, const struct conv_algorithm **preferred);

/* Fills in what follows from all that stands before `taps`, and has_bias. */
int conv_plan(struct conv *conv, const struct conv_algorithm *preferred, struct arena *arena,
	struct err *err);
void conv_release(struct conv *conv);

/* For algorithms: room for packed weights, or none where they are borrowed. */
int conv_weights_new(
	struct conv *conv, struct arena *arena, size_t forward, size_t backward, struct err *err);

/*
 * Packs plain weights (out, in, size, size). fold_scale, if any, multiplies each filter: a
 * folded norm's. bias (out) is copied where conv->has_bias.
 */
void conv_bind(struct conv *conv, const float *weights, const float *fold_scale, const float *bias);

/*
 * Reads the weights and bias that another convolution has packed: one of the same net
 * and kernels that differs in the number of samples at most.
 */
void conv_borrow(struct conv *conv, const struct conv *from);

void conv_forward(struct conv *conv, const float *in, float *out, const float *add, bool relu);
void conv_backward_input(struct conv *conv, const float *out_grad, float *in_grad);
/* grad: plain, overwritten. weights: the plain weights of the last bind. */
void conv_backward_weights(struct conv *conv, const float *weights, const float *in,
	const float *out_grad, float *grad);

/* Cuts `count` pixels into runs of at most `most`, as even as can be. */
static inline int conv_runs(int count, int most)
{
	return (count + most - 1) / most;
}

#endif
