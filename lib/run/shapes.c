/*
 * Draws the shapes. A kind of shape is a function that says how deep inside it a
 * point lies, so edges come out smooth whatever the size and rotation.
 *
 * All randomness of image n comes from the counters 256 n to 256 n + 255 of one
 * stream, by purpose as below. Arithmetic is +, -, *, / and sqrt only, without
 * functions of the mathematics library that differ between systems.
 */
#include "run/shapes.h"

#include <math.h>

#include "base/rng.h"

enum {
	COUNTERS = 256,
	ORDER_COUNTER = 0,   /* ten for the order of classes in the n-th ten of images */
	SKETCH_COUNTER = 16, /* what the image shows */
	NOISE_COUNTER = 64,  /* 16 bytes each: one for every number of the image */
	NOISE_BYTES = 16,
	PIXELS = SHAPES_SIDE * SHAPES_SIDE,
	SPECKS = 4,
};

_Static_assert(NOISE_COUNTER + SHAPES_FLOATS / NOISE_BYTES == COUNTERS, "an image's counters");

static const float NOISE = 0.1f;    /* at most, where the whole range is 1 */
static const float SHADE = 0.15f;   /* how much the ground changes towards an edge, at most */
static const float CONTRAST = 0.4f; /* between shape and ground in every channel, at least */
static const float ROOT_HALF = 0.70710678f;
static const float ROOT_THREE_QUARTERS = 0.86602540f;

/*
 * How deep (u, v) lies inside, in units of the shape's radius; negative outside.
 * `variant`, 0 to 1, is whatever may vary in a kind: thickness, number of stripes.
 */
typedef float depth_fn(float u, float v, float variant);

/* fminf and fmaxf are calls, because they look for NaN; there is none here. */
static float smaller(float a, float b)
{
	return a < b ? a : b;
}

static float larger(float a, float b)
{
	return a > b ? a : b;
}

static float clamp(float x)
{
	return smaller(larger(x, 0), 1);
}

static float radius_of(float u, float v)
{
	return sqrtf(u * u + v * v);
}

static float box_of(float u, float v)
{
	return larger(fabsf(u), fabsf(v));
}

/* Depth in parallel stripes as wide as the gaps between them. */
static float stripe(float x, float variant)
{
	const float period = 0.6f + 0.25f * variant;

	return period / 4 - fabsf(x - period * floorf(x / period + 0.5f));
}

/* Textures are seen through a round window. */
static float window(float u, float v, float depth)
{
	return smaller(1.1f - radius_of(u, v), depth);
}

static float disc(float u, float v, float variant)
{
	return 0.95f - radius_of(u, v);
}

static float ring(float u, float v, float variant)
{
	const float thick = 0.14f + 0.08f * variant;

	return thick - fabsf(radius_of(u, v) - (1 - thick));
}

static float square(float u, float v, float variant)
{
	return 0.85f - box_of(u, v);
}

static float frame(float u, float v, float variant)
{
	const float thick = 0.14f + 0.08f * variant;

	return thick - fabsf(box_of(u, v) - (0.9f - thick));
}

static float triangle(float u, float v, float variant)
{
	return 0.55f - larger(v, ROOT_THREE_QUARTERS * fabsf(u) - 0.5f * v);
}

static float cross(float u, float v, float variant)
{
	const float thick = 0.2f + 0.1f * variant;
	const float x = fabsf(u), y = fabsf(v);

	return larger(smaller(thick - x, 1 - y), smaller(thick - y, 1 - x));
}

static float rows(float u, float v, float variant)
{
	return window(u, v, stripe(v, variant));
}

static float columns(float u, float v, float variant)
{
	return window(u, v, stripe(u, variant));
}

static float diagonals(float u, float v, float variant)
{
	return window(u, v, stripe((u + v) * ROOT_HALF, variant));
}

static float checkers(float u, float v, float variant)
{
	const float a = stripe(u, variant), b = stripe(v, variant);
	const float edge = smaller(fabsf(a), fabsf(b));

	return window(u, v, a * b > 0 ? edge : -edge);
}

/* `turn` is the tangent of half the greatest rotation: 1 for a quarter turn either way. */
static const struct kind {
	const char *name;
	depth_fn *depth;
	float turn;
} kinds[SHAPES_CLASSES] = {
	{"disc", disc, 1},
	{"ring", ring, 1},
	{"square", square, 1},
	{"frame", frame, 1},
	{"triangle", triangle, 1},
	{"cross", cross, 1},
	{"rows", rows, 0.1f},
	{"columns", columns, 0.1f},
	{"diagonals", diagonals, 0.1f},
	{"checkers", checkers, 1},
};

/* Random numbers one after the other, four to a counter. */
struct dice {
	struct rng rng;
	uint64_t counter;
	uint32_t words[4];
	int left;
};

/* Uniform in [0, 1). */
static float roll(struct dice *dice)
{
	if (!dice->left) {
		rng_bits(dice->rng, dice->counter++, dice->words);
		dice->left = 4;
	}
	return (float)(dice->words[--dice->left] >> 8) * 0x1p-24f;
}

static float roll_between(struct dice *dice, float least, float most)
{
	return least + (most - least) * roll(dice);
}

/* A shape in its place: a pixel's (u, v) is its offset from the centre times the matrix. */
struct figure {
	depth_fn *depth;
	float x, y, radius, variant;
	float matrix[2][2];
	float colour[SHAPES_CHANNELS];
};

