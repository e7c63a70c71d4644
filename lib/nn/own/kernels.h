/*
 * The kernel table: everything that is computed with vectors, one table per
 * instruction set, made from the same sources (lib/nn/own/kernels/).
 *
 * Activations are blocked, nChw<B>c: image, channel block, pixel, then B
 * channels. Channels past the last are zero in every activation and stay so.
 * `plane` is the distance between two channel blocks of an image in floats:
 * height * width * B, or a little more where that would be a bad stride.
 *
 * Two micro-kernels do all the multiplying. A *tile* computes R pixels times
 * two vectors of output channels: R * 2 sums over input channels and taps. An
 * *outer* tile computes R * 2 vectors of weight gradient: sums over pixels.
 * Convolutions of every kind, their gradients, Winograd's products and a last
 * dense layer differ only in the addresses they hand to these two. Nets of dense
 * layers only have two others and another layout: struct dense_job, struct sparse_job.
 */
#ifndef RETAIN_NN_KERNELS_H
#define RETAIN_NN_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nn/ops.h"

enum {
	TILE_ROWS_MAX = 14,
	OUTER_ROWS_MAX = 8,
	BLOCK_MAX = 16,
	WINOGRAD_POINTS = 36, /* F(4x4, 3x3): 6 x 6 */
};

/* How a tile's input is laid out; the first that fits is the fastest. */
enum tile_kind {
	TILE_UNIT,    /* blocked input, neighbouring pixels */
	TILE_DOUBLE,  /* blocked input, every other pixel */
	TILE_STRIDED, /* blocked input, row_step apart */
	TILE_PLANAR1, /* planar input, runs of `inner` floats, pixels 1 apart */
	TILE_PLANAR2, /* ... 2 apart */
	TILE_PLANAR,  /* ... row_step apart */
	TILE_KINDS,
};

/* What stays the same over the tiles of a job. */
struct tile_job {
	const int32_t *taps; /* offset of each tap in the input, in floats */
	int tap_count;
	int blocks;        /* input blocks (planar: planes) to sum over */
	size_t block_step; /* floats between input blocks */
	size_t row_step;   /* floats between two pixels' inputs */
	size_t out_step;   /* floats between two pixels' outputs */
	int inner;         /* planar: floats per run */
	bool accumulate;   /* add to what the output holds */
	bool relu;
};

/*
 * out0 and out1 are the two output blocks at the first pixel; out1 is NULL where there is
 * only one. bias is two vectors. add0 and add1, a residual, are added before the ReLU and
 * lie like the output. All three may be NULL. weights: [blocks][taps][B or inner][2 B].
 */
typedef void tile_fn(const struct tile_job *job, const float *in, const float *weights, float *out0,
	float *out1, const float *bias, const float *add0, const float *add1);

/* grad[r][0..2B) (+)= sum over pixels of a[pixel][r] * (b0, b1)[pixel]. */
struct outer_job {
	int rows, cols;      /* pixels: rows of cols */
	size_t a_row, a_col; /* steps of a, in floats */
	size_t b_row, b_col; /* steps of b0 and b1 */
	size_t grad_step;    /* floats between two rows of grad */
	bool accumulate;
};
typedef void outer_fn(
	const struct outer_job *job, const float *a, const float *b0, const float *b1, float *grad);

/*
 * Dense nets keep samples side by side: a *panel* is [feature][2 B samples]. A dense layer
 * has three products, all of the form out[r][0..2B) = sum over steps of a[step][r] * b[step],
 * r < rows; rows of b are 2 B floats apart.
 */
enum dense_kind {
	/* Weights, rows a_row apart, times a panel. extra: a bias per row, or NULL. */
	DENSE_FORWARD,
	/* Transposed, steps a_step apart; what is not > 0 in the panel `extra`, if any, makes 0. */
	DENSE_BACKWARD,
	/* Panels of gradients times rows of 2 B features of 2 B samples; out is plain. */
	DENSE_WEIGHTS,
	DENSE_KINDS,
};
struct dense_job {
	enum dense_kind kind;
	int rows;
	int cols; /* of out's 2 B columns; vectors behind them, if plain all, stay as they are */
	int runs, depth;     /* steps: each run has 2 B of them, the last has `depth` */
	size_t a_run, b_run; /* floats between runs */
	size_t a_row, a_step, out_row;
	bool accumulate, relu;
};

/*
 * Products whose left side has many zeros, which cost nothing:
 * out[r][0..cols) = sum over steps of a[r][step] * b[step], r < rows. Rows of b, out, bias and
 * mask are whole vectors: what is behind their cols is read and written, too. A row of a comes
 * in runs of 2 B floats; those behind its depth are ignored. To the sums the bias, if any, is
 * added; then comes a ReLU, or zero where the mask's row, if any, is not > 0.
 */
struct sparse_job {
	int rows, depth, cols;
	size_t a_row, a_run, b_row, out_row, mask_row;
	bool relu;
};

/* Winograd's view of a batch of images: tiles of 4x4 outputs, counted over image, row, column. */
struct winograd_shape {
	int height, width; /* of the blocked image this call reads or writes */
	int pad;           /* of the input image */
	int tile_rows, tile_cols;
	int blocks;          /* channel blocks of the image */
	size_t image, plane; /* floats between images, between channel blocks */
	size_t point;        /* floats between two of the 36 points in the transformed array */
	size_t tile_block;   /* floats between two channel blocks there */
};

/* What follows a convolution where operators are fused: the norm's constants, a residual, ReLU. */
struct epilogue {
	const float *bias; /* per channel, or NULL */
	const float *add;  /* an activation of the output's shape, or NULL */
	bool relu;
};

