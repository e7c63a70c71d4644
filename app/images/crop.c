/*
 * Random rectangles. A try uses one counter, of whose 128 bits area, ratio, row
 * and column have 32 each; the flip and the shift have counters of their own.
 */
#include "images/crop.h"

#include <math.h>
#include "base/portable_math.h"

enum { TRIES = 10, FLIP = 14, SHIFT = 15, COUNTERS = 16, POSITIONS = 1 << 20 };

static const double least_area = 0.08, least_ratio = 3.0 / 4, most_ratio = 4.0 / 3;

struct crop_chance crop_chance_at(uint64_t seed, uint64_t iteration, int position)
{
	return (struct crop_chance){
		{seed, RNG_AUGMENT}, (iteration * POSITIONS + (uint64_t)position) * COUNTERS};
}

/* Uniform in [0, 1). */
static double share(uint32_t bits)
{
	return bits * 0x1p-32;
}

/* Uniform in 0 .. most; off by less than one in 2^32 / most. */
static int below(uint32_t bits, int most)
{
	return (int)((uint64_t)bits * ((uint64_t)most + 1) >> 32);
}

/* To nearest, halves to even, as Python rounds. */
static int rounded(double x)
{
	const int whole = (int)x;
	const double rest = x - whole;

	return whole + (rest > 0.5 || (rest == 0.5 && whole % 2));
}

static struct image_window in_the_middle(int width, int height)
{
	const double ratio = (double)width / height;
	struct image_window w = {0, 0, width, height};

	if (ratio < least_ratio)
		w.height = rounded(width / least_ratio);
	else if (ratio > most_ratio)
		w.width = rounded(height * most_ratio);
	/* One pixel in one direction cannot have the ratio. */
	w.width = w.width < 1 ? 1 : w.width;
	w.height = w.height < 1 ? 1 : w.height;
	w.x = (width - w.width) / 2;
	w.y = (height - w.height) / 2;
	return w;
}

struct image_window crop_random(struct crop_chance chance, int width, int height)
{
	const double area = (double)width * height, low = portable_log(least_ratio),
		     high = portable_log(most_ratio);

	for (unsigned i = 0; i < TRIES; i++) {
		uint32_t bits[4];
		struct image_window w;
		double part, ratio;

		rng_bits(chance.rng, chance.first + i, bits);
		part = area * (least_area + (1 - least_area) * share(bits[0]));
		ratio = portable_exp(low + (high - low) * share(bits[1]));
		w.width = rounded(sqrt(part * ratio));
		w.height = rounded(sqrt(part / ratio));
		if (w.width < 1 || w.height < 1 || w.width > width || w.height > height)
			continue;
		w.y = below(bits[2], height - w.height);
		w.x = below(bits[3], width - w.width);
		return w;
	}
	return in_the_middle(width, height);
}

bool crop_flip(struct crop_chance chance)
{
	uint32_t bits[4];

	rng_bits(chance.rng, chance.first + FLIP, bits);
	return bits[0] >> 31;
}

void crop_shift(struct crop_chance chance, int most, int *x, int *y)
{
	uint32_t bits[4];

	rng_bits(chance.rng, chance.first + SHIFT, bits);
	*y = below(bits[0], most);
	*x = below(bits[1], most);
}

void crop_resized(int width, int height, int shorter, int *new_width, int *new_height)
{
	const bool wide = width > height;
	const int longer =
		(int)((double)shorter * (wide ? width : height) / (wide ? height : width));

	*new_width = wide ? longer : shorter;
	*new_height = wide ? shorter : longer;
}

int crop_centre(int length, int size)
{
	return rounded((length - size) / 2.0);
}
