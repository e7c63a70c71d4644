/*
 * Scales inputs for a net. Every number of an input has a mean and a factor: x becomes (x - mean)
 * * factor, clipped to [-SCALE_CLIP, SCALE_CLIP]. NaN and infinities are missing values and
 * become 0, the mean.
 */
#ifndef RETAIN_NN_SCALE_H
#define RETAIN_NN_SCALE_H

#include <stdbool.h>
#include <stddef.h>

#include "nn/ops.h"

#define SCALE_CLIP 4.0f

struct scale {
	size_t floats; /* of an input */
	float *mean, *factor;
};

/* n contiguous inputs; out may alias inputs. */
void scale_apply(
	const struct scale *scale, const struct ops *ops, const float *inputs, int n, float *out);

/* Whether the scale is valid: all finite, and no negative factor. */
bool scale_sound(const struct scale *scale);

#endif
