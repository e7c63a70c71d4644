/*
 * The gradient of a direct convolution's weights by outer tiles; part of the
 * direct algorithm's row.
 */
#ifndef RETAIN_NN_CONV_CONV_OUTER_H
#define RETAIN_NN_CONV_CONV_OUTER_H

#include "nn/own/conv/conv.h"

/* Settles how the work is cut and raises the scratch that conv wants. */
void conv_outer_plan(struct conv *conv);
void conv_outer_run(struct conv *conv, const float *in, const float *out_grad);
void conv_outer_unpack(struct conv *conv, int filter, float *rows, size_t row_step);

#endif
