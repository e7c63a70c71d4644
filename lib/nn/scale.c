/* A subtraction and a product, in this order, so that every instruction set has the same bits. */
#include "nn/scale.h"

#include <math.h>

void scale_apply(const struct scale *scale, const float *inputs, int n, float *out)
{
	const float *mean = scale->mean, *factor = scale->factor;

	for (int i = 0; i < n; i++, inputs += scale->floats, out += scale->floats)
		for (size_t j = 0; j < scale->floats; j++) {
			const float x = inputs[j];
			float y = (x - mean[j]) * factor[j];

			y = y > SCALE_CLIP ? SCALE_CLIP : y;
			y = y < -SCALE_CLIP ? -SCALE_CLIP : y;
			/* x - x is 0 unless x is not finite; y is none where an overflow met a
			 * factor of 0. */
			out[j] = (x - x) + (y - y) == 0 ? y : 0;
		}
}

bool scale_sound(const struct scale *scale)
{
	bool sound = true;

	for (size_t j = 0; j < scale->floats; j++)
		sound = sound && isfinite(scale->mean[j]) && isfinite(scale->factor[j]) &&
			scale->factor[j] >= 0;
	return sound;
}
