/*
 * Brings inputs to a scale that suits a net. Every number of an input has a mean and
 * a factor: x becomes (x - mean) * factor, cut off at -SCALE_CLIP and SCALE_CLIP. A
 * number that is not finite is a missing value and becomes 0, as if it were the mean.
 */
#ifndef RETAIN_NN_SCALE_H
#define RETAIN_NN_SCALE_H

#include <stdbool.h>
#include <stddef.h>

#define SCALE_CLIP 4.0f

struct scale {
	size_t floats; /* of an input */
	float *mean, *factor;
};

/* n inputs, one after another; out may be where they are. */
void scale_apply(const struct scale *scale, const float *inputs, int n, float *out);

/* Whether its numbers can be right: finite, and no factor below 0. */
bool scale_sound(const struct scale *scale);

#endif
