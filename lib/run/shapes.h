/*
 * A made-up classification task that needs no files: small colour images of ten
 * kinds of shapes, somewhere in the image, of any size and colour, turned,
 * among specks and noise. A shape may be lighter or darker than its ground, so
 * no single pixel says anything about the class and a linear model stays near
 * chance; a small convolutional net learns it in seconds.
 *
 * An image is a function of (seed, index): nothing is stored, and any image can
 * be had at any time, in any order and from any thread.
 */
#ifndef RETAIN_RUN_SHAPES_H
#define RETAIN_RUN_SHAPES_H

#include <stdint.h>

enum {
	SHAPES_CLASSES = 10,
	SHAPES_CHANNELS = 3,
	SHAPES_SIDE = 32,
	SHAPES_FLOATS = SHAPES_CHANNELS * SHAPES_SIDE * SHAPES_SIDE,
};

/*
 * The class of an image, 0 to SHAPES_CLASSES - 1. Of every ten images in a row
 * (0 to 9, 10 to 19, ...) each class has one. Indices go up to 2^56 - 1.
 */
int shapes_label(uint64_t seed, uint64_t index);

/*
 * Draws an image as (channels, height, width), values from -1 to 1. About 20
 * microseconds; no allocation.
 */
void shapes_draw(uint64_t seed, uint64_t index, float image[SHAPES_FLOATS]);

/* "disc", "ring", ... */
const char *shapes_name(int label);

#endif