enum norm_mask { NORM_LINEAR, NORM_RELU, NORM_JOIN };

/* One channel block of one image in a norm's backward pass; see nn/own/norm/norm.c. */
struct norm_grad {
	const float *x;   /* the norm's input */
	const void *mask; /* ReLU's bits where a residual was added */
	const float *dy0;
	const float *dy1; /* a second gradient to add, or NULL */
	float *join;      /* receives the residual's gradient; NULL unless NORM_JOIN */
	float *dx;
	size_t pixels;
	enum norm_mask kind;
};

struct pool_shape {
	int height, width, out_height, out_width;
	int size, stride, pad;
};

struct kernels {
	const char *isa;
	struct ops ops;
	int block;          /* B: floats per vector and channels per block */
	int tile_rows;      /* most pixels per tile */
	int outer_rows;     /* rows per outer tile on blocked input: divides the block */
	int outer_rows_max; /* most rows that still fit the registers */

	tile_fn *const (*tile)[TILE_ROWS_MAX + 1]; /* [kind][rows] */
	outer_fn *const *outer;                    /* [rows] */

	void (*dense)(const struct dense_job *job, const float *a, const float *b, float *out,
		const float *extra);
	/* Sums of rows over the samples of panels, `panel` floats apart, zero behind the last. */
	void (*dense_sums)(const float *panels, size_t panel, int samples, int rows, float *sums);
	void (*sparse)(const struct sparse_job *job, const float *a, const float *b, float *out,
		const float *bias, const float *mask);

	/* Tiles [first, first + count) of channel blocks [block0, block1). */
	void (*winograd_input)(const struct winograd_shape *s, const float *image, float *points,
		int first, int count, int block0, int block1);
	void (*winograd_output)(const struct winograd_shape *s, const float *points, float *image,
		int first, int count, int block0, int block1, const struct epilogue *end);
	void (*winograd_output_grad)(const struct winograd_shape *s, const float *image,
		float *points, int first, int count, int block0, int block1);
	/* VW filters' 3x3 taps [9][VW] to 36 points, `step` floats apart, and back. */
	void (*winograd_weights)(const float *taps, float *points, size_t step);
	void (*winograd_weights_grad)(const float *points, size_t step, float *taps);

	/* Sums of (x - shift) and its square per channel of a block; shift is the first pixel. */
	void (*norm_moments)(
		const float *x, size_t pixels, float *shift, float *sum, float *square);
	/* y = x * scale + offset (+ add), then ReLU; bits of the ReLU where mask is not NULL. */
	void (*norm_apply)(const float *x, float *y, const float *add, void *mask, size_t pixels,
		const float *scale, const float *offset, bool relu);
	/* Per channel sums of dy, past the ReLU, and dy * (x - mean); the map is norm_apply's. */
	void (*norm_grad_sums)(const struct norm_grad *g, const float *scale, const float *offset,
		const float *mean, float *sum, float *product);
	/* dx = a * dy + b * x + c per channel. */
	void (*norm_grad_input)(const struct norm_grad *g, const float *scale, const float *offset,
		const float *a, const float *b, const float *c);

	/* dy *= (y > 0) in place where y is given; sums of dy per channel to bias_grad. */
	void (*bias_grad)(float *dy, const float *y, size_t pixels, float *bias_grad);

	void (*pool_max)(const struct pool_shape *s, const float *x, float *y, uint8_t *which);
	void (*pool_max_grad)(
		const struct pool_shape *s, const float *dy, const uint8_t *which, float *dx);
	void (*pool_mean)(const float *x, size_t pixels, float *y);
	void (*pool_mean_grad)(const float *dy, size_t pixels, float *dx);

	/* to[c * to_step + r] = from[r * from_step + c] */
	void (*transpose)(
		const float *from, size_t from_step, int rows, int cols, float *to, size_t to_step);
	/* to[r * to_step + c] = from[r * from_step + c]; fastest for 2 B columns. */
	void (*copy_rows)(
		const float *from, size_t from_step, int rows, int cols, float *to, size_t to_step);
	/* The mean of a row and the sum of squares around it. */
	void (*row_moments)(const float *row, size_t count, float *mean, float *square);
	/* The sums of grad and of grad * (row - mean). */
	void (*row_products)(const float *grad, const float *row, float mean, size_t count,
		float *sum, float *product);
	void (*row_affine)(
		const float *row, float *out, size_t count, float a, float b); /* a row + b */
	/* Plain (n, features) to channel blocks that hold sample i as pixel i, and back. */
	void (*vectors_to_blocks)(
		const float *plain, int n, int features, float *blocks, size_t plane);
	void (*blocks_to_vectors)(
		const float *blocks, size_t plane, int n, int features, float *plain);

	/* Copies rows * cols pixels of one channel block, steps in floats, to lie side by side. */
	void (*copy_pixels)(
		const float *from, size_t row_step, size_t col_step, int rows, int cols, float *to);

	/* The place of a label's logit, 1 being the largest's; of equals the first comes first. */
	int (*rank)(const float *logits, int classes, int label);
	/* ops.softmax_loss of the first `count` samples of a panel; gradients of others are 0. */
	void (*softmax_panel)(const float *logits, int classes, const int32_t *labels,
		const float *weights, int count, float *losses, float *grad);

	void (*add)(float *into, const float *from, size_t count);

	/* Multiply-adds in registers for about `rounds` rounds; returns their number. */
	double (*peak)(long rounds);
};

/* The table for a name, or the best one for "auto"; NULL if unknown or not runnable here. */
const struct kernels *kernels_find(const char *isa);
/* The index-th table this machine can run, NULL past the last: tests go over all of them. */
const struct kernels *kernels_at(int index);

#endif
