/*
 * Normalisation as a planned object: group norm, batch norm or none, fused
 * with the residual join and the ReLU behind it. Each kind is a row, one file each.
 */
#ifndef RETAIN_NN_NORM_NORM_H
#define RETAIN_NN_NORM_NORM_H

#include <stdbool.h>
#include "base/err.h"
#include "base/mem.h"
#include "base/team.h"
#include "nn/own/kernels.h"
#include "nn/own/tensor.h"

struct norm;
struct norm_flow;

struct norm_type {
	const char *name;  /* as model.norm spells it */
	bool standardizes; /* it goes with convolutions of standardized weights */
	bool scales;       /* it has a scale and a shift per channel */
	bool running;      /* it keeps running statistics, which inference uses */
	bool per_image;    /* it has statistics of each image, not of the batch */
	bool folds;        /* in inference a convolution before it can compute it, too */
	void (*forward)(struct norm *norm, const struct norm_flow *flow);
	void (*backward)(struct norm *norm, const struct norm_flow *flow);
};

extern const struct norm_type norm_group, norm_batch, norm_plain;
const struct norm_type *norm_find(const char *name); /* NULL: there is none */

struct norm {
	const struct norm_type *type;
	int groups;
	bool relu;
	bool train; /* a backward pass will come */
	struct tensor tensor;
	const struct kernels *kernels;
	struct team *team;

	int padded;            /* channels, whole blocks */
	float *mean, *inverse; /* per image and channel (n, padded), or per channel (padded) */
	float *sums;           /* group norm's backward: (n, 2, padded) */
	size_t worker_floats;  /* scratch wanted per worker */
	float *worker;
	size_t worker_stride;
};

/* What a pass reads and writes; what does not apply is NULL. */
struct norm_flow {
	const float *x;
	float *y;
	const float *add;
	void *mask; /* bits of the ReLU behind a residual; written forward, read backward */
	const float *scale, *shift;
	/* batch norm: running statistics to update, with this momentum */
	float *running_mean, *running_variance;
	float momentum;
	/* backward */
	const float *dy0, *dy1;
	float *join, *dx;
	float *scale_grad, *shift_grad;
};

/* Fills in what follows from type, groups, relu, train, tensor, kernels, team. */
int norm_plan(struct norm *norm, struct arena *arena, struct err *err);
void norm_forward(struct norm *norm, const struct norm_flow *flow);
void norm_backward(struct norm *norm, const struct norm_flow *flow);

/* Bytes of mask for a tensor. */
size_t norm_mask_bytes(const struct tensor *t, int block);

/* The affine map that batch norm with these running statistics is. */
void norm_fold(const float *scale, const float *shift, const float *mean, const float *variance,
	int channels, float *fold_scale, float *fold_shift);

#endif
