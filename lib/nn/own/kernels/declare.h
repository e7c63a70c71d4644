/*
 * The functions of the kernel sources, under their names for the instruction
 * set being compiled. table.c gathers them; what each does stands in nn/own/kernels.h.
 */
#ifndef RETAIN_NN_KERNELS_DECLARE_H
#define RETAIN_NN_KERNELS_DECLARE_H

#include "nn/own/kernels.h"
#include "nn/own/kernels/simd.h"

extern tile_fn *const KERNEL(tile_table)[TILE_KINDS][TILE_ROWS_MAX + 1];
extern outer_fn *const KERNEL(outer_table)[OUTER_ROWS_MAX + 1];

void KERNEL(dense)(const struct dense_job *job, const float *a, const float *b, float *out,
	const float *extra);
void KERNEL(dense_sums)(const float *panels, size_t panel, int samples, int rows, float *sums);
void KERNEL(sparse)(const struct sparse_job *job, const float *a, const float *b, float *out,
	const float *bias, const float *mask);

void KERNEL(winograd_input)(const struct winograd_shape *s, const float *image, float *points,
	int first, int count, int block0, int block1);
void KERNEL(winograd_output)(const struct winograd_shape *s, const float *points, float *image,
	int first, int count, int block0, int block1, const struct epilogue *end);
void KERNEL(winograd_output_grad)(const struct winograd_shape *s, const float *image, float *points,
	int first, int count, int block0, int block1);
void KERNEL(winograd_weights)(const float *taps, float *points, size_t step);
void KERNEL(winograd_weights_grad)(const float *points, size_t step, float *taps);

void KERNEL(norm_moments)(const float *x, size_t pixels, float *shift, float *sum, float *square);
void KERNEL(norm_apply)(const float *x, float *y, const float *add, void *mask, size_t pixels,
	const float *scale, const float *offset, bool relu);
void KERNEL(norm_grad_sums)(const struct norm_grad *g, const float *scale, const float *offset,
	const float *mean, float *sum, float *product);
void KERNEL(norm_grad_input)(const struct norm_grad *g, const float *scale, const float *offset,
	const float *a, const float *b, const float *c);
void KERNEL(bias_grad)(float *dy, const float *y, size_t pixels, float *bias_grad);

void KERNEL(pool_max)(const struct pool_shape *s, const float *x, float *y, uint8_t *which);
void KERNEL(pool_max_grad)(
	const struct pool_shape *s, const float *dy, const uint8_t *which, float *dx);
void KERNEL(pool_mean)(const float *x, size_t pixels, float *y);
void KERNEL(pool_mean_grad)(const float *dy, size_t pixels, float *dx);

void KERNEL(transpose)(
	const float *from, size_t from_step, int rows, int cols, float *to, size_t to_step);
void KERNEL(copy_rows)(
	const float *from, size_t from_step, int rows, int cols, float *to, size_t to_step);
void KERNEL(row_moments)(const float *row, size_t count, float *mean, float *square);
void KERNEL(row_products)(
	const float *grad, const float *row, float mean, size_t count, float *sum, float *product);
float KERNEL(row_dot)(const float *x, const float *y, size_t count);
void KERNEL(row_affine)(const float *row, float *out, size_t count, float a, float b);
void KERNEL(row_standardize)(const float *x, const float *mean, const float *factor, float *out,
	size_t count, float clip);
void KERNEL(narrow)(float *matrix, size_t stride, size_t rows, size_t columns, const float *x,
	const float *y, float scale);
void KERNEL(distances)(const float *rows, const float *x, size_t dim, size_t blocks, bool add,
	float *distances, float *least);
void KERNEL(sums_below)(const float *values, const float *targets, size_t count,
	const float *limits, float *sums, float *counts);
void KERNEL(row_combine)(
	const float *x, const float *y, float *out, size_t count, float a, float b, float c);
void KERNEL(vectors_to_blocks)(
	const float *plain, int n, int features, float *blocks, size_t plane);
void KERNEL(blocks_to_vectors)(
	const float *blocks, size_t plane, int n, int features, float *plain);
void KERNEL(copy_pixels)(
	const float *from, size_t row_step, size_t col_step, int rows, int cols, float *to);

int KERNEL(rank)(const float *logits, int classes, int label);
void KERNEL(softmax_loss)(const float *logits, int classes, const int32_t *labels,
	const float *weights, int count, float *losses, float *grad);
void KERNEL(softmax_panel)(const float *logits, int classes, const int32_t *labels,
	const float *weights, int count, float *losses, float *grad);

void KERNEL(add)(float *into, const float *from, size_t count);
void KERNEL(sgd)(float *params, const float *grad, float *momentum, size_t count,
	const struct sgd_step *step, const struct average_step *averages);
void KERNEL(adam)(float *params, const float *grad, float *mean, float *square, size_t count,
	const struct adam_step *step, const struct average_step *averages);
void KERNEL(schedule_free)(float *params, const float *grad, float *z, float *x, size_t count,
	const struct schedule_free_step *step, const struct average_step *averages);
void KERNEL(average)(const float *params, size_t count, const struct average_step *averages);
void KERNEL(displace)(
	const float *params, const struct terms_step *terms, float *out, size_t count);
void KERNEL(step_terms)(const float *grad, const struct terms_step *terms, size_t count);
double KERNEL(peak)(long rounds);

extern const struct kernels KERNEL(kernels);

#endif
