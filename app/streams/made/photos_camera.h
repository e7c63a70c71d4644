/*
 * Cameras come in generations, which follow each other through the stream: what is
 * new is sharper, more colourful and less grainy than what was, and each generation
 * has a cast of its own. A camera turns a painted picture into numbers for a net.
 */
#ifndef RETAIN_STREAMS_MADE_PHOTOS_CAMERA_H
#define RETAIN_STREAMS_MADE_PHOTOS_CAMERA_H

#include <stdint.h>

#include "base/rng.h"

struct camera {
	float soft;          /* how far light strays, in 32nds of the picture */
	float gain[3], lift; /* of each colour, exposure included; of black */
	float contrast, saturation, vignette, grain;
};

/* Generation i of `count`, from the stream's random numbers. */
struct camera camera_of(struct rng rng, int i, int count);

/*
 * Takes three planes of size * size colours and leaves bytes of a photo in their
 * place, scaled so that photos have mean 0 and variance 1 or nearly so. Grain is
 * made from `rng` at `counter`, which no other photo has.
 */
void camera_develop(
	const struct camera *camera, struct rng rng, uint64_t counter, int size, float *planes);

/* What byte v of a photo is to a net. */
static inline float camera_scaled(int v)
{
	return ((float)v - 124) * (1 / 44.0f);
}

#endif
