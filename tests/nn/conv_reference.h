/*
 * Convolution as the definition says it, in double precision and without a
 * thought for speed: what the engine's are compared with.
 */
#ifndef RETAIN_TESTS_NN_CONV_REFERENCE_H
#define RETAIN_TESTS_NN_CONV_REFERENCE_H

#include <stddef.h>

enum conv_flag {
	PLANAR = 1,
	STANDARDIZED = 2,
	/* what is done around the convolution */
	BIAS = 4,
	FOLD = 8,
	ADD = 16,
	RELU = 32,
	INFER = 64, /* planned without backward passes */
};

struct conv_case {
	int n, in, out;
	int height, width, size, stride, pad;
	unsigned flags;
};

/*
 * Inputs and what should come out, all plain. The sizes are the sums of absolute
 * products behind each number: the scale on which rounding errors are measured.
 */
struct conv_reference {
	int out_height, out_width;
	size_t x_count, w_count, y_count;
	float *x, *w, *bias, *fold, *add, *dy;
	double *y, *dx, *dw;
	double *y_size, *dx_size, *dw_size;
};

void conv_reference_init(struct conv_reference *r, const struct conv_case *c);
void conv_reference_release(struct conv_reference *r);

/* The case in a line, for messages. Returns text. */
char *conv_case_text(const struct conv_case *c, char *text, size_t size);

#endif