static void place(struct figure *figure, struct dice *dice, float turn, float radius, float margin)
{
	const float t = roll_between(dice, -turn, turn);
	const float sine = 2 * t / (1 + t * t), cosine = (1 - t * t) / (1 + t * t);
	const float mirror = roll(dice) < 0.5f ? -1.0f : 1.0f;

	figure->radius = radius;
	figure->x = roll_between(dice, margin, SHAPES_SIDE - margin);
	figure->y = roll_between(dice, margin, SHAPES_SIDE - margin);
	figure->variant = roll(dice);
	figure->matrix[0][0] = mirror * cosine / radius;
	figure->matrix[0][1] = mirror * -sine / radius;
	figure->matrix[1][0] = sine / radius;
	figure->matrix[1][1] = cosine / radius;
}

static int pixel_within(float at)
{
	return at < 0 ? 0 : at > SHAPES_SIDE ? SHAPES_SIDE : (int)at;
}

/* Values are 0 to 1 until the image is finished. */
static void paint(const struct figure *figure, float *image)
{
	const float reach = 1.5f * figure->radius + 1;
	const int left = pixel_within(figure->x - reach),
		  right = pixel_within(figure->x + reach + 1);
	const int top = pixel_within(figure->y - reach),
		  bottom = pixel_within(figure->y + reach + 1);

	for (int row = top; row < bottom; row++) {
		for (int column = left; column < right; column++) {
			const float dx = (float)column + 0.5f - figure->x;
			const float dy = (float)row + 0.5f - figure->y;
			const float u = figure->matrix[0][0] * dx + figure->matrix[0][1] * dy;
			const float v = figure->matrix[1][0] * dx + figure->matrix[1][1] * dy;
			const float depth = figure->depth(u, v, figure->variant) * figure->radius;
			const float cover = clamp(depth + 0.5f);
			float *pixel = image + row * SHAPES_SIDE + column;
			for (int c = 0; c < SHAPES_CHANNELS && cover > 0; c++)
				pixel[c * PIXELS] +=
					cover * (figure->colour[c] - pixel[c * PIXELS]);
		}
	}
}

static void paint_ground(struct dice *dice, const float *colour, float *image)
{
	const float slope_x = roll_between(dice, -SHADE, SHADE) * 2 / SHAPES_SIDE;
	const float slope_y = roll_between(dice, -SHADE, SHADE) * 2 / SHAPES_SIDE;

	for (int c = 0; c < SHAPES_CHANNELS; c++)
		for (int i = 0; i < PIXELS; i++) {
			const float x = (float)(i % SHAPES_SIDE) - (SHAPES_SIDE - 1) * 0.5f;
			const float y = (float)(i / SHAPES_SIDE) - (SHAPES_SIDE - 1) * 0.5f;
			image[c * PIXELS + i] = colour[c] + slope_x * x + slope_y * y;
		}
}

static void paint_specks(struct dice *dice, float *image)
{
	for (int i = 0; i < SPECKS; i++) {
		struct figure speck = {.depth = i % 2 ? square : disc};
		place(&speck, dice, 1, roll_between(dice, 0.7f, 1.8f), 0);
		for (int c = 0; c < SHAPES_CHANNELS; c++)
			speck.colour[c] = roll(dice);
		paint(&speck, image);
	}
}

/* Noise, and the step from 0 .. 1 to -1 .. 1. */
static void finish(struct rng rng, uint64_t counter, float *image)
{
	static const float unit = 2.0f / 255;
	uint32_t words[4];

	for (int i = 0; i < SHAPES_FLOATS; i++) {
		if (i % NOISE_BYTES == 0)
			rng_bits(rng, counter++, words);
		const uint32_t byte = words[i % NOISE_BYTES / 4] >> 8 * (i % 4) & 255;
		const float value = image[i] + NOISE * (unit * (float)byte - 1);
		image[i] = 2 * clamp(value) - 1;
	}
}

int shapes_label(uint64_t seed, uint64_t index)
{
	const struct rng rng = {seed, RNG_STREAM};
	const uint64_t ten = index / SHAPES_CLASSES;
	uint32_t labels[SHAPES_CLASSES];

	for (uint32_t i = 0; i < SHAPES_CLASSES; i++)
		labels[i] = i;
	rng_shuffle32(rng, ten * COUNTERS + ORDER_COUNTER, labels, SHAPES_CLASSES);
	return (int)labels[index % SHAPES_CLASSES];
}

void shapes_draw(uint64_t seed, uint64_t index, float image[SHAPES_FLOATS])
{
	const struct rng rng = {seed, RNG_STREAM};
	const struct kind *kind = kinds + shapes_label(seed, index);
	struct dice dice = {.rng = rng, .counter = index * COUNTERS + SKETCH_COUNTER};
	struct figure figure = {.depth = kind->depth};
	float ground[SHAPES_CHANNELS];
	const float radius = roll_between(&dice, 8, 13);

	for (int c = 0; c < SHAPES_CHANNELS; c++) {
		/* Around the circle of 0 to 1: neither of the two is the lighter one by rule. */
		const float shift = roll_between(&dice, CONTRAST, 1 - CONTRAST);
		ground[c] = roll(&dice);
		figure.colour[c] = ground[c] + shift - (ground[c] + shift >= 1 ? 1.0f : 0.0f);
	}
	place(&figure, &dice, kind->turn, radius, 0.9f * radius);
	paint_ground(&dice, ground, image);
	paint(&figure, image);
	paint_specks(&dice, image);
	finish(rng, index * COUNTERS + NOISE_COUNTER, image);
}

const char *shapes_name(int label)
{
	return kinds[label].name;
}
