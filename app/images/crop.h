/*
 * Which part of an image becomes a sample. The arithmetic is torchvision's; random numbers are a
 * function of (seed, iteration, position) alone.
 */
#ifndef RETAIN_IMAGES_CROP_H
#define RETAIN_IMAGES_CROP_H

#include <stdbool.h>
#include "base/rng.h"
#include "images/image.h"

/* Random numbers of one sample: iteration < 2^40, position < 2^20. */
struct crop_chance {
	struct rng rng;
	uint64_t first; /* of 16 counters */
};

struct crop_chance crop_chance_at(uint64_t seed, uint64_t iteration, int position);

/*
 * Like RandomResizedCrop: a rectangle of 8 to 100 % of the area, uniformly, with a ratio of width
 * to height of 3/4 to 4/3, uniformly in its logarithm, anywhere; after ten that do not fit, the
 * largest in the middle.
 */
struct image_window crop_random(struct crop_chance chance, int width, int height);

bool crop_flip(struct crop_chance chance); /* true with probability 1/2 */
void crop_shift(struct crop_chance chance, int most, int *x, int *y); /* uniform in 0 .. most */

/* The size of an image whose shorter side becomes `shorter`, as Resize computes it. */
void crop_resized(int width, int height, int shorter, int *new_width, int *new_height);

/* Where a centre crop begins, as CenterCrop computes it. size <= length. */
int crop_centre(int length, int size);

#endif
