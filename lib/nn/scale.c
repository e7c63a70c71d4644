/* A subtraction and a product, in this order, so that every instruction set has the same bits. */
#include "nn/scale.h"

#include <math.h>

void scale_apply(
	const struct scale *scale, const struct ops *ops, const float *inputs, int n, float *out)
{
	const float *mean = scale->mean, *factor = scale->factor;

	for (int i = 0; i < n; i++, inputs += scale->floats, out += scale->floats)
		ops->row_standardize(inputs, mean, factor, out, scale->floats, SCALE_CLIP);
}

bool scale_sound(const struct scale *scale)
{
	bool sound = true;

	for (size_t j = 0; j < scale->floats; j++)
		sound = sound && isfinite(scale->mean[j]) && isfinite(scale->factor[j]) &&
			scale->factor[j] >= 0;
	return sound;
}
