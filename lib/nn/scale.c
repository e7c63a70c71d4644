/* A subtraction and a product, in this order, so that every instruction set has the same bits. */
#include "nn/scale.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { LANES = 4 };
typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));
typedef int32_t masks __attribute__((vector_size(LANES * sizeof(int32_t))));

static inline lanes where(masks mask, lanes yes, lanes no)
{
	return (lanes)((mask & (masks)yes) | (~mask & (masks)no));
}

/* The first `count` of LANES numbers, or all of them. */
static inline void apply_some(
	const float *mean, const float *factor, const float *in, float *out, size_t count)
{
	const lanes most = {SCALE_CLIP, SCALE_CLIP, SCALE_CLIP, SCALE_CLIP};
	lanes x = {0}, m = {0}, f = {0}, y;

	memcpy(&x, in, count * sizeof(float));
	memcpy(&m, mean, count * sizeof(float));
	memcpy(&f, factor, count * sizeof(float));
	y = (x - m) * f;
	y = where(y > most, most, y);
	y = where(y < -most, -most, y);
	/* x - x is 0 unless x is not finite; y is none where an overflow met a factor of 0. */
	y = (lanes)((masks)y & (x - x == 0) & (y == y));
	memcpy(out, &y, count * sizeof(float));
}

static void apply_row(const struct scale *scale, const float *in, float *out)
{
	const size_t floats = scale->floats;
	size_t j = 0;

	for (; j + LANES <= floats; j += LANES)
		apply_some(scale->mean + j, scale->factor + j, in + j, out + j, LANES);
	for (; j < floats; j++)
		apply_some(scale->mean + j, scale->factor + j, in + j, out + j, 1);
}

void scale_apply(const struct scale *scale, const float *inputs, int n, float *out)
{
	for (int i = 0; i < n; i++, inputs += scale->floats, out += scale->floats)
		apply_row(scale, inputs, out);
}

bool scale_sound(const struct scale *scale)
{
	bool sound = true;

	for (size_t j = 0; j < scale->floats; j++)
		sound = sound && isfinite(scale->mean[j]) && isfinite(scale->factor[j]) &&
			scale->factor[j] >= 0;
	return sound;
}
