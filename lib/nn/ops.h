/*
 * Computations beside a net, for optimizers, losses and mixtures: a table of functions over plain
 * floats. An engine has one for its instruction set; the table is static.
 */
#ifndef RETAIN_NN_OPS_H
#define RETAIN_NN_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One pass over a slice of the flat buffers. */
struct sgd_step {
	float rate, momentum, decay;
	bool first; /* momentum starts as the gradient */
};
struct adam_step {
	float rate, beta1, beta2, epsilon, decay;
	float correction1, correction2; /* 1 - beta^t */
};
/* Schedule-free SGD: params hold y, the point of the gradient. */
struct schedule_free_step {
	float rate, decay;
	float beta;  /* y = (1 - beta) z + beta x */
	float share; /* weight of z in x, the running average of all z */
	bool first;  /* z and x start as y */
};
enum { AVERAGES_MAX = 2 };
struct average_step {
	int count;
	float *average[AVERAGES_MAX];
	float keep[AVERAGES_MAX]; /* gamma: average = gamma * average + (1 - gamma) * parameter */
};
/* Displacements of parameters, and one step of each: keep * term + step * gradient. */
enum { TERMS_MAX = 2 };
struct terms_step {
	int count;
	float *term[TERMS_MAX];
	float keep[TERMS_MAX], step[TERMS_MAX];
};

enum { OPS_BLOCK = 16, OPS_LIMITS = 8 };

struct ops {
	/* The sum of x * y. */
	float (*row_dot)(const float *x, const float *y, size_t count);
	/* a x + b y + c */
	void (*row_combine)(const float *x, const float *y, float *out, size_t count, float a,
		float b, float c);
	/* (x - mean) factor within [-clip, clip]; 0 where that or x is NaN, or x infinite. */
	void (*row_standardize)(const float *x, const float *mean, const float *factor, float *out,
		size_t count, float clip);
	/*
	 * A matrix <- scale matrix - x x' - y y', symmetric to the bit if it was. Its rows are
	 * `stride` apart, and both its sides are of the same x and y.
	 */
	void (*narrow)(float *matrix, size_t stride, size_t rows, size_t columns, const float *x,
		const float *y, float scale);
	/*
	 * Squared distances of x, `dim` numbers, to rows stored in blocks of OPS_BLOCK, number by
	 * number: (blocks, dim, OPS_BLOCK). Fills in one distance per row, or adds it to what is
	 * there, and the smallest of each block.
	 */
	void (*distances)(const float *rows, const float *x, size_t dim, size_t blocks, bool add,
		float *distances, float *least);
	/*
	 * For each of OPS_LIMITS limits: how many of the values are at most it, and the sum of
	 * their targets. Counts of infinite limits mean nothing.
	 */
	void (*sums_below)(const float *values, const float *targets, size_t count,
		const float *limits, float *sums, float *counts);
	/*
	 * Softmax cross-entropy of plain rows. grad may alias logits; grad and weights may be
	 * NULL.
	 */
	void (*softmax_loss)(const float *logits, int classes, const int32_t *labels,
		const float *weights, int count, float *losses, float *grad);
	void (*sgd)(float *params, const float *grad, float *momentum, size_t count,
		const struct sgd_step *step, const struct average_step *averages);
	void (*adam)(float *params, const float *grad, float *mean, float *square, size_t count,
		const struct adam_step *step, const struct average_step *averages);
	void (*schedule_free)(float *params, const float *grad, float *z, float *x, size_t count,
		const struct schedule_free_step *step, const struct average_step *averages);
	void (*average)(const float *params, size_t count, const struct average_step *averages);
	/* params plus all terms; and one step of the terms. */
	void (*displace)(
		const float *params, const struct terms_step *terms, float *out, size_t count);
	void (*step_terms)(const float *grad, const struct terms_step *terms, size_t count);
};

#endif
